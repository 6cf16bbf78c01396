"""`compare`: pairing, seeds, workers, tables, and what is refused."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import scipy.stats

import tarry
from tarry.errors import InputError, PayoffError, PolicyError
from tarry.experiments import progress_bar
from tarry.experiments.experiment import seeds_of_run

from .small import coins, compare_small


def test_result_does_not_depend_on_workers() -> None:
    """One worker, two workers and an executor of the user give the same bits."""
    one = compare_small(workers=1)
    assert one == compare_small(workers=2)
    with ThreadPoolExecutor(3) as executor:
        assert one == compare_small(executor=executor)


def test_runs_are_those_of_play_with_the_seeds_of_the_run() -> None:
    """Every curve is what `play` gives for the run's instance and seed."""
    result = compare_small(seed=5)
    for run in range(3):
        seeds = seeds_of_run(5, run)
        alone = tarry.play(
            tarry.SE(), coins(seeds.problem), payoff="cost", horizon=600, seed=seeds.play, record=20
        )
        assert np.array_equal(result.regret("SE")[run], alone.regret)
        assert np.array_equal(result.steps(), alone.steps)


def test_runs_are_paired() -> None:
    """In a run two policies with the same choices have the same regret."""
    result = compare_small(policies={"one": tarry.Uniform(), "two": tarry.Uniform()})
    assert np.array_equal(result.regret("one"), result.regret("two"))
    assert len(set(result.regret("one")[:, -1])) == 3


def test_more_runs_keep_the_first_ones() -> None:
    """Run r is the same whatever the number of runs is."""
    few, many = compare_small(runs=2), compare_small(runs=4)
    assert np.array_equal(few.regret("SE"), many.regret("SE")[:2])


def test_instances_are_redrawn_or_fixed() -> None:
    """A function is asked for a new world in every run, a problem stays the same."""
    redrawn = compare_small()
    fixed = compare_small(problems=coins(1))
    assert len(set(redrawn.records[redrawn.problems[0]].worlds)) == 3
    assert len(set(fixed.records[fixed.problems[0]].worlds)) == 1


def test_problems_are_named_by_how_they_were_made() -> None:
    """A single problem is called by its label, a redrawn one without the seed."""
    assert compare_small().problems == ("bernoulli(arms=3, max_delay=40)",)
    assert compare_small(problems=coins(1)).problems == ("bernoulli(arms=3, max_delay=40, seed=1)",)
    both = compare_small(problems={"redrawn": coins, "fixed": coins(1)})
    assert both.problems == ("redrawn", "fixed")


def test_final_table_has_mean_std_and_interval() -> None:
    """The table holds the mean, the standard deviation with n - 1, and Student's interval."""
    result = compare_small(runs=9)
    row = result.final().row("Uniform")
    finals = result.regret("Uniform")[:, -1]
    low, high = scipy.stats.t.interval(0.95, 8, finals.mean(), finals.std(ddof=1) / 3)
    assert row.mean == pytest.approx(finals.mean())
    assert row.std == pytest.approx(finals.std(ddof=1))
    assert (row.low, row.high) == pytest.approx((low, high))
    assert row.runs == 9


def test_final_table_prints() -> None:
    """The table prints with one line per policy, and with the problem if there are several."""
    text = str(compare_small().final())
    assert text.splitlines()[0].split() == ["policy", "mean", "std", "95", "%", "interval", "runs"]
    assert [line.split()[0] for line in text.splitlines()[1:]] == ["SE", "Uniform"]
    both = compare_small(problems={"a": coins, "b": coins(1)})
    assert len(str(both.final()).splitlines()) == 5
    assert len(both.final("b")) == 2


def test_final_table_shows_quantiles_and_the_worst_run() -> None:
    """Where quantiles are asked for they stand before the number of runs, the worst run last."""
    result = compare_small(runs=5)
    table = result.final(quantiles=[0.5, 0.99])
    finals = result.regret("Uniform")[:, -1]
    row = table.row("Uniform")
    assert row.quantiles == pytest.approx(np.quantile(finals, [0.5, 0.99]))
    assert row.worst == finals.max()
    assert str(table).splitlines()[0].split("interval")[1].split() == [
        "50",
        "%",
        "99",
        "%",
        "worst",
        "runs",
    ]
    with pytest.raises(InputError, match="A quantile is 99"):
        result.final(quantiles=[99])


def test_one_run_has_no_interval() -> None:
    """A single run gives a mean, and a dash in place of a spread."""
    line = str(compare_small(runs=1).final()).splitlines()[1]
    assert line.split()[2:] == ["-", "-", "1"]


def test_memory_does_not_grow_with_the_horizon() -> None:
    """As many steps are kept as were asked for, or all if there are fewer."""
    assert len(compare_small(horizon=5000).steps()) == 20
    assert len(compare_small(horizon=7).steps()) == 7


def test_rule_that_gives_up_has_no_regret_afterwards() -> None:
    """Runs that ended before the horizon are not counted in the table."""
    result = compare_small(
        policies=[tarry.CSE(threshold=0.001), tarry.Uniform()],
        problems=tarry.problems.deterministic([3, 9], max_delay=10),
        horizon=3000,
    )
    assert result.final().row(result.policies[0]).runs == 0
    assert result.final().row("Uniform").runs == 3
    assert np.isnan(result.regret(result.policies[0])[:, -1]).all()


def test_restarts_are_counted() -> None:
    """The number of restarts at the horizon is that of a run alone."""
    result = compare_small(policies=[tarry.BDSE()], problems=coins(3), horizon=4000, runs=1)
    seeds = seeds_of_run(0, 0)
    alone = tarry.play(tarry.BDSE(), coins(3), payoff="cost", horizon=4000, seed=seeds.play)
    assert result.restarts("BDSE").tolist() == [len(alone.restarts)]
    assert len(alone.restarts) > 0


def test_progress_is_told() -> None:
    """A function gets the number of finished runs after each of them."""
    told: list[tuple[int, int]] = []
    compare_small(progress=lambda done, total: told.append((done, total)))
    assert told == [(done, 6) for done in range(1, 7)]


def test_bar_is_shown_on_request(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a terminal lines tell the progress, unless nobody wants them."""
    monkeypatch.setattr(progress_bar, "QUIET_SECONDS", 0.0)
    quiet = compare_small(progress=False)
    assert capsys.readouterr().err == ""
    assert compare_small(progress=None) == quiet
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition(" %")[0] for line in lines] == [
        f"runs: {share}" for share in (17, 33, 50, 67, 83, 100)
    ]


BAD: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"runs": 0}, InputError, "number of runs is 0"),
    ({"horizon": 0}, InputError, "horizon is 0"),
    ({"seed": -1}, InputError, "seed is -1"),
    ({"record": 0}, InputError, "recorded steps is 0"),
    ({"workers": 0}, InputError, "number of workers is 0"),
    ({"payoff": "fun"}, PayoffError, "'cost' or 'reward'"),
    ({"payoff": "reward", "policies": [tarry.BDSE()]}, PayoffError, "BHSE is the one"),
    ({"policies": []}, InputError, "at least one policy"),
    ({"policies": "BDSE"}, InputError, "give a list of policies"),
    ({"policies": [tarry.SE]}, PolicyError, "SE is a class"),
    ({"policies": [tarry.SE(), tarry.SE()]}, InputError, "SE is given twice"),
    ({"problems": 5}, InputError, "give a Problem, or a function"),
    ({"problems": lambda seed: None}, InputError, "give a Problem, or a function"),
    (
        {"problems": tarry.problems.replay(np.zeros((5, 2), int), max_delay=3)},
        InputError,
        "replays 5 rows",
    ),
]


@pytest.mark.parametrize(("changes", "kind", "part"), BAD, ids=[part for *_, part in BAD])
def test_bad_input_is_refused(changes: dict[str, Any], kind: type[Exception], part: str) -> None:
    """What is not allowed is refused in one sentence that names it."""
    with pytest.raises(kind, match=part) as caught:
        compare_small(**changes)
    assert "\n" not in str(caught.value)


def test_unknown_names_are_answered_with_near_ones() -> None:
    """Asking a result for a policy or problem that it lacks offers those it has."""
    result = compare_small(problems={"a": coins, "b": coins(1)})
    with pytest.raises(InputError, match="did you mean Uniform"):
        result.regret("Uniforms", "a")
    with pytest.raises(InputError, match="known are a, b"):
        result.regret("SE", "xyz")
    with pytest.raises(InputError, match="There are 2 problems"):
        result.regret("SE")
    with pytest.raises(InputError, match="no row"):
        result.final().row("Nobody", "a")


def test_result_prints_in_one_line() -> None:
    """The repr says how much there is."""
    assert repr(compare_small()) == "<Result: 2 policies, 1 problems, 3 runs, cost>"
    assert compare_small() != compare_small(seed=1)
    assert (compare_small() == "something else") is False


def test_a_family_is_a_source_of_problems() -> None:
    """A family with more settings than the seed may be given as it is."""
    result = tarry.compare(
        [tarry.Uniform()],
        problems=tarry.problems.dwell,
        payoff="reward",
        horizon=50,
        runs=2,
        progress=False,
    )
    assert len(result.final().rows) == 1


def test_a_world_is_drawn_once_for_a_run() -> None:
    """Names, descriptions, compiling and the first run share what may take long to draw."""
    asked: list[int] = []

    def family(seed: int) -> tarry.problems.Problem:
        asked.append(seed)
        return tarry.problems.bernoulli(2, 10, seed)

    told: dict[str, Any] = {"payoff": "cost", "horizon": 9, "runs": 3, "progress": False}
    tarry.compare([tarry.SE(), tarry.Uniform()], problems=family, **told)
    assert len(asked) == len(set(asked)) == 3
