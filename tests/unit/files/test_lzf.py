"""LZF: a plain compressor written here, and the decompressor undoes it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tussock.errors import InputError
from tussock.files.lzf import decompress


def compress(data: bytes) -> bytes:
    """Greedy and slow: the longest earlier match of up to 264 bytes, or a literal."""
    out, literals, place = bytearray(), bytearray(), 0

    def flush() -> None:
        for k in range(0, len(literals), 32):
            out.append(len(literals[k : k + 32]) - 1)
            out.extend(literals[k : k + 32])
        literals.clear()

    while place < len(data):
        best, back = 0, 0
        for start in range(max(0, place - 8192), place):
            length = 0
            while length < 264 and place + length < len(data) and data[start + length] == data[place + length]:
                length += 1
            if length > best:
                best, back = length, place - start - 1
        if best < 3:
            literals.append(data[place])
            place += 1
            continue
        flush()
        code = best - 2
        out.append(min(code, 7) << 5 | back >> 8)
        if code >= 7:
            out.append(code - 7)
        out.append(back & 255)
        place += best
    flush()
    return bytes(out)


def expanded(data: bytes, size: int) -> bytes:
    return decompress(np.frombuffer(data, np.uint8), size).tobytes()


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.binary(min_size=1, max_size=5), st.integers(1, 90)), max_size=8))
def test_what_was_compressed_comes_back(pieces):
    data = b"".join(piece * times for piece, times in pieces)
    assert expanded(compress(data), len(data)) == data


def test_far_matches_come_back():
    rng = np.random.default_rng(0)
    data = rng.bytes(40) + bytes(600) + b"\x01" * 600 + rng.bytes(30)
    data += data[:40]
    assert expanded(compress(data), len(data)) == data


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=60), st.integers(0, 500))
def test_rubbish_expands_or_is_refused_and_never_leaves_its_arrays(data, size):
    try:
        assert len(expanded(data, size)) == size
    except InputError as error:
        assert "damaged" in str(error)


@pytest.mark.parametrize("data", [b"\x05ab", b"\x20\x00", b"\xe0", b"\x00a\x20", b"\x00a\x20\x05", b"\x02abc"])
def test_each_kind_of_damage_is_refused(data):
    with pytest.raises(InputError, match="damaged"):
        expanded(data, 2)
