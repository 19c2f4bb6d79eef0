"""Compressed points: what a file says of itself is checked before the decompressor takes memory for it."""

from __future__ import annotations

import io
import struct
from pathlib import Path

import numpy as np
import pytest

from tussock.errors import InputError
from tussock.files.formats import load_frame
from tussock.files.las_checks import check_before_reading

laspy = pytest.importorskip("laspy", reason="needs the extra las: pip install 'tussock[las]'")
COUNT = 60_000
"""points: two chunks, of 50,000 and of the rest"""


@pytest.fixture(scope="module", params=[1, 3, 6, 7, 8])
def compressed(request: pytest.FixtureRequest) -> bytes:
    """A file of chunks of whole points (formats 1 and 3) or of layers, with extra bytes in format 7."""
    header = laspy.LasHeader(point_format=request.param, version="1.4")
    cloud = laspy.LasData(header)
    cloud.x, cloud.y, cloud.z = np.random.default_rng(0).uniform(-50, 50, (3, COUNT))
    if request.param == 7:
        cloud.add_extra_dim(laspy.ExtraBytesParams("quality", np.float32))
    file = io.BytesIO()
    cloud.write(file, do_compress=True)
    return file.getvalue()


def table_of(data: bytes) -> int:
    start = struct.unpack_from("<I", data, 96)[0]
    return int(struct.unpack_from("<q", data, start)[0])


def checked(data: bytes | bytearray) -> None:
    check_before_reading(io.BytesIO(data), len(data))


def test_whole_files_pass(compressed):
    checked(compressed)


def test_a_table_whose_place_is_at_the_end(compressed):
    """As a writer does that cannot go back: -1 at the start of the points."""
    start = struct.unpack_from("<I", compressed, 96)[0]
    streamed = bytearray(compressed) + struct.pack("<q", table_of(compressed))
    struct.pack_into("<q", streamed, start, -1)
    checked(streamed)
    struct.pack_into("<q", streamed, len(streamed) - 8, 2**40)
    with pytest.raises(InputError, match="table of chunks lies outside the file"):
        checked(streamed)


@pytest.mark.parametrize("place", [-2, 0, 100, 2**31, 2**62])
def test_a_table_outside_the_file(compressed, place):
    data = bytearray(compressed)
    struct.pack_into("<q", data, struct.unpack_from("<I", data, 96)[0], place)
    with pytest.raises(InputError, match="table of chunks lies outside the file"):
        checked(data)


@pytest.mark.parametrize("chunks", [2**32 - 1, 2**28, 10**6])
def test_more_chunks_than_fit(compressed, chunks, tmp_path: Path):
    """Asked for 68 GB, the decompressor ended the process."""
    data = bytearray(compressed)
    struct.pack_into("<I", data, table_of(data) + 4, chunks)
    (tmp_path / "a.laz").write_bytes(data)
    with pytest.raises(InputError, match=rf"a\.laz: its table has {chunks:,} chunks, which the file cannot hold"):
        load_frame(tmp_path / "a.laz")


def test_lengths_in_a_damaged_table(compressed):
    """Whatever its bytes say: the lengths that the decompressor would believe fit into the file, or it is refused."""
    import lazrs

    table, refused = table_of(compressed), 0
    chance = np.random.default_rng(1)
    for _ in range(60):
        data = bytearray(compressed)
        for at in chance.integers(table + 8, len(data), 2):
            data[at] = chance.integers(256)
        try:
            checked(data)
        except InputError:
            refused += 1
        except BaseException as error:
            assert type(error).__name__ == "PanicException", error  # told by the loader
        else:
            file = io.BytesIO(data)
            file.seek(struct.unpack_from("<I", data, 96)[0])
            record = laspy.open(io.BytesIO(data)).header.vlrs.get("LasZipVlr")[0].record_data
            assert sum(length for _, length in lazrs.read_chunk_table(file, lazrs.LazVlr(record))) <= len(data)
    assert refused > 5
