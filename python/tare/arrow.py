"""Arrow tables, received and read as numpy arrays.

pyarrow's own conversions load pandas where it is installed, which costs 0.4 s of CPU beside a measured program.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


def received(stream: Any) -> pa.Table:
    """Return the table that an object with the Arrow C stream interface holds."""
    return pa.RecordBatchReader.from_stream(stream).read_all()


def numbers(column: pa.ChunkedArray, absent: int | None = None) -> NDArray[Any]:
    """Return a column of numbers in its own type; with `absent`, which stands for nulls, as int64.

    Without it the column may have no nulls."""
    found = column.combine_chunks()
    if absent is None:
        return np.asarray(np.from_dlpack(found))
    known, held = found.buffers()
    bare = pa.Array.from_buffers(found.type, len(found), [None, held], offset=found.offset)
    whole = np.from_dlpack(bare).astype(np.int64)
    if known is not None:
        whole[~_bits(known, found)] = absent
    return whole


def flags(column: pa.ChunkedArray) -> NDArray[np.bool_]:
    """Return a column of truth values. It may have no nulls."""
    found = column.combine_chunks()
    return _bits(found.buffers()[1], found)


def words(column: pa.ChunkedArray) -> NDArray[np.object_]:
    """Return a column of words, of which there are few different ones. It may have no nulls."""
    coded = column.combine_chunks().dictionary_encode()
    different = np.asarray(coded.dictionary.to_pylist(), dtype=np.object_)
    return np.asarray(different[np.from_dlpack(coded.indices)])


def _bits(buffer: pa.Buffer, of: pa.Array) -> NDArray[np.bool_]:
    """Return the bits of an array's buffer that belong to its elements."""
    unpacked = np.unpackbits(np.frombuffer(buffer, dtype=np.uint8), bitorder="little")
    return unpacked[of.offset : of.offset + len(of)].astype(bool)
