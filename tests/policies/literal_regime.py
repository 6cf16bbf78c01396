"""RegimeThompson written down a second time, slowly and literally.

Every hypothesis of an arm is an object with counts of its own, and every fact is added to each of
them. No code of the package is used except its stream of random numbers.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

from tarry.randomness import SELECT, Random
from tests.policies.literal import World
from tests.policies.literal_survival import draw as survival_draw


@dataclass
class Hypothesis:
    """The law of the arm began at `since`."""

    since: int
    weight: float
    bins: int
    usual: float  # how long the regimes before it have lasted, over tau
    plays: int = 0
    payoffs: list[list[float]] = field(default_factory=list)  # of the answers, by bin
    passes: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        """No counts."""
        self.payoffs, self.passes = [[] for _ in range(self.bins)], [0] * self.bins


@dataclass
class Arm:
    """The hypotheses of an arm, oldest first, and when it was played last."""

    hypotheses: list[Hypothesis] = field(default_factory=list)
    last: int = 0
    began: int = 0  # its first play
    level: float | None = None
    drawn: int = 0  # since its last play
    answers: list[tuple[int, float]] = field(default_factory=list)  # out at the start, and loss


class Regime:
    """The evidence of all arms."""

    def __init__(self, world: World, bins: int, tau: float | None) -> None:
        self.world, self.most, self.given = world, 12, tau
        self.odds = self.doubt = 1e-4 if tau is None else 1.0
        self.kinds: list[tuple[bool, int, int]] = []  # event or pass, bin, arm
        big_d = world.max_delay
        self.edges = sorted({round(big_d ** (i / (bins - 1))) for i in range(bins)})
        self.low = [0, *self.edges[:-1]]
        self.arms = [Arm() for _ in range(world.arms)]
        self.everything: list[tuple[int, bool, int]] = []  # play count, event or pass, bin
        self.started = 0
        self.ahead: dict[int, int] = {}  # by step: plays of its arm that were out then
        self.mix()

    def mix(self) -> None:
        """The prior, from the facts of all arms, faded at every sixteenth play."""
        size = len(self.edges)
        events, passes = [0.0] * size, [0.0] * size
        for when, event, b in self.everything:
            faded = (1 - 1 / 1000) ** (16 * (self.started // 16 - when // 16))
            (events if event else passes)[b] += faded
        n0 = events[0] + passes[0]
        lam = 0.8 * n0 / (n0 + 10)
        alive, g = 1.0, []
        for e, p in zip(events, passes, strict=True):
            h = e / (e + p) if e + p else 0.0
            g.append(alive * h)
            alive *= 1 - h
        self.a = [0.5 * ((1 - lam) * 0.2 / size + lam * x) for x in g]
        end = 0.5 * ((1 - lam) * 0.8 + lam * alive)
        self.r = [sum(self.a[b + 1 :]) + end for b in range(size)]

    def play(self, k: int, now: int) -> None:
        """Arm k is played."""
        world = self.world
        self.ahead[now] = sum(a == k and s + d >= now for s, a, d in world.plays[: now - 1])
        self.started += 1
        if self.started % 16 == 0:
            self.mix()
        arm = self.arms[k]
        held = arm.hypotheses
        moved, usual = 1.0, 1.0
        if held:
            stay = [math.exp(-(now - arm.last) / self.lasts(arm, h, now)) for h in held]
            leave = [h.weight * (1 - s) for h, s in zip(held, stay, strict=True)]
            moved = sum(leave)
            after = [self.usual_after(h, now) for h in held]
            usual = sum(x * u for x, u in zip(leave, after, strict=True)) / moved
            for h, s in zip(held, stay, strict=True):
                h.weight *= s
        if len(held) == self.most:
            inner = range(1, self.most - 1)
            light = [j for j in inner if held[j].weight < 0.01]
            if light:
                j = min(light, key=lambda j: (held[j - 1].plays / held[j + 1].plays, j))
            else:
                j = min(inner, key=lambda j: (held[j].weight, j))
            held[j + 1].weight += held[j].weight
            del held[j]
        arm.began = arm.began or now
        held.append(Hypothesis(now, moved, len(self.edges), usual))
        for h in held:
            h.plays += 1
        arm.last, arm.drawn = now, 0

    def lasts(self, arm: Arm, h: Hypothesis, now: int) -> float:
        """tau, or 5 times the age, at least 2 D, of a regime that began after the first play.

        There is a play in each step: between two of them is a time of 1.
        """
        tau = self.tau()
        if h.since == arm.began:
            return tau
        return min(tau, 5 * max(now - h.since, 2 * self.world.max_delay))

    def tau(self) -> float:
        """The time in which an arm is thought to change once."""
        return max(100 * self.world.max_delay, 1000) if self.given is None else self.given

    def usual_after(self, h: Hypothesis, now: int) -> float:
        """How long regimes of the arm last, over tau, if that of hypothesis h ends now."""
        age = max(now - h.since, 2 * self.world.max_delay)
        return math.sqrt(h.usual * min(1, age / self.tau()))

    def observe(self, k: int, b: int, payoff: float | None = None) -> None:
        """A fact about arm k: an answer in bin b, or, without a payoff, a play that outlived it."""
        held, event = self.arms[k].hypotheses, payoff is not None
        heard = [(e, i) for e, i, arm in self.kinds if arm == k and i == b]
        up = self.a[b] + sum(e for e, _ in heard)
        down = self.r[b] + sum(not e for e, _ in heard)
        self.odds /= up / (up + down) if event else 1 - up / (up + down)
        for h in held:
            up, down = self.a[b] + len(h.payoffs[b]), self.r[b] + h.passes[b]
            h.weight *= up / (up + down) if event else 1 - up / (up + down)
        total = sum(h.weight for h in held)
        self.odds = min(max(self.odds * total, self.doubt), 1e6)
        for h in held:
            h.weight /= total
            h.passes[b] += not event
            h.payoffs[b] += [] if payoff is None else [payoff]
        while len(held) > 1 and held[0].weight < 1e-6:
            del held[0]
        self.everything.append((self.started, event, b))
        self.kinds.append((event, b, k))

    def learn(self) -> None:
        """All facts of this step: answers, the latest play first, then ages, edge by edge."""
        world, big_d = self.world, self.world.max_delay
        rows = world.plays.tolist()
        for s, k, d in reversed(rows):
            if s + d == world.t - 1:
                if d < big_d:
                    b = sum(edge <= d for edge in self.edges)
                    self.observe(k, b, d / big_d)
                if d < big_d or world.reward:
                    loss = 1 - d / big_d if world.reward else d / big_d
                    self.arms[k].answers.append((self.ahead[s], loss))
        for b, edge in enumerate(self.edges):
            for s, k, d in rows:
                if world.t - s == edge and s + d >= world.t:
                    self.observe(k, b)

    def draw(self, k: int, least: float, rng: Random) -> float:
        """How far from the best payoff a draw of the mean of arm k is."""
        arm, world = self.arms[k], self.world
        if rng.random() >= self.odds / (1 + self.odds):  # nothing ever changes
            x = survival_draw(world, k, self.edges, rng)
            return 1 - x if world.reward else x
        arm.drawn += 1
        before = arm.level
        found, usual = self.choose(arm, least, rng)
        mean = self.draw_mean(found, rng)
        loss = 1 - mean if world.reward else mean
        if found:
            arm.level = loss if arm.level is None else 0.9 * arm.level + 0.1 * loss
        if before is None or arm.level is None or before <= least:
            return loss
        plays = usual * self.tau()  # until the regime ends: there is one in each step
        worth = plays >= 3000 or plays * (least - loss) > 30 * (before - least)
        return loss if worth else max(loss, arm.level)

    def choose(self, arm: Arm, least: float, rng: Random) -> tuple[Hypothesis | None, float]:
        """A hypothesis, or None if the arm has changed; and how long regimes last, over tau."""
        t, thin = self.world.t, 0.5
        if arm.level is not None and arm.level > least:
            m = t - 1 - arm.last  # plays of all arms since
            thin *= (least / arm.level) ** 0.35 * min(0.1 * m * least / (arm.level - least), 1)
        if not arm.hypotheses:
            return None, 1.0
        u, h = rng.random(), arm.hypotheses[-1]
        for h in arm.hypotheses:
            u -= h.weight
            if u < 0:
                break
        away = thin * (t - arm.last) / self.lasts(arm, h, t)
        if -u < h.weight * math.exp(-arm.drawn * away**2):
            return h, max(h.usual, min((arm.last - h.since) / self.tau(), 1))
        return None, self.usual_after(h, t)

    def draw_mean(self, found: Hypothesis | None, rng: Random) -> float:
        """A draw of the mean payoff under a hypothesis, or of an arm of which nothing is known."""
        world = self.world
        mean, alive = 0.0, 1.0
        for b, edge in enumerate(self.edges):
            x = (self.low[b] + edge - 1) / 2 / world.max_delay
            n, m, total = self.a[b], self.r[b], self.a[b] * x
            if found:
                n, m = n + len(found.payoffs[b]), m + found.passes[b]
                total += sum(found.payoffs[b])
            if alive >= 1e-9:
                hazard = rng.beta(n, m)
                mean += alive * hazard * total / n
                alive *= 1 - hazard
        return mean + alive

    def crowded(self, k: int) -> float:
        """How much slower than its mean arm k is with its present load."""
        answers = self.arms[k].answers
        weights = [(1 - 1 / 1000) ** i for i in range(len(answers))][::-1]
        total = sum(weights)
        if total < 10:
            return 1.0
        n = sum(w * x for w, (x, _) in zip(weights, answers, strict=True)) / total
        y = sum(w * x for w, (_, x) in zip(weights, answers, strict=True)) / total
        pairs = list(zip(weights, answers, strict=True))
        nn = sum(w * (x - n) ** 2 for w, (x, _) in pairs)
        ny = sum(w * (x - n) * (z - y) for w, (x, z) in pairs)
        yy = sum(w * (z - y) ** 2 for w, (_, z) in pairs)
        if y <= 0 or nn <= 1e-9 * total:
            return 1.0
        se = math.sqrt(max(yy - ny * ny / nn, 0) / (total - 2) / nn)
        rel = max(0, ny / nn - 0.1 * se) / y
        out = sum(a == k and s + d >= self.world.t for s, a, d in self.world.plays)
        return max(0.5, 1 + rel * (out - n))


def regime_thompson(
    world: World, rng: Random, *, bins: int, tau: float | None, load: bool
) -> Iterator[int]:
    """RegimeThompson."""
    regime = Regime(world, bins, tau)
    arms = range(world.arms)
    draws: dict[int, float] = {}
    last = other = -1
    while True:
        regime.learn()
        rng = rng.of_play(world.t, SELECT)
        least = min((arm.level for arm in regime.arms if arm.level is not None), default=0.0)
        anew = list(arms)
        if draws and world.arms > 3:
            anew = [last]
            while len(anew) < 3:
                other = (other + 1) % world.arms
                if other != last:
                    anew.append(other)
        for k in anew:
            draws[k] = regime.draw(k, least, rng)
        scores = [draws[k] * regime.crowded(k) if load else draws[k] for k in arms]
        last = min(arms, key=lambda k: (scores[k], len(world.of(k)), k))
        step = world.t
        yield last
        regime.play(last, step)
