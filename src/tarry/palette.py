"""Which policy has which colour, in all figures the same."""

from collections.abc import Iterable, Iterator
from colorsys import hls_to_rgb
from itertools import chain, count
from typing import Any

INK = "#1b1b1b"  # text and axes; the report turns it into the colour of its own text
BLUE, SKY, GREEN = "#0072B2", "#56B4E9", "#009E73"  # Okabe and Ito
ORANGE, RED, PURPLE = "#E69F00", "#D55E00", "#CC79A7"
GREY, BROWN, VIOLET = "#7f7f7f", "#8c6d31", "#6a3fb5"  # three more, for crowded figures
PALETTE = (BLUE, RED, GREEN, PURPLE, ORANGE, SKY, INK, GREY, BROWN, VIOLET)
DARK = {  # the same hues for a dark ground
    BLUE: "#4fa9e0",
    RED: "#ff8a4c",
    GREEN: "#2fc79b",
    PURPLE: "#e39bc5",
    ORANGE: "#f2b134",
    SKY: "#9bd7f7",
    GREY: "#ababab",
    BROWN: "#c9a75c",
    VIOLET: "#b79cf2",
}
LINE_STYLES: tuple[Any, ...] = ("-", (0, (4, 1.5)), (0, (1, 1)), (0, (5, 1, 1, 1)), (0, (8, 2)))

FIXED = {
    "BDSE": BLUE,
    "BHSE": BLUE,
    "BDSE(keep_history=True)": SKY,
    "BHSE(keep_history=True)": SKY,
    "BDSE(bounds='tight')": GREY,
    "BHSE(bounds='tight')": GREY,
    "OPSE": RED,
    "SEPK": PURPLE,
    "CensoredUCB": ORANGE,
    "DelayedThompson": GREEN,
    "SurvivalThompson": INK,
    "SurvivalUCB": BROWN,
    "IncrementUCB": VIOLET,
}


def colours(policies: Iterable[str]) -> dict[str, str]:
    """A colour for each policy: its own where it has one, else one that is still free."""
    names = list(dict.fromkeys(policies))
    taken = {FIXED[name] for name in names if name in FIXED}
    free = (colour for colour in chain(PALETTE, more_colours()) if colour not in taken)
    return {name: FIXED[name] if name in FIXED else next(free) for name in names}


def more_colours() -> Iterator[str]:
    """Colours without end for figures with more policies than `PALETTE` has, all different.

    The hue goes on by the golden ratio, so that no two that follow each other are alike.
    """
    for number in count():
        lightness = (0.38, 0.6)[number % 2]
        red, green, blue = hls_to_rgb(number * 0.618034 % 1.0, lightness, 0.75)
        yield f"#{round(255 * red):02x}{round(255 * green):02x}{round(255 * blue):02x}"
