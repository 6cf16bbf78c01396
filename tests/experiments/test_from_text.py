"""Policies, problems and comparisons from text."""

import pickle
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

import tarry
from tarry.errors import InputError, TarryError, UnknownNameError
from tarry.experiments.from_text import (
    Family,
    experiment_from,
    parse_problem,
    problem_from,
    read_toml,
)
from tarry.policies.from_text import parse_policy

TOML = """
policies = ["BDSE", "BDSE(keep_history=True)", "OPSE"]
payoff = "cost"
horizon = 1000
runs = 2

[problems.coins]
family = "bernoulli"
arms = 3
max_delay = 20

[problems.fixed]
family = "hard_cost"
best_delay = 5
max_delay = 50
"""


@pytest.mark.parametrize("name", sorted(tarry.POLICIES))
def test_every_policy_can_be_written(name: str) -> None:
    """Every policy is found by its name, in any case, with its settings."""
    needed = "(threshold=0.5)" if name in ("CSE", "RSE") else ""
    assert type(parse_policy(f"{name.lower()}{needed}")) is tarry.POLICIES[name]


def test_policy_text_is_what_the_policy_prints() -> None:
    """A policy with settings is read as it is printed."""
    assert parse_policy("BDSE(keep_history=True)") == tarry.BDSE(keep_history=True)
    assert parse_policy(repr(tarry.OPSE(log_term="KT"))) == tarry.OPSE(log_term="KT")


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("BDES", "did you mean BDSE"),
        ("BDSE(kept=True)", "no setting of BDSE named 'kept'"),
        ("BDSE(True)", "is not a policy"),
        ("BDSE(keep_history=open('x'))", "is not a policy"),
        ("os.system('true')", "is not a policy"),
        ("BDSE(", "is not a policy"),
        ("", "is not a policy"),
        ("CSE", "cannot be made"),
        ("OPSE(log_term='TT')", "log_term"),
    ],
)
def test_bad_policies_are_refused(text: str, part: str) -> None:
    """Text that is no policy is refused in one sentence, and nothing in it is run."""
    with pytest.raises(InputError, match=part.replace("(", r"\(")):
        parse_policy(text)


def test_families_are_redrawn_and_instances_are_not() -> None:
    """A family is a function of the seed that can be sent away; an instance is a problem."""
    family = parse_problem("bernoulli", {"arms": 3, "max_delay": 20})
    assert isinstance(family, Family)
    assert pickle.loads(pickle.dumps(family))(5) == tarry.problems.bernoulli(3, 20, seed=5)  # noqa: S301  # our own bytes
    fixed = parse_problem("hard_cost", {"best_delay": 5, "max_delay": 50})
    assert fixed == tarry.problems.hard_cost(5, 50)
    seeded = parse_problem("bernoulli", {"arms": 3, "max_delay": 20, "seed": 5})
    assert seeded == tarry.problems.bernoulli(3, 20, seed=5)


def test_toml_file_is_a_comparison(tmp_path: Path) -> None:
    """A file names policies, problems and settings; the rest has sensible defaults."""
    (tmp_path / "e.toml").write_text(TOML)
    experiment = experiment_from(read_toml(tmp_path / "e.toml"))
    assert experiment.labels == ("BDSE", "BDSE(keep_history=True)", "OPSE")
    assert [case.name for case in experiment.cases] == ["coins", "fixed"]
    assert [case.horizon for case in experiment.cases] == [1000, 1000]
    assert (experiment.runs, experiment.seed, experiment.payoff) == (2, 0, "cost")
    usual = experiment_from({"policies": ["OPSE"], "payoff": "reward"})
    assert [case.name for case in usual.cases] == ["truncated_normal"]
    assert (usual.runs, usual.cases[0].horizon) == (10, 150_000)


def test_worlds_on_the_page_are_worlds() -> None:
    """What the documentation says of worlds that change, and of segments, can be played."""
    page = (Path(__file__).parents[2] / "docs" / "experiments.md").read_text()
    blocks = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    tables = [each for text in blocks for each in tomllib.loads(text)["problems"].items()]
    made = {title: problem_from(table) for title, table in tables if title != "solvers"}
    assert {"coins", "visitors", "the best arm hangs", "swap", "drift"} <= set(made)
    swap: Any = made["swap"]
    assert swap.means_at([60_000]).tolist() != swap.means_at([59_999]).tolist()


BAD: list[tuple[dict[str, Any], str]] = [
    ({"horizn": 5}, "did you mean horizon"),
    ({"policies": ["BDSS"]}, "did you mean BDSE"),
    ({"policies": "BDSE"}, "give a list of texts"),
    ({"payoff": "fun"}, "must be 'cost' or 'reward'"),
    ({"horizon": "long"}, "horizon is 'long'"),
    ({"problem": {"family": "bernouly"}}, "did you mean bernoulli"),
    ({"problem": {"family": "bernoulli", "arm": 3}}, "did you mean arms"),
    ({"problem": {"family": "bernoulli", "arms": -3}}, "number of arms is -3"),
    ({"problem": "bernoulli"}, "give a table with its family"),
    ({"problems": 7}, "give a table of problems"),
]


@pytest.mark.parametrize(("change", "part"), BAD, ids=[part for _, part in BAD])
def test_bad_comparisons_are_refused(change: dict[str, Any], part: str) -> None:
    """Unknown keys, policies and problems are answered with what comes near."""
    with pytest.raises(TarryError, match=part):
        experiment_from({"policies": ["BDSE"], "payoff": "cost", **change})


def test_comparison_needs_policies_and_payoff() -> None:
    """What has no sensible default must be said."""
    with pytest.raises(InputError, match="does not say policies"):
        experiment_from({"payoff": "cost"})
    with pytest.raises(InputError, match="does not say payoff"):
        experiment_from({"policies": ["BDSE"]})


def test_unreadable_toml_is_refused(tmp_path: Path) -> None:
    """A missing file, and one that is not TOML, are named in one sentence."""
    with pytest.raises(InputError, match=r"nowhere\.toml' cannot be read"):
        read_toml(tmp_path / "nowhere.toml")
    (tmp_path / "bad.toml").write_text("policies = [")
    with pytest.raises(InputError, match="is not a TOML file"):
        read_toml(tmp_path / "bad.toml")
    with pytest.raises(UnknownNameError, match="did you mean bernoulli"):
        parse_problem("bernouli", {})
