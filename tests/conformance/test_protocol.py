"""Facts, evidence, decisions: what the protocol asks of every rule."""

from typing import Any

import numpy as np
import pytest
from tests.conformance.cases import CASES, POLICIES_VARIED, Case

import tarry
from tarry.arrays import arrays_of
from tarry.errors import PolicyError
from tarry.ledger import Ledger, empty_ledger
from tarry.plays import Plays, empty_plays, no_ages
from tarry.policies import Setting
from tarry.policies.driver import book_answer, book_start, decide, settle
from tarry.policies.protocol import follow_phase
from tarry.randomness import new_random

PROBLEM = tarry.problems.bernoulli(arms=3, max_delay=9, seed=2)
STEPS = 220
every_case = pytest.mark.parametrize("case", CASES, ids=str)


def evidence_of(value: Any) -> dict[str, list[float]]:
    """Copies of all arrays that only facts may change."""
    return {
        path: np.asarray(array).tolist()
        for path, array, role in arrays_of(value)
        if role is not None and role.evidence
    }


class Fold:
    """A rule, its ledger and its plays, told of facts one by one; it decides only where asked."""

    def __init__(self, case: Case) -> None:
        setting = Setting(PROBLEM.arms, PROBLEM.max_delay, STEPS, case.payoff == "reward")
        self.rule = case.policy.start(setting)
        self.ledger: Ledger = empty_ledger(PROBLEM.arms)
        self.plays: Plays = empty_plays(PROBLEM.max_delay)
        edges = np.array(getattr(self.rule, "edges", []), np.int64)
        self.ages = no_ages(PROBLEM.max_delay, edges)
        self.rng = new_random(4)

    def decide(self, now: int) -> int:
        """The arm for this step."""
        return decide(self.rule, self.ledger, self.plays, self.ages, now, now, self.rng)

    def start(self, now: int, arm: int) -> None:
        """The play of this step is made."""
        row = self.plays.row_of(now)
        self.plays.number[row], self.plays.start[row], self.plays.delay[row] = now, now, -1
        book_start(self.rule, self.ledger, self.plays, row, arm, now)

    def reach(self, now: int, delays: list[int]) -> None:
        """Time reaches the next step: answers, then ages."""
        for number in range(now, max(now - PROBLEM.max_delay, 1) - 1, -1):
            delay = delays[number - 1]
            if number + delay == now:
                row = self.plays.row_of(number)
                book_answer(self.rule, self.ledger, self.plays, row, delay, now + 1, self.rng)
        settle(self.rule, self.ledger, self.plays, self.ages, now, now + 1)


@every_case
def test_a_decision_changes_no_evidence(case: Case) -> None:
    """`select` leaves every array of evidence as it was, in rule and ledger."""
    fold, failures, delays = Fold(case), 0, []
    world = PROBLEM.world(5)
    for now in range(1, STEPS + 1):
        before = evidence_of(fold.rule), evidence_of(fold.ledger)
        arm = fold.decide(now)
        assert (evidence_of(fold.rule), evidence_of(fold.ledger)) == before
        failures = follow_phase(fold.rule, fold.ledger, failures)
        if arm < 0:
            break
        delays.append(int(world.delay(now, arm)))
        fold.start(now, arm)
        fold.reach(now, delays)
    assert delays


@pytest.mark.parametrize(
    "case", [c for c in CASES if getattr(type(c.policy), "shareable", False)], ids=str
)
def test_shared_evidence_is_a_fold_over_facts(case: Case) -> None:
    """Told of the facts of somebody else's run, a rule has the same evidence, undecided."""
    world = PROBLEM.world(5)
    decided, told = Fold(case), Fold(case)
    delays: list[int] = []
    for now in range(1, STEPS + 1):
        arm = decided.decide(now)
        delays.append(int(world.delay(now, arm)))
        for fold in (decided, told):
            fold.start(now, arm)
            fold.reach(now, delays)
    assert evidence_of(told.rule) == evidence_of(decided.rule)
    assert evidence_of(told.ledger) == evidence_of(decided.ledger)
    choice = told.decide(STEPS + 1)
    assert 0 <= choice < PROBLEM.arms


@every_case
def test_every_array_says_what_it_is_for(case: Case) -> None:
    """No array of a rule leaves open whether it goes with the arms, and those that do are whole."""
    for arms in (1, 4):
        rule = case.policy.start(Setting(arms, 9, 100, case.payoff == "reward"))
        for path, array, role in arrays_of(rule):
            assert role is not None, path
            assert not role.by_arm or len(array) % arms == 0, path


@pytest.mark.parametrize("policy", POLICIES_VARIED, ids=str)
def test_a_policy_says_whether_it_can_be_shared(policy: Any) -> None:
    """`shareable` is said, not assumed."""
    assert type(policy).shareable in (True, False)


class Former:
    """A rule as it was written for version 0.1."""

    def start(self, setting: Setting) -> "Former":
        """Itself."""
        return self

    def select(self, ledger: Any, step: int, now: int, rng: Any) -> int:
        """The first arm."""
        return 0


class FormerLearner(Former):
    """Only its hook is of the old form."""

    def select(self, ledger: Any, plays: Any, row: int, now: int, rng: Any) -> int:  # type: ignore[override]  # the new form
        """The first arm."""
        return 0

    def returned(self, arm: int, delay: int, rng: Any) -> None:
        """An answer."""


class Between(FormerLearner):
    """As many parameters as are handed, but others."""

    def returned(self, start: int, arm: int, delay: int, now: int) -> None:  # type: ignore[override]  # see above
        """An answer."""


class Shuffled(FormerLearner):
    """Today's names in an order of its own."""

    def returned(self, plays: Any, row: int, rng: Any, now: int) -> None:  # type: ignore[override]  # see above
        """An answer."""


OTHERS = [
    (Former(), ["Former.select", "(ledger, plays, row, now, rng)", "plays.number[row]"]),
    (FormerLearner(), ["FormerLearner.returned", "plays.arm[row]", "plays.delay[row]"]),
    (Between(), ["(start, arm, delay, now)", "handed (plays, row, now, rng)", "plays.start[row]"]),
    (Shuffled(), ["(plays, row, rng, now)", "handed (plays, row, now, rng)", "take these."]),
]


def simulated(policy: Any) -> tarry.Run:
    """A few steps without a compiler."""
    return tarry.play(policy, PROBLEM, payoff="cost", horizon=5, mode="interpreted")


def live(policy: Any) -> tarry.Agent:
    """An agent."""
    return tarry.Agent(policy, arms=["a", "b"], payoff="cost", max_delay=2.0)


@pytest.mark.parametrize("use", [simulated, live])
@pytest.mark.parametrize(("policy", "words"), OTHERS)
def test_a_rule_that_takes_one_thing_for_another_is_told_what_to_change(
    policy: Any, words: list[str], use: Any
) -> None:
    """One sentence, compiled or not and live: what it takes, what it is handed, what is where."""
    with pytest.raises(PolicyError, match=r"in this order; let it take these") as caught:
        use(policy)
    assert all(word in str(caught.value) for word in words)
    assert str(caught.value).count(". ") == 0


class Named(Former):
    """Has names of its own, which claim nothing else."""

    def select(self, book: Any, table: Any, line: int, step: int, dice: Any) -> int:  # type: ignore[override]  # see above
        """The first arm."""
        return 0

    def returned(self, table: Any, line: int, *more: Any) -> None:
        """An answer."""


def test_parameters_may_have_names_of_ones_own() -> None:
    """Only what is known under a name is refused under it in another place."""
    assert simulated(Named()).arms.tolist() == [0] * 5
