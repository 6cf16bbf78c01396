"""SurvivalRegression and LinearThompson written down a second time, with matrices and plainly.

The loop, the scaling and the regressions are those of the formulas; nothing of the package is used
but its random numbers, the drawn Beta law of `literal_survival`, and contexts and delays.
"""

import math
from typing import Any

import numpy as np

from tarry.problems import Contextual
from tarry.randomness import SELECT, new_random
from tests.policies.literal_survival import drawn_beta


class Literal:
    """What both policies share: bins, scales, the order in which plays are told of."""

    def __init__(self, problem: Contextual, reward: bool, bins: int) -> None:
        self.problem, self.reward, self.bins = problem, reward, bins
        self.most, self.arms = problem.max_delay, problem.arms
        ages = np.rint(np.geomspace(1, self.most, bins)).astype(int)
        self.edges = sorted(set(ages.tolist()))
        self.size = len(self.edges)
        shape = (self.arms, self.size)
        self.events, self.passes = np.zeros(shape), np.zeros(shape)
        self.first, self.second = np.zeros(shape), np.zeros(shape)
        self.seen: list[Any] = []  # features of all requests so far
        self.plays = np.zeros(self.arms, int)

    def prior(self, mass: float, end: float) -> tuple[Any, Any]:
        """a_b and r_b."""
        a = np.full(self.size, mass * (1 - end) / self.size)
        return a, mass * end + a * np.arange(self.size - 1, -1, -1)

    def scaled(self, x: Any) -> Any:
        """The features of a request on the scale of all seen so far."""
        z = np.zeros(len(x))
        for j, value in enumerate(x):
            column = [float(row[j]) for row in self.seen if not math.isnan(row[j])]
            if column and not math.isnan(value):
                mean, n = float(np.mean(column)), len(column)
                deviation = float(np.std(column))
                if deviation > 1e-9 * abs(mean):
                    z[j] = np.clip((value - mean) / deviation * math.sqrt(n / (n + 2)), -4, 4)
        return z

    def count_event(self, arm: int, b: int, delay: int) -> None:
        """An answer."""
        self.events[arm, b] += 1
        self.first[arm, b] += delay / self.most
        self.second[arm, b] += (delay / self.most) ** 2

    def run(self, horizon: int, seed: int) -> list[int]:
        """The arms played."""
        rng = new_random(seed)
        rows = self.problem.contexts(seed, np.arange(1, horizon + 1))
        made: list[tuple[int, int, Any]] = []  # arm, delay, features
        for t in range(1, horizon + 1):
            x = self.problem.features[rows[t - 1]]
            arm = self.choose(x, rng.of_play(t, SELECT))
            self.plays[arm] += 1
            self.seen.append(x)
            self.begun(arm, x)
            made.append((arm, int(self.problem.delays(seed, t, arm)), x))
            for s in range(t, 0, -1):  # answers, the latest play first
                played, delay, features = made[s - 1]
                if s + delay == t and delay < self.most:
                    b = sum(edge <= delay for edge in self.edges)
                    self.answered(s, played, b, delay, features)
            for b, edge in enumerate(self.edges):
                s = t + 1 - edge
                if s >= 1 and made[s - 1][1] >= edge:
                    self.lasted(s, made[s - 1][0], b, made[s - 1][2])
        return [arm for arm, _, _ in made]

    def choose(self, x: Any, rng: Any) -> int:
        """Which arm to play."""
        raise NotImplementedError

    def begun(self, arm: int, x: Any) -> None:
        """The arm was played for this request."""

    def answered(self, s: int, arm: int, b: int, delay: int, x: Any) -> None:
        """The play of step s ended in bin b."""
        raise NotImplementedError

    def lasted(self, s: int, arm: int, b: int, x: Any) -> None:
        """The play of step s is known to have outlived bin b."""
        raise NotImplementedError


class Regression(Literal):
    """SurvivalRegression."""

    def __init__(self, problem: Contextual, reward: bool, bins: int) -> None:
        super().__init__(problem, reward, bins)
        p = problem.features.shape[1]
        self.a, self.r = self.prior(1.0, 0.97) if reward else self.prior(0.5, 0.8)
        self.age = 2 * np.arange(self.size) / max(self.size - 1, 1) - 1
        self.m = m = p + 1  # terms: the features and a constant
        self.w = np.zeros((self.arms, 2 * m))
        self.cov0 = np.diag([1 / p] * m + [0.5 / p] * m)
        self.cov = np.array([self.cov0 for _ in range(self.arms)])
        self.gram = np.array([np.eye(m) for _ in range(self.arms)])  # I + sum of z z' over plays
        self.back = np.zeros((self.arms, self.size))
        self.tilted = np.zeros((self.arms, self.size))
        self.belief = np.zeros(self.arms)
        self.told: dict[tuple[int, str], list[Any]] = {}  # outcomes, by arm and very same request
        self.often: dict[str, int] = {}  # requests with curves, and their weights

    def choose(self, x: Any, rng: Any) -> int:
        """Believe in contexts or not; the least draw."""
        z = np.append(self.scaled(x), 1.0)
        coin = rng.random()
        distances = []
        contextual = [coin <= 1 / (1 + math.exp(-self.belief[arm])) for arm in range(self.arms)]
        curves = [self.own_curve(arm, x) for arm in range(self.arms)]
        against = [
            own is not None and bool(own.contradicts(self.expected(arm, z, contextual[arm])))
            for arm, own in enumerate(curves)
        ]
        for arm, own in enumerate(curves):
            if own is not None and against[arm]:
                rest = (1 - rng.random()) ** (1 / (own.events[0, 0] + own.passes[0, 0]))
                mean, square = own.mean_of_plays(0, own.passes[0], rng)
                y = self.better(drawn_beta(mean, square, rng), mean)
                distances.append(rest * ((1 - y) if self.reward else y))
            else:
                few = self.own_plays(arm, x) if any(against) else None
                distances.append(self.draw(arm, z, contextual[arm], rng, few))
        order = sorted(range(self.arms), key=lambda i: (distances[i], self.plays[i], i))
        return order[0]

    def own_curve(self, arm: int, x: Any) -> "Regression | None":
        """All that plays of an arm for the very same request have shown, as if it were alone."""
        if (arm, str(x)) not in self.told:
            return None
        alone = Regression(self.problem, self.reward, self.bins)
        for b, delay in self.told[arm, str(x)]:
            if delay is None:
                alone.passes[0, b] += 1
            else:
                alone.count_event(0, b, delay)
        return alone

    def expected(self, arm: int, z: Any, contextual: bool) -> float:
        """The mean payoff, without any draw."""
        if not contextual:
            return self.plain_moments(arm)[0]
        steady, change = self.w[arm][: self.m] @ z, self.w[arm][self.m :] @ z
        return self.tilted_mean(arm, steady + self.age * change)[0]

    def plain_moments(self, arm: int) -> tuple[float, float]:
        """Mean and mean square of the mean payoff, D where nothing has been."""
        mean = square = 1.0
        for b in range(self.size - 1, -1, -1):
            if self.events[arm, b] > 0:
                e, r = self.first[arm, b], self.passes[arm, b]
                n = self.events[arm, b] + r
                square = self.second[arm, b] + e**2 + 2 * e * r * mean + r * (r + 1) * square
                square, mean = square / (n * (n + 1)), (e + r * mean) / n
        return mean, square

    def contradicts(self, expected: float) -> bool:
        """Whether the plays of arm 0 cannot have this mean payoff."""
        n = self.events[0, 0] + self.passes[0, 0]
        if n == 0:
            return False
        mean, square = self.plain_moments(0)
        last = int(np.flatnonzero(self.events[0] + self.passes[0] > 0)[-1])
        unknown = 0.0
        if last + 1 < self.size:
            both = (self.events[0] + self.passes[0])[: last + 1]
            unknown = float(np.prod(self.passes[0][: last + 1] / both))
        apart = abs(mean - expected) - unknown
        return apart > 0 and apart > 3 * math.sqrt(max(square - mean**2, 0) + (0.5 / (n + 1)) ** 2)

    def better(self, one: float, other: float) -> float:
        """Of two mean payoffs."""
        return max(one, other) if self.reward else min(one, other)

    def own_plays(self, arm: int, x: Any) -> float | None:
        """So many plays of an arm for this very request, if few and if the request is usual."""
        if self.often.get(str(x), 0) < 4 * self.arms:
            return None
        own = self.own_curve(arm, x)
        n = 0 if own is None else own.events[0, 0] + own.passes[0, 0]
        return float(n) if n < 10 else None

    def draw(self, arm: int, z: Any, contextual: bool, rng: Any, own: float | None) -> float:
        """How far the mean payoff is from the best one."""
        n = self.events[arm, 0] + self.passes[arm, 0]
        if n == 0:
            return 0.0
        heard = 1 - self.expected_answers(arm) / n if self.reward else 1.0
        if contextual:
            n = min(n, self.m / (z @ np.linalg.inv(self.gram[arm]) @ z))
            if own is not None and n > 1.5 * self.m * (own + 1):
                n = 2 * (own + 1)
        rest = (1 - rng.random()) ** (1 / n)
        if contextual:
            two = np.zeros((2, 2 * self.m))
            two[0, : self.m] = two[1, self.m :] = z
            mean = two @ self.w[arm]
            share = (1.5 if self.reward else 1) * heard / (1 + math.sqrt(self.m))
            cov = share * (two @ self.cov[arm] @ two.T)
            one, other = rng.normal(), rng.normal()
            deviation = math.sqrt(max(cov[0, 0], 0))
            along = cov[0, 1] / deviation if deviation > 0 else 0.0
            change = mean[1] + along * one + math.sqrt(max(cov[1, 1] - along**2, 0)) * other
            usual, _ = self.tilted_mean(arm, mean[0] + self.age * mean[1])
            m, m2 = self.tilted_mean(arm, mean[0] + deviation * one + self.age * change)
            y = drawn_beta(m, m**2 + heard * (m2 - m**2), rng)
        else:
            usual, square = self.mean_of_plays(arm, self.passes[arm], rng)
            y = drawn_beta(usual, square, rng)
        y = self.better(y, usual)
        return float(rest * ((1 - y) if self.reward else y))

    def common(self) -> tuple[Any, Any, Any]:
        """In each bin, plays as they went for all arms: how many end, with what payoff, go on."""
        back, tilted = self.back.sum(axis=0), self.tilted.sum(axis=0)
        ends, payoffs, rests = np.zeros((3, self.size))
        for b in range(self.size):
            total = back[b] + tilted[b]
            some = min(2.0, total)
            if total > 0:
                ends[b], rests[b] = some * back[b] / total, some * tilted[b] / total
            if self.events[:, b].sum() > 0:
                payoffs[b] = self.first[:, b].sum() / self.events[:, b].sum()
        return ends, payoffs, rests

    def expected_answers(self, arm: int) -> float:
        """Of the plays that are out and were heard of."""
        ends, _, rests = self.common()
        total = 0.0
        for b in range(1, self.size):
            here = self.passes[arm, b - 1] - self.passes[arm, b] - self.events[arm, b]
            some = ends[b:] + rests[b:] > 0
            lasting = np.prod(rests[b:][some] / (ends[b:] + rests[b:])[some])
            total += here * (1 - lasting)
        return total

    def balanced(self, arm: int) -> Any:
        """Passes that make the odds of the bins with the events, without any tilt."""
        some = self.back[arm] > 0
        ratio = np.divide(self.events[arm], self.back[arm], out=np.ones(self.size), where=some)
        return self.tilted[arm] * ratio

    def tilted_mean(self, arm: int, tilts: Any) -> tuple[float, float]:
        """Mean and mean square of Y with contexts, the odds of each bin tilted."""
        ends, payoffs, rests = self.common()
        mean = square = 1.0
        for b in range(self.size - 1, -1, -1):
            if self.events[arm, b] + ends[b] == 0:
                continue
            e = self.first[arm, b] + ends[b] * payoffs[b]
            e2 = self.second[arm, b] + ends[b] * payoffs[b] ** 2
            r = (self.balanced(arm)[b] + rests[b]) * math.exp(-np.clip(tilts[b], -5, 5))
            n = self.events[arm, b] + ends[b] + r
            square = e2 + e**2 + 2 * e * r * mean + r * (r + 1) * square
            square, mean = square / (n * (n + 1)), (e + r * mean) / n
        return mean, square

    def mean_of_plays(self, arm: int, passes: Any, rng: Any) -> tuple[float, float]:
        """Mean and mean square of Y without contexts, with these passes."""
        events = self.events[arm]
        last = int(np.flatnonzero(events + self.passes[arm] > 0)[-1])
        mean = square = 1.0
        if last + 1 < self.size or passes[last] == 0:
            if events[last] > 0:
                mean = self.first[arm, last] / events[last]
                if passes[last] > 0:
                    hazard = rng.beta(events[last], passes[last])
                    mean = hazard * mean + (1 - hazard)
            square = mean**2
            last -= 1
        for b in range(last, -1, -1):
            if events[b] > 0:
                e, r, n = self.first[arm, b], passes[b], events[b] + passes[b]
                square = self.second[arm, b] + e**2 + 2 * e * r * mean + r * (r + 1) * square
                square, mean = square / (n * (n + 1)), (e + r * mean) / n
        return mean, square

    def begun(self, arm: int, x: Any) -> None:
        """The arm knows one more request."""
        z = np.append(self.scaled(x), 1.0)
        self.gram[arm] += np.outer(z, z)
        if str(x) in self.often or len(self.often) < 64:
            self.often[str(x)] = self.often.get(str(x), 0) + 1
        else:
            self.often = {key: weight - 1 for key, weight in self.often.items() if weight > 1}
            self.told = {key: told for key, told in self.told.items() if key[1] in self.often}

    def tell(self, arm: int, x: Any, what: Any) -> None:
        """An outcome of a request that has a curve."""
        if str(x) in self.often:
            self.told.setdefault((arm, str(x)), []).append(what)

    def outcome(self, arm: int, b: int, x: Any, y: int) -> None:
        """One outcome."""
        z = np.append(self.scaled(x), 1.0)
        u = np.concatenate([z, self.age[b] * z])
        big_a, big_r = self.a[b] + self.events[arm, b], self.r[b] + self.balanced(arm)[b]
        eta = float(np.clip(self.w[arm] @ u, -5, 5))
        g = self.cov[arm] @ u
        q = float(u @ g)
        o = big_a / big_r * math.exp(eta)
        m = o / (1 + o)
        v = m * (1 - m)
        if v >= 1e-9:
            oc = math.exp((math.log(big_a / big_r) + eta) / math.sqrt(1 + math.pi * q / 8))
            on = big_a / (self.r[b] + self.passes[arm, b])
            step = math.log((1 + on) / (1 + oc)) + y * math.log(oc / on)
            self.belief[arm] = min(max(self.belief[arm] + step, -10), 10)
            big_v = 1 / big_a + 1 / big_r
            known = max(0.0, 1 - q / float(u @ self.cov0 @ u))
            i = v + known * (y - m) * (1 - 2 * m)
            self.w[arm] += g * (y - m) / (1 + v * (big_v + q))
            self.cov[arm] -= np.outer(g, g) * i / (1 + i * (big_v + q))
        if y:
            self.back[arm, b] += 1 - m
        else:
            self.tilted[arm, b] += (1 - m) * math.exp(eta / (1 + q))

    def answered(self, s: int, arm: int, b: int, delay: int, x: Any) -> None:
        """An event."""
        self.outcome(arm, b, x, 1)
        self.count_event(arm, b, delay)
        self.tell(arm, x, (b, delay))

    def lasted(self, s: int, arm: int, b: int, x: Any) -> None:
        """A pass."""
        self.outcome(arm, b, x, 0)
        self.passes[arm, b] += 1
        self.tell(arm, x, (b, None))


class Linear(Literal):
    """LinearThompson: w is solved for anew from all targets at every change."""

    def __init__(self, problem: Contextual, reward: bool, bins: int) -> None:
        super().__init__(problem, reward, bins)
        size = problem.features.shape[1] + 1
        self.a, self.r = self.prior(0.5, 0.8)
        low = np.concatenate(([0], self.edges[:-1]))
        self.centre = (low + np.array(self.edges) - 1) / 2 / self.most
        self.gram = np.array([np.eye(size) for _ in range(self.arms)])
        self.moment = np.zeros((self.arms, size))
        self.targets: dict[int, float] = {}
        self.squares, self.judged = np.full(self.arms, 0.25), np.ones(self.arms)

    def choose(self, x: Any, rng: Any) -> int:
        """The best draw."""
        u = np.concatenate([[1.0], self.scaled(x)])
        values = []
        for arm in range(self.arms):
            inverse = np.linalg.inv(self.gram[arm])
            noise = math.sqrt(self.squares[arm] / self.judged[arm])
            deviation = noise * math.sqrt(u @ inverse @ u)
            values.append(u @ inverse @ self.moment[arm] + deviation * rng.normal())
        return int(np.argmax(values) if self.reward else np.argmin(values))

    def aim(self, s: int, arm: int, x: Any, target: float, known: bool) -> None:
        """The target of the play of step s."""
        u = np.concatenate([[1.0], self.scaled(x)])
        if s not in self.targets:
            self.gram[arm] += np.outer(u, u)
        self.moment[arm] += u * (target - self.targets.get(s, 0.0))
        self.targets[s] = target
        if known:
            w = np.linalg.solve(self.gram[arm], self.moment[arm])
            self.squares[arm] += (target - u @ w) ** 2
            self.judged[arm] += 1

    def answered(self, s: int, arm: int, b: int, delay: int, x: Any) -> None:
        """The payoff is known."""
        self.count_event(arm, b, delay)
        self.aim(s, arm, x, delay / self.most, known=True)

    def lasted(self, s: int, arm: int, b: int, x: Any) -> None:
        """It is guessed from those who lasted as long."""
        self.passes[arm, b] += 1
        mean = 1.0
        for j in range(self.size - 1, b, -1):
            beyond = self.r[j] + self.passes[arm, j]
            ended = self.a[j] + self.events[arm, j]
            known = self.a[j] * self.centre[j] + self.first[arm, j]
            mean = (known + beyond * mean) / (ended + beyond)
        self.aim(s, arm, x, mean, known=b == self.size - 1)
