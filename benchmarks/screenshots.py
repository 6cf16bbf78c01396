"""Pictures of the dashboard in each of its states, to be looked at.

python -m benchmarks.screenshots FOLDER    every state, phone and wide screen, light and dark
python -m benchmarks.screenshots --docs    the two of the documentation
"""

import argparse
import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright
from rich.progress import track
from tests.service.browser import SETTINGS, chromium
from tests.service.canned import Canned
from tests.service.states import MAKERS, state

FIGURES = Path(__file__).parents[1] / "docs" / "figures"
SIZES = {390: 844, 1280: 800}
SCHEMES = ("light", "dark")
SCREENS = ("none", "key", "gone", "all", "stale")


@contextmanager
def page_of(name: str, width: int, height: int, scheme: str) -> Iterator[Page]:
    """The dashboard in this state."""
    server = Canned()
    if name in MAKERS:
        server.views = {state(name)["name"]: state(name)}
    elif name == "all":
        server.views = {each: state(each) | {"name": each} for each in ("early", "troubled")}
    elif name != "none":
        server.views = {"settled": state("settled")}
    server.key = "key" if name == "key" else ""
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium(), args=SETTINGS)
        page = browser.new_page(
            viewport={"width": width, "height": height},
            color_scheme=scheme,
            timezone_id="UTC",
            locale="en-GB",
            reduced_motion="reduce",
        )
        if name == "gone":
            page.route("**/v1/**", lambda route: route.abort())
        page.goto(server.address)
        page.wait_for_timeout(700)
        if name == "stale":
            server.close()
            page.wait_for_selector(".notice:not([hidden])")
        yield page
        browser.close()
    if name != "stale":
        server.close()


def main(arguments: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folder", nargs="?", default="screenshots")
    parser.add_argument("--docs", action="store_true")
    told = parser.parse_args(arguments)
    if told.docs:
        for scheme in SCHEMES:
            with page_of("settled", 1120, 800, scheme) as page:
                picture = Image.open(io.BytesIO(page.screenshot(full_page=True)))
            few = picture.convert("RGB").quantize(
                256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE
            )
            few.save(FIGURES / f"dashboard-{scheme}.png", optimize=True)
        return
    folder = Path(told.folder)
    folder.mkdir(parents=True, exist_ok=True)
    wanted = [(n, w, s) for n in (*MAKERS, *SCREENS) for w in SIZES for s in SCHEMES]
    for name, width, scheme in track(wanted, description="screens"):
        with page_of(name, width, SIZES[width], scheme) as page:
            page.screenshot(path=folder / f"{name}-{width}-{scheme}.png", full_page=True)


if __name__ == "__main__":
    main()
