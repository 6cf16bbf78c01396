"""Figures: files in every format, axes of the caller, the same bytes each time."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

import tarry
from tarry.errors import InputError, ResultsError
from tarry.experiments import figures
from tarry.palette import FIXED, PALETTE, colours

from .small import coins, compare_small


@pytest.fixture(scope="module")
def result() -> tarry.Result:
    """Two policies on two problems."""
    return compare_small(problems={"redrawn": coins, "fixed": coins(1)})


@pytest.mark.parametrize(
    ("ending", "head"), [("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF")]
)
def test_plot_writes_a_file(result: tarry.Result, tmp_path: Path, ending: str, head: bytes) -> None:
    """The ending of the path decides the format, and folders are made."""
    path = tmp_path / "new" / f"regret.{ending}"
    result.plot(path)
    assert path.read_bytes().startswith(head)
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_same_figure_has_the_same_bytes(result: tarry.Result, tmp_path: Path) -> None:
    """Drawing twice gives equal files."""
    for name in ("a.svg", "b.svg"):
        result.plot(tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_plot_draws_into_given_axes(result: tarry.Result) -> None:
    """Axes of the caller get one line for each problem and policy, and are returned."""
    axes = Figure().subplots()
    assert result.plot(axes=axes) is axes
    assert len(axes.lines) == 4
    assert [line.get_label() for line in axes.lines] == ["SE", "Uniform", "SE", "Uniform"]
    assert len(axes.collections) == 4  # bands
    assert {text.get_text() for text in axes.get_legend().get_texts()} >= {"SE", "fixed"}  # type: ignore[union-attr]  # it has a legend


def test_lines_show_the_numbers(result: tarry.Result) -> None:
    """A line is the mean curve, policies differ by colour and problems by style."""
    axes = result.plot(axes=Figure().subplots(), band="none")
    first = axes.lines[0]
    assert first.get_ydata().tolist() == result.curve("SE", "redrawn").mean.tolist()  # type: ignore[union-attr]  # an array
    assert axes.lines[0].get_color() == axes.lines[2].get_color()
    assert axes.lines[0].get_color() != axes.lines[1].get_color()
    assert axes.lines[0].get_linestyle() == axes.lines[1].get_linestyle()
    assert axes.lines[0].get_linestyle() != axes.lines[2].get_linestyle()
    assert not axes.collections


def test_part_of_a_result_can_be_drawn(result: tarry.Result) -> None:
    """Problems and policies can be chosen; a logarithmic axis and the interval are options."""
    axes = result.plot(problems=["fixed"], policies=["SE"], log=True, band="interval")
    assert len(axes.lines) == 1
    assert axes.get_yscale() == "log"


def test_quantiles_and_the_worst_run_can_be_drawn(result: tarry.Result) -> None:
    """Around the mean the middle 90 % of the runs, and a thin line for the worst of them."""
    axes = result.plot(problems=["fixed"], policies=["Uniform"], band="quantiles")
    _, worst = axes.lines
    regret = result.regret("Uniform", "fixed")
    assert np.allclose(np.asarray(worst.get_ydata()), regret.max(axis=0))
    band = axes.collections[0].get_paths()[0].get_extents()
    assert band.y1 == pytest.approx(np.quantile(regret[:, -1], 0.95))


def test_legend_stands_outside_of_the_data(result: tarry.Result) -> None:
    """The legend of our own figures is below the axes."""
    axes = result.plot()
    figure = figures.figure_of(axes)
    figure.draw_without_rendering()
    legend = figure.legends[0].get_window_extent()
    assert legend.y1 <= axes.get_window_extent().y0


def test_bad_wishes_are_refused(result: tarry.Result, tmp_path: Path) -> None:
    """An unknown band, ending or place is answered in one sentence."""
    with pytest.raises(InputError, match="band is 'wide'"):
        result.plot(band="wide")
    with pytest.raises(InputError, match=r"cannot be written as 'regret\.xyz'"):
        result.plot(tmp_path / "regret.xyz")
    (tmp_path / "file").write_text("")
    with pytest.raises(ResultsError, match="cannot be written"):
        result.plot(tmp_path / "file" / "regret.svg")


def test_nothing_is_shown_and_no_state_is_left(result: tarry.Result) -> None:
    """Drawing uses neither pyplot nor a display, and leaves the caller's style alone."""
    code = (
        "import sys, matplotlib, tarry.drawing as f\n"
        "from matplotlib.figure import Figure\n"
        "before = dict(matplotlib.rcParams)\n"
        "f.rendered(Figure(), 'svg')\n"
        "print('matplotlib.pyplot' in sys.modules, dict(matplotlib.rcParams) == before)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]


def test_policies_keep_their_colours() -> None:
    """Known policies have one colour in all figures; others get one that is free."""
    chosen = colours(["Mine", "BDSE", "OPSE", "Yours"])
    assert chosen["BDSE"] == FIXED["BDSE"]
    assert len(set(chosen.values())) == 4
    assert set(chosen.values()) <= set(PALETTE)


def test_no_two_policies_share_a_colour() -> None:
    """Six policies of a user among known ones, in any order, and thirty, all differ."""
    known = ["BDSE", "OPSE", "SEPK", "DelayedThompson", "SurvivalThompson"]
    mine = [f"Mine{number}" for number in range(6)]
    for names in ([*known, *mine], [*mine[:3], *known, *mine[3:]], [str(n) for n in range(30)]):
        assert len(set(colours(names).values())) == len(names)


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0"), (950, "950"), (2500, "2.5k"), (3e6, "3M"), (2e9, "2G")]
)
def test_ticks_are_short(value: float, text: str) -> None:
    """Thousands and millions are abbreviated."""
    assert figures.short_number(value) == text


def test_dollars_in_names_are_no_formulas(tmp_path: Path) -> None:
    """A name is drawn as it is, also where it would be a formula, or a broken one."""
    policies = {"$5 off": tarry.SE(), "$x^$": tarry.Uniform()}
    compare_small(policies=policies).plot(tmp_path / "regret.svg")
    log = tarry.Log.of(["$x^$", "$5 and $6"], [1, 2], finished=True, max_delay=3)
    log.plot(tmp_path / "curves.svg")
