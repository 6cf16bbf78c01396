"""Policies that look at the request: equal to their formulas, and safe with any features."""

from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tarry
from tarry.arrays import FloatArray, arrays_of
from tarry.errors import InputError
from tarry.plays import empty_plays
from tarry.policies.contexts.kinds import MOST, no_kinds
from tarry.problems import Contextual, Law, contextual
from tarry.problems.problem import Payoff, Problem
from tests.conformance.cases import Kept
from tests.policies.literal_contexts import Linear, Literal, Regression
from tests.sizes import examples

CONTEXTUAL = (
    tarry.SurvivalRegression(),
    tarry.SurvivalRegression(half_life=300),
    tarry.LinearThompson(),
    tarry.LinUCB(),
    tarry.SegmentThompson(),
)
both_payoffs = pytest.mark.parametrize("payoff", ["cost", "reward"])
every_policy = pytest.mark.parametrize("policy", CONTEXTUAL, ids=str)


def random_world(seed: int, arms: int, features: int, contexts: int, most: int) -> Contextual:
    """Laws of all kinds, delays 0 and D among them; a column that is constant, cells missing."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(contexts, features)) * 10.0 ** rng.integers(-3, 4, features)
    rows[:, 0] = np.where(rng.random(contexts) < 0.3, np.nan, rows[:, 0])
    if features > 1 and seed % 3 == 0:
        rows[:, 1] = 7.0
    laws = []
    for _ in range(contexts * arms):
        values = np.unique(rng.choice([0, most, *rng.integers(0, most + 1, 3)], 3))
        laws.append(Law(values, rng.dirichlet(np.ones(len(values)))))
    return contextual(laws, rows, most, rng.random(contexts) + 0.1)


@pytest.mark.parametrize(
    ("policy", "literal"),
    [(tarry.SurvivalRegression, Regression), (tarry.LinearThompson, Linear)],
    ids=["SurvivalRegression", "LinearThompson"],
)
@both_payoffs
def test_plays_as_its_formulas_say(
    policy: type[Any], literal: type[Literal], payoff: Payoff
) -> None:
    """On random small worlds compiled, interpreted and literal runs play the same arms."""

    @settings(max_examples=examples(25))
    @given(
        seed=st.integers(0, 2**16),
        arms=st.integers(1, 4),
        features=st.integers(1, 3),
        contexts=st.integers(1, 5),
        most=st.one_of(st.integers(1, 3), st.integers(1, 60)),
        horizon=st.integers(1, 60),
        bins=st.sampled_from([2, 5, 24]),
    )
    def check(
        seed: int, arms: int, features: int, contexts: int, most: int, horizon: int, bins: int
    ) -> None:
        problem = random_world(seed, arms, features, contexts, most)
        wanted = literal(problem, payoff == "reward", bins).run(horizon, seed)
        ask = partial(
            tarry.play, policy(bins=bins), problem, payoff=payoff, horizon=horizon, seed=seed
        )
        for mode in ("compiled", "interpreted"):
            assert ask(mode=mode).arms.tolist() == wanted

    check()


@both_payoffs
def test_without_contexts_it_is_survival_thompson(payoff: Payoff) -> None:
    """Where requests have no features the very arms of SurvivalThompson are played."""
    problem = tarry.problems.bernoulli(arms=6, max_delay=40, seed=3)
    ask = partial(tarry.play, problem=problem, payoff=payoff, horizon=3000, seed=5)
    one, other = ask(tarry.SurvivalRegression(bins=9)), ask(tarry.SurvivalThompson(bins=9))
    assert np.array_equal(one.arms, other.arms)


def test_features_that_say_nothing_leave_the_distribution_of_survival_thompson() -> None:
    """With a constant feature its shares of plays are those of SurvivalThompson, in the mean."""
    laws = tarry.problems.bernoulli(3, 20, probabilities=[0.4, 0.5, 0.55]).laws
    constant = contextual(laws, [[1.0]], 20)
    shares = []
    for policy, problem in (
        (tarry.SurvivalRegression(), constant),
        (tarry.SegmentThompson(), constant),  # draws all arms in every step, as the other does
    ):
        runs = [
            tarry.play(policy, problem, payoff="cost", horizon=400, seed=seed).regret[-1]
            for seed in range(100)
        ]
        shares.append((np.mean(runs), np.std(runs) / np.sqrt(len(runs))))
    (one, error), (other, other_error) = shares
    assert abs(one - other) < 4 * np.hypot(error, other_error)


def hostile(name: str) -> FloatArray:
    """Features of 40 contexts, one of them (the first, if it can be) telling which arm is best."""
    rng = np.random.default_rng(1)
    good = np.repeat([-1.0, 1.0], 20)[:, None]
    noise = rng.normal(size=(40, 200))
    return {
        "constant": np.column_stack([good, np.full((40, 2), 3.0)]),
        "collinear": np.column_stack([good, good, 2 * good + 1, -good]),
        "large": np.column_stack([1e6 * good + 1e6, 1e6 * noise[:, :2]]),
        "huge": np.column_stack([good, 1e200 * noise[:, :1], 1e-200 * noise[:, 1:2]]),
        "missing": np.where(rng.random((40, 3)) < 0.3, np.nan, np.column_stack([good] * 3)),
        "all missing": np.column_stack([good, np.full((40, 2), np.nan)]),
        "seen once": np.column_stack([good, np.eye(40)[:, :3]]),
        "many": np.column_stack([good, noise[:, :199]]),
    }[name]


@pytest.mark.parametrize(
    "name",
    ["constant", "collinear", "large", "huge", "missing", "all missing", "seen once", "many"],
)
def test_hostile_features(name: str) -> None:
    """No NaN, no lock-in: whatever else is given, what one feature tells is learnt."""
    rows = hostile(name)
    quick, slow = Law([0, 2, 30], [0.5, 0.4, 0.1]), Law([5, 30], [0.6, 0.4])
    laws = [law for n in range(40) for law in ((quick, slow) if n < 20 else (slow, quick))]
    problem = contextual(laws, rows, 30)
    for policy, steps, share in (
        (tarry.SurvivalRegression(), 250 if name == "many" else 3000, 0.35),
        (tarry.LinearThompson(), 3000, 0.6 if name == "many" else 0.35),
    ):
        for payoff in ("cost", "reward"):
            kept: Any = Kept(policy)
            run = tarry.play(kept, problem, payoff=payoff, horizon=steps, seed=4)
            for path, array, _ in arrays_of(kept.rule):
                assert np.isfinite(np.asarray(array)).all(), path
            late = run.regret[-1] - run.regret[steps // 2]
            assert late < share * problem.fixed_gaps(payoff).mean() * steps / 2


@every_policy
def test_compiled_and_interpreted_runs_are_equal(policy: Any) -> None:
    """On a contextual world, with missing features, for both payoffs."""
    problem = random_world(6, 3, 3, 8, 40)
    for payoff in ("cost", "reward"):
        ask = partial(tarry.play, policy, problem, payoff=payoff, horizon=250, seed=9)
        one, other = ask(mode="compiled"), ask(mode="interpreted")
        assert np.array_equal(one.arms, other.arms)
        assert np.array_equal(one.regret, other.regret)


def test_covariances_stay_symmetric_and_shrink() -> None:
    """The covariance of every arm is symmetric to the last bit, positive, and below the prior."""
    kept: Any = Kept(tarry.SurvivalRegression())
    problem = tarry.problems.log_linear(3, 3, 100, seed=2, contexts=50)
    tarry.play(kept, problem, payoff="cost", horizon=4000, seed=1)
    rule = kept.rule
    for spread, prior in (
        (rule.effects.spread, np.diag(rule.effects.variance)),
        (rule.familiar.spread, np.eye(4)),
    ):
        for part in spread.reshape(3, *prior.shape):
            assert np.array_equal(part, part.T)
            assert np.linalg.eigvalsh(part).min() > 0
            assert np.linalg.eigvalsh(prior - part).min() > -1e-12


def niche(kind: str, payoff: Payoff) -> Contextual:
    """The last arm is bad for nearly all requests, and the best by far for the others."""
    flip = payoff == "reward"
    if kind == "fixed":  # 8 and 18 of 20 for nine requests of ten, 8 and 0 for the tenth
        parts, rare = ([[8, 18], [8, 0]], 0.1)
        worlds = [
            tarry.problems.deterministic([20 - d if flip else d for d in part], max_delay=20)
            for part in parts
        ]
    else:  # five arms; one request of thirty
        back = [[0.6, 0.5, 0.5, 0.4, 0.1], [0.6, 0.5, 0.5, 0.4, 1.0]]
        rare = 1 / 30
        worlds = [
            tarry.problems.bernoulli(
                max_delay=20, probabilities=[1 - q if flip else q for q in part]
            )
            for part in back
        ]
    return tarry.problems.segments(
        {"usual": worlds[0], "rare": worlds[1]}, weights=[1 - rare, rare]
    )


def exponential(*scales: float) -> Problem:
    """Exponential delays with these scales, cut at 2000."""
    ages = np.unique(np.rint(np.geomspace(1, 2000, 120)).astype(int))
    laws = []
    for scale in scales:
        left = np.exp(-ages / scale)
        left[-1] = 0.0
        laws.append(Law(ages, -np.diff(left, prepend=1.0)))
    return Problem(laws, 2000)


def test_an_arm_that_lasts_for_one_kind_of_request_is_kept() -> None:
    """An arm that is the shortest of all but for one kind, where it is the longest.

    Its passes there were counted at the hazards of the other kinds, as if they told much; the
    effects then fell short of what they showed, and seeds 21 and 29 never played it again.
    """
    kinds = {f"usual {i}": exponential(20, 120, 60) for i in range(4)}
    kinds["other"] = exponential(9000, 3500, 2500)
    problem = tarry.problems.segments(kinds, weights=[0.3, 0.25, 0.2, 0.15, 0.1])
    for seed in range(18, 32):
        run = tarry.play(
            tarry.SurvivalRegression(), problem, payoff="reward", horizon=12_000, seed=seed
        )
        late = run.contexts[8000:] == 4
        assert np.mean(run.arms[8000:][late] == 0) > 0.9, seed


def test_a_kind_whose_delays_no_tilt_can_tell_is_not_lost() -> None:
    """Kinds with laws of other shapes: tilted odds were sure of a mean that no play had shown.

    Each of these seeds gave up the best arm for the last kind, as one run in eight did.
    """
    falling = {75 * i: 0.85**i for i in range(21)}
    falling = {delay: share / sum(falling.values()) for delay, share in falling.items()}
    laws = [
        (falling, {660: 1.0}),
        ({240: 0.2, 1300: 0.8}, {0: 0.43, 1500: 0.57}),
        ({1430: 1.0}, {0: 0.12, 1500: 0.88}),
        ({200: 0.3, 310: 0.2, 1490: 0.5}, {120: 0.4, 720: 0.43, 1230: 0.07, 1500: 0.1}),
    ]
    parts = {
        f"{i}": tarry.problems.from_pmf(list(both), max_delay=1500) for i, both in enumerate(laws)
    }
    problem = tarry.problems.segments(parts, weights=[37, 42, 9, 12])
    for seed in (2, 7, 14, 30, 33, 48, 57):
        run = tarry.play(
            tarry.SurvivalRegression(), problem, payoff="cost", horizon=6000, seed=seed
        )
        late = run.contexts[4000:] == 3
        assert np.mean(run.arms[4000:][late] == 1) > 0.9, seed


def test_kinds_are_told_apart() -> None:
    """The very same request is one, and what is missing is alike."""
    kinds = no_kinds(arms=2, features=2, max_delay=20, bins=5)
    plays = empty_plays(1, features=2)
    for number in range(MOST):
        for value in (float(number), float(number)):
            plays.context[0] = [value, np.nan]
            kinds.meet(plays, 0)
            assert kinds.find(plays, 0) == number
    plays.context[0] = [0.0, np.inf]
    assert kinds.find(plays, 0) == 0
    plays.context[0] = [0.0, 1.0]
    assert kinds.find(plays, 0) == -1


@pytest.mark.parametrize("seed", range(6))
def test_who_comes_again_and_again_keeps_its_place(seed: int) -> None:
    """Weights are those of Misra and Gries (1982), and who goes takes its curves along."""
    rng = np.random.default_rng(seed)
    often = rng.random() * 0.9
    kinds = no_kinds(arms=2, features=1, max_delay=20, bins=5)
    plays = empty_plays(1, features=1)
    weights: dict[float, int] = {}
    booked: dict[float, int] = {}  # plays since the request has its place
    for _ in range(3000):
        request = float(rng.integers(10) if rng.random() < often else rng.integers(10, 2000))
        if request in weights or len(weights) < MOST:
            weights[request] = weights.get(request, 0) + 1
        else:
            weights = {name: weight - 1 for name, weight in weights.items() if weight > 1}
            booked = {name: booked[name] for name in weights}
        plays.context[0] = [request]
        kinds.meet(plays, 0)
        kind = kinds.find(plays, 0)
        assert (kind >= 0) == (request in weights)
        if kind >= 0:
            kinds.evidence.book_pass(MOST + kind, 0)
            booked[request] = booked.get(request, 0) + 1
            assert kinds.weight[kind] == weights[request]
            assert kinds.evidence.known(MOST + kind) == booked[request]
    left, passes = np.asarray(kinds.weight), np.asarray(kinds.evidence.passes)
    assert sorted(left[left > 0]) == sorted(weights.values())
    assert not passes.reshape(2, MOST, 5)[1, left == 0].any()
    assert all(np.isfinite(array).all() for _, array, _ in arrays_of(kinds))


def fixed_delays(seed: int, kinds: int, odd: int = 0, share: float = 0.0) -> Contextual:
    """Kinds of requests that three numbers tell apart, each with fixed delays of its own.

    Beside them come odd ones, in so large a share of all requests.
    """
    rng = np.random.default_rng(seed)
    delays = rng.integers(0, 201, (kinds + odd, 4))
    weights = np.r_[np.full(kinds, (1 - share) / kinds), np.full(odd, share / max(odd, 1))]
    laws = [Law([delay], [1.0]) for delay in delays.ravel()]
    return contextual(laws, rng.normal(size=(kinds + odd, 3)), 200, weights)


def more_than_64() -> Contextual:
    """90 different requests, four of them far more often than others."""
    usual = random_world(3, arms=2, features=2, contexts=90, most=20)
    weights = np.where(np.arange(90) < 4, 8.0, 1.0)
    return contextual(usual.context_laws, usual.features, 20, weights)


@both_payoffs
@pytest.mark.parametrize("many", [True, False])
def test_requests_that_come_again_are_played_as_the_formulas_say(
    many: bool, payoff: Payoff
) -> None:
    """Places are lost and taken; arms are tried for kinds that they were hardly played for."""
    problem = more_than_64() if many else random_world(1, 3, 2, contexts=8, most=20)
    wanted = Regression(problem, payoff == "reward", 5).run(300, 1)
    for mode in ("compiled", "interpreted"):
        run = tarry.play(
            tarry.SurvivalRegression(bins=5), problem, payoff=payoff, horizon=300, seed=1, mode=mode
        )
        assert run.arms.tolist() == wanted


def test_few_requests_that_go_as_tilted_odds_say_cost_nothing() -> None:
    """Arms are tried anew for a kind only where curves contradict: it was 0.10 without that."""
    shares = []
    for seed in range(300, 308):
        problem = tarry.problems.log_linear(5, 4, 2000, seed, contexts=20)
        run = tarry.play(
            tarry.SurvivalRegression(), problem, payoff="reward", horizon=8000, seed=seed
        )
        shares.append(run.regret[-1] / (8000 * problem.fixed_gaps("reward").mean()))
    assert np.mean(shares) < 0.065


def lost_kinds(problem: Contextual, payoff: Payoff, seed: int) -> list[int]:
    """Kinds that late pay more than half of uniform play's regret."""
    run = tarry.play(tarry.SurvivalRegression(), problem, payoff=payoff, horizon=12_000, seed=seed)
    gaps, contexts, arms = problem.context_gaps(payoff), run.contexts[8000:], run.arms[8000:]
    return [
        kind
        for kind in range(12)
        if gaps[kind][arms[contexts == kind]].mean() > 0.5 * gaps[kind].mean()
    ]


@both_payoffs
def test_odd_requests_do_not_wipe_out_what_is_known_of_kinds(payoff: Payoff) -> None:
    """With a 65th different request all curves of kinds were given up, and kinds lost."""
    for seed in range(5):
        problem = fixed_delays(seed, 12, odd=64, share=0.016)
        assert len(lost_kinds(problem, payoff, seed)) <= 1, seed


@both_payoffs
def test_an_arm_is_tried_for_a_kind_whose_numbers_others_share(payoff: Payoff) -> None:
    """Every third run lost one of twelve kinds: tilted odds had written off arms never tried."""
    for seed in range(10):
        assert lost_kinds(fixed_delays(seed, 12), payoff, seed) == [], seed


@pytest.mark.parametrize("kind", ["fixed", "random"])
@both_payoffs
def test_an_arm_for_a_few_requests_is_found(kind: str, payoff: Payoff) -> None:
    """In every run: nearly all late requests of the rare kind go to the arm that is made for it.

    What that costs is far below what never finding it costs.
    """
    problem = niche(kind, payoff)
    shares = []
    for seed in range(8):
        run = tarry.play(
            tarry.SurvivalRegression(), problem, payoff=payoff, horizon=20_000, seed=seed
        )
        late = run.contexts[10_000:] == 1
        assert np.mean(run.arms[10_000:][late] == problem.arms - 1) > 0.9
        shares.append(run.regret[-1] / (20_000 * problem.fixed_gaps(payoff).min()))
    assert np.mean(shares) < 0.38
    assert np.sort(shares)[-2] < 0.5


def test_a_half_life_fades_all_that_was_learnt() -> None:
    """Weights, counts and belief drift towards the prior, and are there in the end."""
    setting = tarry.Setting(arms=2, max_delay=10, horizon=0, reward=False, features=2)
    rule = tarry.SurvivalRegression(half_life=16).start(setting)
    rule.effects.weights[:] = 3.0
    rule.effects.spread[:] *= 0.01
    rule.evidence.events[:] = 8.0
    rule.tilted[:] = 8.0
    rule.belief[0] = 6.0
    plays = tarry.plays.empty_plays(1, features=2)
    plays.number[0] = 16
    rule.started(plays, 0)
    assert rule.effects.weights.tolist() == [1.5] * 12
    assert rule.evidence.events.max() == rule.tilted.max() == 4.0
    assert rule.belief[0] == 3.0
    for _ in range(60):
        rule.started(plays, 0)
    fresh = tarry.SurvivalRegression(half_life=16).start(setting)
    assert rule.effects.spread == pytest.approx(fresh.effects.spread, abs=1e-12)
    assert abs(rule.effects.weights).max() < 1e-15


def test_segments_learn_nothing_from_each_other() -> None:
    """An arm that was seen in one segment only is unknown in another: it is tried there first."""
    phone = tarry.problems.deterministic([1, 9], max_delay=9)
    problem = tarry.problems.segments({"phone": phone, "desktop": phone})
    run = tarry.play(tarry.SegmentThompson(), problem, payoff="cost", horizon=200, seed=3)
    for segment in range(2):
        first = run.arms[run.contexts == segment][:2]
        assert sorted(first.tolist()) == [0, 1]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: tarry.SurvivalRegression(bins=1), "number of bins is 1"),
        (lambda: tarry.SurvivalRegression(half_life=0), "half_life is 0"),
        (lambda: tarry.LinearThompson(bins=0), "number of bins is 0"),
        (lambda: tarry.LinUCB(alpha=-1.0), "alpha is -1.0"),
    ],
)
def test_bad_settings_are_refused(make: Any, words: str) -> None:
    """In one sentence."""
    with pytest.raises(InputError, match=words):
        make()
