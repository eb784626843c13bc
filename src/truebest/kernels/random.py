"""Random numbers as values: the n-th reward of an arm is a function of (seed, run, arm, n) alone.

A stream is the pair (state, gamma) of SplitMix64 with an increment of its own (Steele, Lea and Flood
2014): the state grows by the odd `gamma`, and each output is a mix of the state. Every draw takes exactly
one step of the stream; what a rejection needs in addition is mixed from the same output.

    normal             a ziggurat of 256 layers (Marsaglia and Tsang 2000)
    beta               from two gammas (Marsaglia and Tsang 2000)
    Poisson            by inversion for small means, else by PTRS (Hormann 1993)
    exponential        by inversion
    some arm's values  one of them, by its number

A kind of rewards is a branch in `reward`, or in `other_reward` if it is long: that one stays out of the loop
around it, which is what keeps the Gaussian one fast.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from ._jit import kernel
from ._types import Array

Words = npt.NDArray[np.uint64]

GAUSSIAN, BERNOULLI, UNIFORM, BETA, POISSON, EXPONENTIAL, SAMPLED = 0, 1, 2, 3, 4, 5, 6

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_A, _B = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_C, _D = np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53)
_ALTERNATING = np.uint64(0xAAAAAAAAAAAAAAAA)
_ODD, _PAIRS, _NIBBLES = (
    np.uint64(0x5555555555555555),
    np.uint64(0x3333333333333333),
    np.uint64(0x0F0F0F0F0F0F0F0F),
)
_BYTES = np.uint64(0x0101010101010101)
_0, _1, _2, _4, _11 = np.uint64(0), np.uint64(1), np.uint64(2), np.uint64(4), np.uint64(11)
_27, _30, _31, _33, _56 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(33), np.uint64(56)
_LAYER, _SIGN = np.uint64(255), np.uint64(256)


def _ziggurat() -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Right ends of the layers, widest first, and the density there; all layers have the same area."""
    r, area = 3.6541528853610088, 0.00492867323399
    x = [area * math.exp(0.5 * r * r), r]
    while len(x) < 256:
        x.append(math.sqrt(-2.0 * math.log(area / x[-1] + math.exp(-0.5 * x[-1] ** 2))))
    ends = np.array([*x, 0.0])
    return ends, np.exp(-0.5 * ends**2)


_ENDS, _DENSITY = _ziggurat()
_TAIL = float(_ENDS[1])

_WHOLE = 2.0**52  # a double from here on is a whole number, which may not fit into 64 bits

INVERTED = 10.0  # Poisson means up to here by inversion; PTRS needs at least this


@kernel("u8(u8)")
def mix(z: np.uint64) -> np.uint64:
    """A bijection of 64 bits that looks random (Stafford's variant 13)."""
    z = (z ^ (z >> _30)) * _A
    z = (z ^ (z >> _27)) * _B
    return z ^ (z >> _31)


@kernel("u8(u8)")
def odd_increment(z: np.uint64) -> np.uint64:
    """An odd number whose bits change often enough for an increment."""
    z = (z ^ (z >> _33)) * _C
    z = (z ^ (z >> _33)) * _D
    z = (z ^ (z >> _33)) | _1
    bits = z ^ (z >> _1)
    bits = bits - ((bits >> _1) & _ODD)
    bits = (bits & _PAIRS) + ((bits >> _2) & _PAIRS)
    bits = (bits + (bits >> _4)) & _NIBBLES
    if ((bits * _BYTES) >> _56) < np.uint64(24):
        return z ^ _ALTERNATING
    return z


@kernel("void(u8, u8, u8, u8[::1])")
def open_stream(seed: np.uint64, run: np.uint64, arm: np.uint64, stream: Words) -> None:
    """The stream of one arm in one run."""
    key = mix(seed + _GOLDEN)
    key = mix(key + _GOLDEN * (run + _1))
    key = mix(key + _GOLDEN * (arm + _1))
    stream[0] = key
    stream[1] = odd_increment(key + _GOLDEN)


@kernel("u8(u8[::1])")
def next_word(stream: Words) -> np.uint64:
    """64 random bits."""
    stream[0] = stream[0] + stream[1]
    return mix(stream[0])


@kernel("f8(u8)")
def unit_uniform(word: np.uint64) -> float:
    """A multiple of 2⁻⁵³ in [0, 1)."""
    return np.float64(np.int64(word >> _11)) * 2.0**-53  # through int64: cheaper to convert


@kernel("f8(u8[::1])")
def uniform(stream: Words) -> float:
    """The next number of the stream, uniform in [0, 1)."""
    return unit_uniform(next_word(stream))


@kernel("f8(u8)")
def _normal_tail(word: np.uint64) -> float:
    """The half-normal beyond the last layer, from the bits of `word`."""
    while True:
        word = mix(word + _GOLDEN)
        x = -math.log(1.0 - unit_uniform(word)) / _TAIL
        word = mix(word + _GOLDEN)
        if -2.0 * math.log(1.0 - unit_uniform(word)) > x * x:
            return _TAIL + x


@kernel("f8(u8, u8, f8)")
def _normal_edge(word: np.uint64, layer: np.uint64, x: float) -> float:
    """What the ziggurat does for the 1.5% of words that its rectangles do not decide."""
    while x >= _ENDS[layer + _1]:
        if layer == _0:
            return _normal_tail(word)
        height = unit_uniform(mix(word + _GOLDEN))
        low, high = _DENSITY[layer], _DENSITY[layer + _1]
        if low + height * (high - low) < math.exp(-0.5 * x * x):
            return x
        word = mix(word ^ _ALTERNATING)
        layer = word & _LAYER
        x = unit_uniform(word) * _ENDS[layer]
    return x


@kernel("f8(u8)")
def unit_normal(word: np.uint64) -> float:
    """A standard normal from one word.

    Numerics: bits 0 to 7 choose the layer, bit 8 the sign, bits 11 to 63 the place in the layer. The layer
    stays an unsigned number: a signed one costs a check for a negative index.
    """
    layer = word & _LAYER
    x: float = unit_uniform(word) * _ENDS[layer]
    if x >= _ENDS[layer + _1]:
        x = _normal_edge(word, layer, x)
    return x if (word & _SIGN) == _0 else -x


@kernel("f8(u8[::1])")
def normal(stream: Words) -> float:
    """The next number of the stream, standard normal."""
    return unit_normal(next_word(stream))


@kernel("u8(u8)")
def _further(word: np.uint64) -> np.uint64:
    """Another word from a word, none of those that a normal made of it may use."""
    return mix(word + _C)


@kernel("f8(f8, u8)", apart=True)
def _gamma(shape: float, word: np.uint64) -> float:
    """A gamma variable of scale 1 and shape at least 1 (Marsaglia and Tsang 2000).

    Numerics: the test rejects about one in 36 * shape; from 1e8 on rounding would decide, and it is left out.
    """
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        word = _further(word)
        x = unit_normal(word)
        v = 1.0 + c * x
        word = _further(word)
        if v > 0.0:
            v = v * v * v
            if d > 1e8:
                return d * v
            if math.log(1.0 - unit_uniform(word)) < 0.5 * x * x + d * (1.0 - v + math.log(v)):
                return d * v


@kernel("f8(f8, f8, u8)", apart=True)
def _beta(mean: float, noise: float, word: np.uint64) -> float:
    """A beta variable of that mean and standard deviation: X/(X+Y) of two gammas.

    Numerics: a gamma of shape a < 1 is one of shape a+1 times U^(1/a), a power that is kept as its logarithm,
    since it underflows for small a. A deviation that no double near the mean can hold is taken as none.
    """
    room, variance = mean * (1.0 - mean), noise * noise
    if variance * 1e30 <= room:
        return mean
    total = room / variance - 1.0
    a, b = mean * total, (1.0 - mean) * total
    word = _further(word)
    power = 0.0
    if a < 1.0:
        power -= math.log(1.0 - unit_uniform(word)) / max(a, 1e-300)
        a += 1.0
    x = _gamma(a, word)
    word = _further(word ^ _ALTERNATING)
    if b < 1.0:
        power += math.log(1.0 - unit_uniform(word)) / max(b, 1e-300)
        b += 1.0
    y = _gamma(b, word)
    if power > 700.0:
        return 0.0
    return x / (x + y * math.exp(power))


@kernel("f8(f8, f8)")
def _log_poisson(k: float, mean: float) -> float:
    """The logarithm of the probability of k.

    Numerics: from 16 on by Stirling's series around k = mean, where large terms would cancel otherwise.
    """
    if k < 16.0:
        total = k * math.log(mean) - mean
        for j in range(2, int(k) + 1):
            total -= math.log(float(j))
        return total
    x = (mean - k) / k
    series = (1.0 / 12.0 - (1.0 / 360.0 - 1.0 / (1260.0 * k * k)) / (k * k)) / k
    return k * (math.log1p(x) - x) - 0.5 * math.log(2.0 * math.pi * k) - series


@kernel("f8(f8, u8)", apart=True)
def _poisson(mean: float, word: np.uint64) -> float:
    """A Poisson variable: by inversion below a mean of INVERTED, else by PTRS (Hormann 1993)."""
    k = 0.0
    if mean < INVERTED:
        u, p = unit_uniform(word), math.exp(-mean)
        reached = p
        while u >= reached:
            k += 1.0
            p *= mean / k
            if reached + p == reached:  # rounding leaves nothing to add
                break
            reached += p
        return k
    b = 0.931 + 2.53 * math.sqrt(mean)
    a = -0.059 + 0.02483 * b
    inverse, v_r = 1.1239 + 1.1328 / (b - 3.4), 0.9277 - 3.6224 / (b - 2.0)
    while True:
        word = _further(word)
        u = unit_uniform(word) + 2.0**-54 - 0.5  # never an end
        word = _further(word)
        v = 1.0 - unit_uniform(word)
        us = 0.5 - abs(u)
        k = (2.0 * a / us + b) * u + mean + 0.43
        if abs(k) < _WHOLE:
            k = float(math.floor(k))
        if us >= 0.07 and v <= v_r:
            return k
        if k < 0.0 or (us < 0.013 and v > us):
            continue
        if math.log(v * inverse / (a / (us * us) + b)) <= _log_poisson(k, mean):
            return k


@kernel("f8(i8, f8, f8, u8)", apart=True)
def other_reward(family: int, mean: float, noise: float, word: np.uint64) -> float:
    """Rewards that take long to make: beta with standard deviation `noise`, Poisson, exponential."""
    if family == BETA:
        return _beta(mean, noise, word)
    if family == POISSON:
        return _poisson(mean, word)
    return 0.0 - mean * math.log(1.0 - unit_uniform(word))


@kernel("f8(i8, f8, f8, u8[::1])")
def reward(family: int, mean: float, noise: float, stream: Words) -> float:
    """The next reward of an arm: normal with standard deviation `noise`, Bernoulli, mean ± noise, others."""
    if family == GAUSSIAN:
        return mean + noise * normal(stream)
    if family == BERNOULLI:
        return 1.0 if uniform(stream) < mean else 0.0
    if family == UNIFORM:
        return mean + noise * (2.0 * uniform(stream) - 1.0)
    return other_reward(family, mean, noise, next_word(stream))


@kernel("f8(i8, const(f8[:, ::1]), const(f8[::1]), i8, u8[::1])")
def pull(family: int, nature: Array, pool: Array, arm: int, stream: Words) -> float:
    """The next reward of one of the arms.

    nature  (2, K): means and noise; for SAMPLED where an arm's values begin in `pool`, and how many there are
    pool    the values of all arms, from which SAMPLED rewards are drawn with replacement
    """
    if family == SAMPLED:
        return pool[int(nature[0, arm]) + int(uniform(stream) * nature[1, arm])]  # type: ignore[no-any-return]
    return reward(family, nature[0, arm], nature[1, arm], stream)
