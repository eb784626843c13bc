"""Random numbers as values: the n-th reward of an arm is a function of (seed, run, arm, n) alone.

A stream is the pair (state, gamma) of SplitMix64 with an increment of its own (Steele, Lea and Flood
2014): the state grows by the odd `gamma`, and each output is a mix of the state. Normals come from a
ziggurat of 256 layers (Marsaglia and Tsang 2000); what a rejection needs in addition is mixed from the
same output, so that every draw takes exactly one step of the stream.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from ._jit import kernel

Words = npt.NDArray[np.uint64]

GAUSSIAN, BERNOULLI, UNIFORM = 0, 1, 2

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


@kernel("f8(u8[::1])")
def normal(stream: Words) -> float:
    """The next number of the stream, standard normal.

    Numerics: bits 0 to 7 choose the layer, bit 8 the sign, bits 11 to 63 the place in the layer. The layer
    stays an unsigned number: a signed one costs a check for a negative index.
    """
    word = next_word(stream)
    layer = word & _LAYER
    x: float = unit_uniform(word) * _ENDS[layer]
    if x >= _ENDS[layer + _1]:
        x = _normal_edge(word, layer, x)
    return x if (word & _SIGN) == _0 else -x


@kernel("f8(i8, f8, f8, u8[::1])")
def reward(family: int, mean: float, noise: float, stream: Words) -> float:
    """The next reward of an arm: normal with standard deviation `noise`, Bernoulli, or mean ± noise."""
    if family == GAUSSIAN:
        return mean + noise * normal(stream)
    if family == BERNOULLI:
        return 1.0 if uniform(stream) < mean else 0.0
    return mean + noise * (2.0 * uniform(stream) - 1.0)
