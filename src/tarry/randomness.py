"""Random numbers as a function of (seed, play, purpose), for rules in simulation and in live use.

The numbers of play n do not depend on what was drawn before: nothing is ever drawn twice, no
generator has to be saved, and two processes that know the seed and the number agree. A counter
runs through its own block of 2^20 words for each play and purpose, and is made random by the
finaliser of SplitMix64 (Steele, Lea, Flood 2014) with a second key in the middle:

    position = (4 n + purpose) * (GOLDEN << 20) + key0      (all of it modulo 2^64)
    x = position += GOLDEN
    x = (x ^ x >> 30) * MIX1;   x ^= key1;   x = (x ^ x >> 27) * MIX2;   x ^= x >> 31

Each step is a bijection, so within one seed no word comes twice (for n < 2^42).

The same page runs interpreted, where numbers are Python's and the masks keep them below 2^64, and
compiled, where they are unsigned words: the constants at or above 2^63 and `int(words[...])` see to
that, for a signed number beside an unsigned one would become a float.
"""

import math
from typing import NamedTuple

import numpy as np

from tarry.arrays import FloatArray, IntArray

SELECT, RETURN = 0, 1  # purposes: to decide on a play, and to take in its answer

M64 = 0xFFFF_FFFF_FFFF_FFFF
GOLDEN = 0x9E37_79B9_7F4A_7C15
BLOCK = (GOLDEN << 20) & M64  # each play has four, one per purpose
MIX1 = 0xBF58_476D_1CE4_E5B9
MIX2 = 0x94D0_49BB_1331_11EB
KEY0, KEY1, COUNTER = range(3)

TINY = 1e-290  # below, log(random) / shape may be infinite
LAYERS = 256  # of the ziggurat; its last layer ends at this x, with this area per layer
TAIL_START = 3.654152885361009
LAYER_AREA = 0.00492867323399


def ziggurat() -> tuple[FloatArray, FloatArray]:
    """Right ends of the layers of equal area that cover exp(-x^2 / 2), and its values there.

    Layer 0 is the box under the tail, as wide as its area asks for; the ends then fall from
    TAIL_START to 0.
    """
    strip = np.zeros(LAYERS + 1)
    strip[0] = LAYER_AREA / math.exp(-0.5 * TAIL_START * TAIL_START)
    strip[1] = TAIL_START
    for layer in range(2, LAYERS):
        before = strip[layer - 1]
        value = math.exp(-0.5 * before * before) + LAYER_AREA / before
        strip[layer] = math.sqrt(-2.0 * math.log(value))
    return strip, np.exp(-0.5 * strip**2)


STRIP, HEIGHT = ziggurat()


class Random(NamedTuple):
    """The source of randomness that `select` and `returned` are handed, set to their play."""

    words: IntArray  # uint64: two keys made from the seed, and how far the counter has come
    block: int = 0  # of this play and purpose

    def of_play(self, number: int, purpose: int) -> "Random":
        """The numbers of this play and purpose, from the first one on."""
        self.words[COUNTER] = 0
        return Random(self.words, 4 * number + purpose)

    def word(self) -> int:
        """63 random bits, as a whole number from 0 to 2^63 - 1: signed, compiled or not."""
        return int(np.int64(self._word() >> 1))

    def _word(self) -> int:
        """64 random bits: unsigned where compiled, so not for the arithmetic of rules."""
        self.words[COUNTER] = (int(self.words[COUNTER]) + GOLDEN) & M64
        start = int(np.uint64(self.block)) * BLOCK + int(self.words[KEY0])
        x = (start + int(self.words[COUNTER])) & M64
        x = ((x ^ (x >> 30)) * MIX1) & M64
        x = x ^ int(self.words[KEY1])
        x = ((x ^ (x >> 27)) * MIX2) & M64
        return x ^ (x >> 31)

    def random(self) -> float:
        """A number from 0 up to, but not, 1."""
        return (self._word() >> 11) * 2.0**-53

    def integers(self, count: int) -> int:
        """A whole number from 0 to count - 1, all equally likely."""
        if count < 1:
            raise ValueError("rng.integers needs a count of at least 1")
        return min(int(self.random() * count), count - 1)

    def exponential(self) -> float:
        """A draw from the exponential law with mean 1."""
        return -math.log(1.0 - self.random())

    def normal(self) -> float:
        """A draw from the standard normal law, by the ziggurat of Marsaglia and Tsang (2000)."""
        while True:
            bits = self._word()
            layer = int(bits & 255)
            share = ((bits >> 11) * 2.0**-53) * 2.0 - 1.0  # of the width, with a sign
            x = share * STRIP[layer]
            if abs(x) < STRIP[layer + 1]:
                return x
            if layer == 0:
                return self.beyond_tail(x)
            if self.under_curve(layer, x):
                return x

    def under_curve(self, layer: int, x: float) -> bool:
        """Whether a point of this layer, drawn above x, lies below the density."""
        low, high = HEIGHT[layer], HEIGHT[layer + 1]
        return low + self.random() * (high - low) < math.exp(-0.5 * x * x)

    def beyond_tail(self, side: float) -> float:
        """A draw from the normal law beyond the last layer, on this side (Marsaglia 1964)."""
        while True:
            x = self.exponential() / TAIL_START
            if 2.0 * self.exponential() > x * x:
                return TAIL_START + x if side > 0.0 else -TAIL_START - x

    def gamma(self, shape: float) -> float:
        """A draw from the gamma law with this shape and scale 1 (Marsaglia and Tsang 2000)."""
        if not shape > 0.0:
            raise ValueError("rng.gamma needs a shape above 0")
        boost = 1.0
        if shape < 1.0:
            boost = (1.0 - self.random()) ** (1.0 / shape)
            shape += 1.0
        d = shape - 1.0 / 3.0
        c = 1.0 / math.sqrt(9.0 * d)
        while True:
            x = self.normal()
            v = 1.0 + c * x
            if v <= 0.0:
                continue
            v = v * v * v
            u = 1.0 - self.random()
            if u < 1.0 - 0.0331 * x * x * x * x:
                return boost * d * v
            if math.log(u) < 0.5 * x * x + d * (1.0 - v + math.log(v)):
                return boost * d * v

    def beta(self, a: float, b: float) -> float:
        """A draw from the beta law: of two gammas; by Joehnk (1964) if no shape is above 1."""
        if not (a > 0.0 and b > 0.0):
            raise ValueError("rng.beta needs two shapes above 0")
        if a <= 1.0 and b <= 1.0:
            return self.beta_of_small(a, b)
        x = self.gamma(a)
        return x / (x + self.gamma(b))

    def beta_of_small(self, a: float, b: float) -> float:
        """Joehnk's way, in logarithms, where powers of small shapes would be 0.

        Shapes too small even for that leave the two ends, with the odds a to b.
        """
        if a < TINY and b < TINY:
            return 1.0 if self.random() < a / (a + b) else 0.0
        while True:
            x = math.log(1.0 - self.random()) / a
            y = math.log(1.0 - self.random()) / b
            top = max(x, y)
            total = top + math.log(math.exp(x - top) + math.exp(y - top))
            if total <= 0.0:
                return math.exp(x - total)


# The rare parts of draws, which would be a burden to the quick parts around them in one piece.
RARE = (Random.exponential, Random.beyond_tail, Random.under_curve, Random.beta_of_small)


def new_random(seed: int) -> Random:
    """The random numbers of this seed."""
    keys = np.random.SeedSequence(seed, spawn_key=(1,)).generate_state(2, np.uint64)
    return Random(np.array([keys[0], keys[1], 0], np.uint64))
