"""What an agent with RegimeThompson says of change: since when, how sure, what probing costs."""

import numpy as np

import tarry
from tarry.live import ManualClock


def serve(agent: tarry.Agent, clock: ManualClock, requests: int, slow: float, seed: int) -> int:
    """A request each 100 ms, answered at once: arm a takes `slow`, b 80 ms; how many went to a."""
    rng = np.random.default_rng(seed)
    went = 0
    for _ in range(requests):
        clock.advance(0.1)
        play = agent.ask()
        went += play.arm == "a"
        mean = slow if play.arm == "a" else 0.08
        agent.tell(play, float(rng.gamma(9.0, mean / 9.0)))
    return went


def test_a_change_is_left_and_explained() -> None:
    """An arm that turns slow is left; its regime is said to have begun then, and for sure."""
    clock = ManualClock(1000.0)
    agent = tarry.Agent(
        tarry.RegimeThompson(), arms=["a", "b"], payoff="cost", max_delay=10.0, seed=3, clock=clock
    )
    assert agent.explain()["a"].since is None
    assert serve(agent, clock, 300, 0.05, seed=1) > 150
    before = agent.explain()["a"]
    assert before.since is not None
    assert before.since > 25.0
    assert serve(agent, clock, 100, 1.0, seed=2) < 40
    told = agent.explain()
    row = told["a"]
    assert row.since is not None
    assert row.sure is not None
    assert 7.0 < row.since < 11.5
    assert row.sure > 0.9
    assert "% sure)" in row.why
    assert 0.0 <= told.probing < 0.2
    assert "per play lately" in str(told)


def test_others_say_nothing_of_regimes() -> None:
    """A policy that does not ask when an arm changed has nothing to say of it."""
    agent = tarry.Agent(arms=["a", "b"], payoff="cost", max_delay=1.0, clock=ManualClock(0.0))
    agent.tell(agent.ask(), 0.1)
    assert agent.explain()["a"].since is None
    assert "per play lately" not in str(agent.explain())


def test_the_mean_is_that_of_the_present_regime() -> None:
    """An arm that was quick for long and is slow now is told to be slow, and not the shortest."""
    clock = ManualClock()
    given = {"payoff": "cost", "max_delay": 10.0, "seed": 1, "clock": clock}
    agent = tarry.Agent(tarry.RegimeThompson(), arms=["fra", "ams"], **given)  # type: ignore[arg-type]
    for number in range(1400):
        play = agent.ask()
        clock.advance({"fra": 0.05 if number < 1000 else 1.0, "ams": 0.08}[play.arm])
        agent.tell(play)
    told = agent.explain()
    assert told["fra"].low < 1.0 < told["fra"].high
    assert 0.5 < told["fra"].mean < 2.0
    assert told["ams"].why.startswith("shortest mean so far")
    assert told.probing < 0.05
