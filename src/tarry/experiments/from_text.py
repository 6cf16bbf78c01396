"""Policies and problems from text: what people write on a command line or in a TOML file."""

import inspect
import os
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tarry import problems
from tarry.checks import shortened
from tarry.errors import InputError, UnknownNameError
from tarry.experiments.experiment import Case, Experiment, Source, by_label
from tarry.experiments.measured_times import with_columns
from tarry.policies.from_text import built, parse_policy
from tarry.problems.problem import Problem

KEYS = ("policies", "problem", "problems", "payoff", "horizon", "runs", "seed", "record")
# Families whose settings are written otherwise than arguments: what they are, and the settings.
OF_TABLES: dict[str, tuple[Callable[..., Problem], str]] = {
    "segments": (problems.segments, "segments, weights=None"),
    "from_table": (
        problems.from_table,
        "file, features, times, max_delay, names=None, weights=None, unit=None, above='refuse'",
    ),
}
HERE = Path()  # the current folder
UNTITLED = ("family", "segments", "features", "times")  # not in the title of a problem
USUAL: dict[str, Any] = {"horizon": 150_000, "runs": 10, "seed": 0, "record": 200}


@dataclass(frozen=True)
class Family:
    """A family of problems by name: a function from a seed to a problem.

    >>> Family("bernoulli", {"arms": 2, "max_delay": 10})(3)
    <Problem bernoulli(arms=2, max_delay=10, seed=3): 2 arms, max_delay 10>
    """

    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, seed: int) -> Problem:
        """The instance of this seed."""
        maker = problems.by_name(self.name)
        settings = {name: with_problems(value, seed) for name, value in self.settings.items()}
        if "seed" in inspect.signature(maker).parameters:
            settings = {"seed": seed, **settings}
        made: Problem = built(maker, settings, f"The problem {self.name!r}")
        return made


def parse_problem(name: str, settings: Mapping[str, Any]) -> Source:
    """A family that is drawn anew for each run, or a problem that is always the same."""
    family = Family(name, dict(settings))
    first = family(0)  # so that bad settings are refused now
    return family if is_drawn({"family": name, **settings}) else first


def with_problems(value: Any, seed: int) -> Any:
    """A setting in which tables with a family have become problems: the pieces of one that changes.

    Those without a seed of their own are drawn by `seed`, each of several in another way.
    """
    if not isinstance(value, Mapping):
        return value
    if "family" in value:
        name, settings = value["family"], {k: v for k, v in value.items() if k != "family"}
        return Family(name, settings)(seed)
    return {
        key: with_problems(each, seed + (n << 32)) for n, (key, each) in enumerate(value.items())
    }


def is_drawn(value: Any) -> bool:
    """Whether the problem of a table, or one inside it, depends on a seed that it does not say."""
    if not isinstance(value, Mapping):
        return False
    if "family" in value and "seed" not in value:
        maker = problems.by_name(value["family"])
        if "seed" in inspect.signature(maker).parameters:
            return True
    return any(is_drawn(each) for each in value.values())


def problem_title(name: str, settings: Mapping[str, Any]) -> str:
    """How a problem from text is called in results: "bernoulli(arms=30)"."""
    told = ", ".join(f"{key}={setting_title(value)}" for key, value in settings.items())
    return f"{name}({told})" if told else name


def setting_title(value: Any) -> str:
    """A setting in a title; of problems inside, only the families."""
    if not isinstance(value, Mapping):
        return repr(value)
    if "family" in value:
        return str(value["family"])
    inside = ", ".join(f"{key}: {setting_title(each)}" for key, each in value.items())
    return f"{{{inside}}}"


def experiment_from(table: Mapping[str, Any], folder: Path = HERE) -> Experiment:
    """The experiment that a table of plain values describes.

    policies is a list of texts; problem a table with the family's name and its settings, and
    problems a table of such by title; payoff, horizon, runs, seed and record as in `compare`.
    Files that it names are looked for in `folder`.
    """
    for key in table:
        if key not in KEYS:
            raise UnknownNameError.of("setting of a comparison", key, KEYS)
    for key in ("policies", "payoff"):
        if key not in table:
            raise InputError(f"The comparison does not say {key}; it needs policies and payoff.")
    texts = table["policies"]
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise InputError(f"policies is {texts!r}; give a list of texts such as 'BDSE'.")
    told = {**USUAL, **table}
    cases = [
        Case(title, source, told["horizon"], told["record"])
        for title, source in problems_from(table, folder).items()
    ]
    chosen = by_label([parse_policy(text) for text in texts])
    return Experiment(chosen, cases, told["payoff"], told["runs"], told["seed"])


def problems_from(table: Mapping[str, Any], folder: Path = HERE) -> dict[str, Source]:
    """The problems of a table of plain values, by title."""
    tables = table.get("problems", {})
    if not isinstance(tables, Mapping):
        raise InputError(f"problems is {tables!r}; give a table of problems by title.")
    found = {title: problem_from(each, folder) for title, each in tables.items()}
    if "problem" in table or not found:
        single = table.get("problem", {"family": "truncated_normal"})
        source = problem_from(single, folder)
        settings = {key: value for key, value in single.items() if key not in UNTITLED}
        found = {problem_title(single["family"], settings): source, **found}
    return found


def problem_from(table: Any, folder: Path = HERE) -> Source:
    """A problem from a table such as {family = "bernoulli", arms = 30}."""
    if not isinstance(table, Mapping) or not isinstance(table.get("family"), str):
        raise InputError(f"The problem is {table!r}; give a table with its family and settings.")
    settings = {k: v for k, v in table.items() if k != "family"}
    if table["family"] == "segments":
        return segments_from(settings, folder)
    if table["family"] == "from_table":
        given = with_columns(settings, folder) if "file" in settings else settings
        measured: Problem = built(problems.from_table, given, "The problem 'from_table'")
        return measured
    if table["family"] not in problems.MAKERS:
        known = (*problems.MAKERS, *OF_TABLES)
        raise UnknownNameError.of("problem family", table["family"], known)
    return parse_problem(table["family"], settings)


@dataclass(frozen=True)
class Segments:
    """A problem per segment of requests, those that are drawn each with a seed of its own."""

    parts: Mapping[str, Source]
    weights: Any = None

    def __call__(self, seed: int) -> Problem:
        """The instance of this seed."""
        count = len(self.parts)
        made = {
            name: part if isinstance(part, Problem) else part(count * seed + place)
            for place, (name, part) in enumerate(self.parts.items())
        }
        return problems.segments(made, self.weights)


def segments_from(settings: Mapping[str, Any], folder: Path) -> Source:
    """Segments from a table {weights = [...], segments = {phone = {family = ...}, ...}}."""
    for name in settings:
        if name not in ("segments", "weights"):
            raise UnknownNameError.of("setting of segments", name, ("segments", "weights"))
    parts = settings.get("segments")
    if not isinstance(parts, Mapping) or not parts:
        raise InputError(
            f"segments is {shortened(parts)}; give segments, a table of problems, and weights if "
            "they are not equally often."
        )
    made_of = {name: problem_from(part, folder) for name, part in parts.items()}
    source = Segments(made_of, settings.get("weights"))
    made = source(0)  # so that bad settings are refused now
    return made if all(isinstance(p, Problem) for p in source.parts.values()) else source


def read_toml(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The table in a TOML file."""
    try:
        with Path(path).open("rb") as file:
            return tomllib.load(file)
    except OSError as error:
        raise InputError(f"{str(path)!r} cannot be read: {error.strerror or error}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{str(path)!r} is not a TOML file: {error}.") from error
