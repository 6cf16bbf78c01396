"""Rules of a user's own that go wrong in an agent: it is told as in simulation, and undone."""

import shutil
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import tarry
from tarry.arrays import FloatArray, SharedState
from tarry.errors import LiveError, PolicyError
from tarry.live import Agent, ManualClock
from tarry.policies import STOP, Setting

PROBLEM = tarry.problems.deterministic([1, 2], max_delay=2)


def opened(policy: Any, path: Path | None = None) -> Agent:
    """An agent with two arms and D = 2 s."""
    settings: dict[str, Any] = {"payoff": "cost", "max_delay": 2.0, "seed": 1, "path": path}
    settings |= {"clock": ManualClock(), "durability": "normal", "in_flight": "keep"}
    return Agent(policy, arms=["a", "b"], **settings)


class Third(NamedTuple):
    """Counts how often it is asked, in an array, and does something wrong at its third turn."""

    wrong: str
    turns: SharedState[FloatArray]

    def select(self, ledger: Any, plays: Any, row: int, now: int, rng: Any) -> int:
        """One arm and the other."""
        self.turns[0] += 1
        if self.turns[0] == 3 and self.wrong == "select":
            return int(self.turns[7])  # select
        if self.turns[0] % 3 == 0 and self.wrong == "stop":
            return STOP
        return int(self.turns[0]) % 2

    def returned(self, plays: Any, row: int, now: int, rng: Any) -> None:
        """Nothing, or something wrong."""
        if self.wrong == "returned":
            self.turns[-9] = 1  # returned


class Wrong:
    """Starts the rule with one of its mistakes."""

    def __init__(self, wrong: str) -> None:
        self.wrong = wrong

    def start(self, setting: Setting) -> Third:
        """The rule."""
        return Third(self.wrong, np.zeros(1))


def place(mark: str) -> str:
    """The line of this file with this mark, as it is told."""
    lines = Path(__file__).read_text().splitlines()
    line = next(n for n, text in enumerate(lines, 1) if text.endswith(f"  # {mark}"))
    return f"{__file__}, line {line}: {lines[line - 1].strip()}"


def test_going_outside_an_array_is_the_same_error_live() -> None:
    """An ask fails with the sentence of the simulator, line and all, and changes nothing."""
    policy: Any = Wrong("select")
    agent = opened(policy)
    for _ in range(2):
        agent.tell(agent.ask(), 0.5)
    before = agent.counts[:5]
    with pytest.raises(PolicyError) as simulated:
        tarry.play(policy, PROBLEM, payoff="cost", horizon=9, mode="interpreted")
    for _ in range(2):
        with pytest.raises(PolicyError) as caught:
            agent.ask()
        assert str(caught.value) == str(simulated.value)
        assert f"({place('select')})" in str(caught.value)
        assert agent.counts[:5] == before
        assert agent._core.open.rule.turns.tolist() == [2.0]


class Product(NamedTuple):
    """Reckons with the arm of its play."""

    crowding: int
    products: SharedState[FloatArray]

    def select(self, ledger: Any, plays: Any, row: int, now: int, rng: Any) -> int:
        """The second arm."""
        return 1

    def returned(self, plays: Any, row: int, now: int, rng: Any) -> None:
        """A product beyond 32 bits."""
        self.products[0] = plays.arm[row] * 46341 * 46341
        self.products[1] = plays.ahead[row] * 46341 * 46341


class Producing:
    """Starts the rule."""

    def start(self, setting: Setting) -> Product:
        """The rule."""
        return Product(1, np.zeros(2))


def test_whole_numbers_are_the_same_live() -> None:
    """Also where their products do not fit into 32 bits, and after arms have changed."""
    agent = opened(Producing())
    agent.ask()
    agent.tell(agent.ask(), 0.5)
    assert agent._core.open.rule.products.tolist() == [46341.0**2] * 2
    agent.add_arm("c")
    agent.ask()
    table = agent._core.open.plays
    assert {np.asarray(column).dtype for column in (table.arm, table.ahead)} == {np.dtype(np.int64)}


class Astray(NamedTuple):
    """Does something wrong at its third turn."""

    wrong: str
    phase: SharedState[FloatArray]

    def select(self, ledger: Any, plays: Any, row: int, now: int, rng: Any) -> Any:
        """The second arm."""
        third = plays.number[row] == 3
        self.phase[0] = 1
        self.phase[1] += {"back": -1, "many": 65}.get(self.wrong, 1) if third else 1
        return 1.0 if third and self.wrong == "float" else 1


class AstrayPolicy(Wrong):
    """Starts the rule with one of its mistakes."""

    def start(self, setting: Setting) -> Any:
        """The rule."""
        return Astray(self.wrong, np.zeros(2, np.int64))


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ("back", "counts more than 64 failed phases at play 3, or fewer than before"),
        ("many", "counts more than 64 failed phases at play 3, or fewer than before"),
        ("float", r"chose 1\.0 among 2 arms; `select` returns the number of an arm, an int"),
    ],
)
def test_what_simulation_refuses_is_refused_live(wrong: str, words: str) -> None:
    """Failed phases counted back, or many at once, and a fraction for an arm; nothing changes."""
    agent = opened(AstrayPolicy(wrong))
    for _ in range(2):
        agent.tell(agent.ask(), 0.5)
    before, phase = agent.counts[:5], agent._core.open.ledger.phase[0]
    for _ in range(2):
        with pytest.raises(PolicyError, match=words):
            agent.ask()
        assert agent.counts[:5] == before
        assert agent._core.open.rule.phase.tolist() == [1, 2]
        assert agent._core.open.ledger.phase[0] == phase


class Fixed(NamedTuple):
    """Has an array that cannot be written to, and writes to it, or stops, at its third turn."""

    wrong: str
    weights: SharedState[FloatArray]
    turns: SharedState[FloatArray]

    def select(self, ledger: Any, plays: Any, row: int, now: int, rng: Any) -> int:
        """The first arm."""
        self.turns[0] += 1
        if self.turns[0] == 3 and self.wrong == "write":
            self.weights[0] = 5.0  # written
        return STOP if self.turns[0] == 3 and self.wrong == "stop" else 0


class FixedPolicy(Wrong):
    """Starts the rule with one of its mistakes."""

    def start(self, setting: Setting) -> Any:
        """The rule."""
        weights = np.ones(2)
        weights.flags.writeable = False
        return Fixed(self.wrong, weights, np.zeros(1))


@pytest.mark.parametrize(
    ("wrong", "error"), [("write", PolicyError), ("stop", LiveError), ("", None)]
)
def test_an_array_may_be_read_only(wrong: str, error: Any, tmp_path: Path) -> None:
    """Reading it, putting back a decision, arms that come and a restart leave it alone."""
    agent = opened(FixedPolicy(wrong), tmp_path / "a.db")
    for _ in range(2):
        agent.tell(agent.ask(), 0.5)
    if error:
        with pytest.raises(error) as caught:
            agent.ask()
        told = f"writes to a read-only array, Fixed.weights ({place('written')})"
        assert (told in str(caught.value)) == (wrong == "write")
        assert agent._core.open.rule.turns.tolist() == [2.0]
    agent.add_arm("c")
    agent.remove_arm("c")
    agent.close()
    with opened(FixedPolicy(wrong), tmp_path / "a.db") as again:
        assert again._core.open.rule.turns.tolist() == [2.0]
        assert again._core.open.rule.weights.tolist() == [1.0, 1.0]


def test_a_hook_that_fails_is_told_with_its_line(caplog: pytest.LogCaptureFixture) -> None:
    """The log names the line of the user's code at which a fact could not be learnt."""
    agent = opened(Wrong("returned"))
    agent.tell(agent.ask(), 0.5)
    assert "fails in `returned` (IndexError: index -9 is out of bounds" in caplog.text
    assert place("returned") in caplog.text
    assert agent.counts.unheard == 1


def test_a_stop_changes_nothing(tmp_path: Path) -> None:
    """What `select` writes before it gives up is undone, so a crash after it makes no other run."""
    path = tmp_path / "a.db"
    agent = opened(Wrong("stop"), path)
    arms = [agent.ask().arm for _ in range(2)]
    for _ in range(2):
        with pytest.raises(LiveError, match=r"has stopped: its `select` gave up") as caught:
            agent.ask()
        assert "CSE" not in str(caught.value)
        assert agent._core.open.rule.turns.tolist() == [2.0]
    for name in ("a.db", "a.db-wal", "a.db-mark"):  # as a crash would leave it
        if (tmp_path / name).exists():
            shutil.copy(tmp_path / name, tmp_path / name.replace("a.db", "b.db"))
    agent.close()
    for each in (path, tmp_path / "b.db"):
        with opened(Wrong("stop"), each) as again:
            assert again.counts.asked == len(arms) == 2
            assert again._core.open.rule.turns.tolist() == [2.0]
