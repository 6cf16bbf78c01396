"""The named scenarios: what happens to routes."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from tarry.scenarios.laws import (
    Constant,
    Fails,
    Hangs,
    LatencyLaw,
    LogNormal,
    Mixture,
    State,
    slower,
)
from tarry.scenarios.scenario import Backend, Bursts, Change, Scenario

USUAL = (LogNormal(0.05), LogNormal(0.08), LogNormal(0.12))
FIXED = (Constant(0.05), Constant(0.08), Constant(0.12))


def broken_for(
    state: State, law: LatencyLaw, start: float, end: float, backend: int = 0
) -> list[Change]:
    """A backend in this state for a while, and then as before."""
    return [Change(start, backend, state), Change(end, backend, law)]


def catalogue() -> list[Scenario]:
    """All of them; names are unique."""
    return [*usual_traffic(), *variants(), *low_traffic(), *queues(), *dialogue()]


def changes(laws: Sequence[LatencyLaw], start: float, end: float) -> dict[str, list[Change]]:
    """What happens at any rate, by name, between `start` and `end`, to the best of three."""
    best, second, last = laws
    middle = (start + end) / 2
    return {
        "calm": [],
        "hang": broken_for(Hangs(), best, start, end),
        "20 x slower": broken_for(slower(best, 20.0), best, start, end),
        "fails fast": broken_for(Fails(), best, start, end),
        "all hang": [
            change
            for k, law in enumerate(laws)
            for change in broken_for(Hangs(), law, start, start + (end - start) / 6, k)
        ],
        "drift": [Change(start, 0, slower(best, 3.0), over=2 * (end - start))],
        "swap": [Change(middle, 0, second), Change(middle, 1, best)],
        "a rested one improves": [Change(middle, 2, slower(last, 0.2))],
    }


def usual_traffic() -> Iterator[Scenario]:
    """100 requests per second for four minutes."""
    for name, what in changes(USUAL, 60.0, 120.0).items():
        yield Scenario(name, USUAL, what)
    yield from at_rate("", 100.0, 240.0, start=60.0, end=120.0, first_flap=40)


def at_rate(
    suffix: str, rate: float, seconds: float, *, start: float, end: float, first_flap: int
) -> Iterator[Scenario]:
    """What happens to other backends than the usual three, or more than once, at any rate."""
    flaps = [
        change
        for flap in range(first_flap, int(seconds), 40)
        for change in broken_for(slower(USUAL[0], 20.0), USUAL[0], flap, flap + 20)
    ]
    usual = Scenario(f"flapping{suffix}", USUAL, flaps, rate=rate, seconds=seconds)
    yield usual
    new = [Change(0.0, 3, Fails()), Change(seconds / 2, 3, LogNormal(0.025))]
    four = (*USUAL, LogNormal(0.025))
    yield replace(usual, name=f"a new best one{suffix}", backends=four, changes=new)
    stragglers = Mixture(LogNormal(0.04), LogNormal(1.0), 0.01)
    backends = (stragglers, *USUAL[1:])
    yield replace(usual, name=f"1 % stragglers{suffix}", backends=backends, changes=())
    ten = [LogNormal(0.05 + 0.01 * k) for k in range(10)]
    hang = broken_for(Hangs(), ten[0], start, end)
    yield replace(usual, name=f"ten backends, hang{suffix}", backends=ten, changes=hang)
    yield replace(
        usual,
        name=f"an hour of quiet, then slow{suffix}",
        changes=[Change(3600.0, 0, slower(USUAL[0], 20.0))],
        seconds=3600.0 + seconds / 4,
    )


def variants() -> Iterator[Scenario]:
    """The same with bursts, another timeout, constant laws, or several clients."""
    hang = broken_for(Hangs(), USUAL[0], 60.0, 120.0)
    bursts = Bursts(every=10.0, length=1.0, times=10.0)
    yield Scenario("hang, bursts", USUAL, hang, rate=50.0, bursts=bursts)
    yield Scenario("hang, D = 2 s", USUAL, hang, timeout=2.0)
    yield Scenario("hang, D = 30 s", USUAL, hang, timeout=30.0)
    yield Scenario("hang, constant", FIXED, broken_for(Hangs(), FIXED[0], 60.0, 120.0))
    yield Scenario("swap, constant", FIXED, changes(FIXED, 60.0, 120.0)["swap"])
    yield Scenario("hang, ten clients", USUAL, hang, clients=10)


def low_traffic() -> Iterator[Scenario]:
    """One request per second for ten minutes."""
    for name, what in changes(USUAL, 200.0, 400.0).items():
        yield Scenario(f"{name}, 1/s", USUAL, what, rate=1.0, seconds=600.0)
    yield from at_rate(", 1/s", 1.0, 600.0, start=200.0, end=400.0, first_flap=100)
    hang = broken_for(Hangs(), USUAL[0], 200.0, 400.0)
    yield Scenario("hang, 1/s, D = 2 s", USUAL, hang, rate=1.0, seconds=600.0, timeout=2.0)


def queues() -> Iterator[Scenario]:
    """Backends that get slower the more they get."""
    for name, servers in (("near the knee", 6), ("at the knee", 5)):
        backends = [Backend(law, servers) for law in USUAL]
        yield Scenario(f"queues, {name}", backends)
    equal = [Backend(LogNormal(0.05), 2) for _ in range(5)]
    yield Scenario("queues, five equal, 70 % busy", equal, rate=140.0)
    yield Scenario("queues, five equal, ten clients", equal, rate=140.0, clients=10)
    backends = [Backend(law, 8) for law in USUAL]
    yield Scenario("queues, hang", backends, broken_for(Hangs(), USUAL[0], 60.0, 120.0))


def dialogue() -> Iterator[Scenario]:
    """Those of Palantir's dialogue: ten clients, two or three equal servers, and short.

    Its servers take 60 or 600 ms and get slower with load; they are given servers to queue for.
    """
    quick, lazy = Constant(0.06), Constant(0.6)
    pair = (Backend(quick, 60), Backend(quick, 60))
    usual = Scenario("", pair, rate=200.0, seconds=20.0, clients=10)

    def breaks(name: str, state: State, end: float = 10.0) -> Scenario:
        return replace(usual, name=name, changes=broken_for(state, quick, 3.0, end, 1))

    yield breaks("dialogue: drastic slowdown", Constant(9.9))
    yield breaks("dialogue: slow 503s", Fails(Constant(1.0)))
    yield breaks("dialogue: fast 500s", Fails(Constant(0.01)))
    yield breaks("dialogue: short outage", Fails(Constant(0.02)), end=5.0)
    hole = [Change(3.0, 1, Hangs())]
    yield replace(usual, name="dialogue: black hole", backends=(lazy, lazy), changes=hole)
    broken = [c for k in range(2) for c in broken_for(Fails(lazy), lazy, 0.0, 10.0, k)]
    yield replace(
        usual, name="dialogue: all nodes fail", backends=(lazy, lazy), changes=broken, rate=100.0
    )
