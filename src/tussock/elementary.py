"""A logarithm, an exponential, a cosine and a sine made of plain arithmetic.

Chance draws through them, and the shape of a pulse is made of them. A mathematics library differs in its last bits
from one system to the next; sums and products do not, so a seed gives the same bits everywhere, in kernels and in NumPy
alike. And without a call in them, loops over lanes become vector code. All are right to 2e-7.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tussock.kernels import inline_kernel

__all__ = ["cosine_of_turns", "exponential", "logarithm", "sine_of_turns"]

_ROOT_HALF = np.int32(0x3F3504F3)  # the bits of √½
_LN2 = np.float32(math.log(2.0))
_PER_LN2 = np.float32(1.0 / math.log(2.0))
_LN2_HIGH = np.float32(0.693359375)  # few bits: its product with a small whole number is exact
_LN2_LOW = np.float32(math.log(2.0) - 0.693359375)
_HALF, _LEAST = np.float32(0.5), np.float32(-87.0)
_E2, _E3, _E4, _E5, _E6, _E7 = (np.float32(1.0 / math.factorial(n)) for n in range(2, 8))
_ONE, _TWO = np.float32(1.0), np.float32(2.0)
_L3, _L5, _L7, _L9 = (np.float32(1.0 / n) for n in (3, 5, 7, 9))
_S1, _S3, _S5, _S7, _S9, _S11 = (
    np.float32((-1.0) ** (n // 2) * (2.0 * math.pi) ** n / math.factorial(n)) for n in (1, 3, 5, 7, 9, 11)
)


@inline_kernel
def logarithm(x: Any) -> Any:
    """ln x of a normal float32 above 0.

    x = 2^e·m with m in [√½, √2), and ln m = 2 artanh s, s = (m − 1)/(m + 1): five terms of its series.
    """
    bits = np.float32(x).view(np.int32)
    exponent = np.int32(np.int32(bits - _ROOT_HALF) >> 23)
    m = np.int32(bits - np.int32(exponent << 23)).view(np.float32)
    s = (m - _ONE) / (m + _ONE)
    z = s * s
    series = _ONE + z * (_L3 + z * (_L5 + z * (_L7 + z * _L9)))
    return np.float32(exponent) * _LN2 + _TWO * s * series


@inline_kernel
def exponential(x: Any) -> Any:
    """eˣ of a float32 up to 80; below −87, where it is next to nothing, that of −87.

    x = n·ln 2 + r with |r| ≤ ½ ln 2, and eʳ by eight terms of its series; ln 2 is taken off in two parts.
    """
    x = max(np.float32(x), _LEAST)
    n = np.floor(x * _PER_LN2 + _HALF)
    r = (x - n * _LN2_HIGH) - n * _LN2_LOW
    series = _ONE + r * (_ONE + r * (_E2 + r * (_E3 + r * (_E4 + r * (_E5 + r * (_E6 + r * _E7))))))
    scale = np.int32((np.int32(n) + np.int32(127)) << 23).view(np.float32)
    return series * scale


@inline_kernel
def cosine_of_turns(turns: Any) -> Any:
    """cos 2πt of a float32 in [0, 1].

    cos 2πt = sin 2πq with q = |t − ½| − ¼ in [−¼, ¼]: six terms of the series of the sine.
    """
    q = abs(turns - np.float32(0.5)) - np.float32(0.25)
    z = q * q
    return q * (_S1 + z * (_S3 + z * (_S5 + z * (_S7 + z * (_S9 + z * _S11)))))


@inline_kernel
def sine_of_turns(turns: Any) -> Any:
    """sin 2πt = cos 2π|t − ¼| of a float32 in [0, 1]."""
    return cosine_of_turns(abs(turns - np.float32(0.25)))
