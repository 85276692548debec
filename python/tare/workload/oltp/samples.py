"""Every transaction of a run as Parquet, made of what the driver wrote, a block at a time."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tare.errors import ExportFailed
from tare.files import synced

RECORD = np.dtype(
    [
        ("kind", "<u2"),
        ("end", "u1"),
        ("tries", "u1"),
        ("connection", "<u4"),
        ("arrival", "<u8"),
        ("intended", "<i8"),
        ("started", "<i8"),
        ("ended", "<i8"),
    ]
)
"""Record as `crates/tare-load/src/oltp/driver/sample.rs` lays it out."""

ENDS = (
    "committed",
    "rolled_back",
    "deadlock",
    "serialization_failure",
    "lock_timeout",
    "lost",
    "error",
    "shed",
    "unstarted",
)
"""By number: how a transaction ended, its counts' order."""

_NO_CONNECTION = 2**32 - 1  # and instants of 0: it was never sent

_BLOCK = 1 << 16  # records: one row group
_NS = {"unit": "ns since the start of the measured part"}
_WORDS = pa.dictionary(pa.int16(), pa.string())
_SCHEMA = pa.schema(
    [
        pa.field("type", _WORDS, nullable=False),
        pa.field("end", _WORDS, nullable=False),
        pa.field("tries", pa.uint8(), nullable=False),
        pa.field("connection", pa.uint32()),
        pa.field(
            "arrival",
            pa.uint64(),
            nullable=False,
            metadata={"meaning": "its number in the schedule; closed loop: on its connection"},
        ),
        pa.field("intended_ns", pa.int64(), nullable=False, metadata=_NS),
        pa.field("started_ns", pa.int64(), metadata=_NS),
        pa.field("ended_ns", pa.int64(), metadata=_NS),
    ]
)


@contextmanager
def beside(target: Path) -> Iterator[Path]:
    """A place for the driver's file, gone afterwards."""
    try:
        with tempfile.TemporaryDirectory(
            prefix=f".{target.name}.", suffix=".partial", dir=target.parent
        ) as name:
            yield Path(name) / "samples"
    except OSError as error:
        raise _failed(target, error) from error


def write_parquet(raw: Path, types: Sequence[str], started_ns: int, target: Path) -> int:
    """How many there were. `raw` is of `beside`; `started_ns`: the start of the measured part, on the driver's clock.

    The file is there whole or not at all. Raises ExportFailed."""
    partial = raw.with_name("parquet")
    try:
        with pq.ParquetWriter(partial, _SCHEMA, compression="zstd") as writer, raw.open("rb") as stream:
            count = 0
            while block := stream.read(_BLOCK * RECORD.itemsize):
                records = np.frombuffer(block, RECORD)  # ValueError: it was cut off
                writer.write_table(_table(records, types, started_ns))
                count += len(records)
        synced(partial)
        partial.replace(target)
        with suppress(OSError):
            synced(target.parent)
        return count
    except (OSError, ValueError, pa.ArrowException) as error:
        raise _failed(target, error) from error


def _table(records: np.ndarray, types: Sequence[str], started_ns: int) -> pa.Table:
    return pa.Table.from_arrays(
        [
            _words(records["kind"], types),
            _words(records["end"], ENDS),
            pa.array(records["tries"]),
            pa.array(records["connection"], mask=records["connection"] == _NO_CONNECTION),
            pa.array(records["arrival"]),
            pa.array(records["intended"] - started_ns),
            pa.array(records["started"] - started_ns, mask=records["started"] == 0),
            pa.array(records["ended"] - started_ns, mask=records["ended"] == 0),
        ],
        schema=_SCHEMA,
    )


def _words(numbers: np.ndarray, words: Sequence[str]) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(numbers.astype(np.int16)), pa.array(list(words)))


def _failed(target: Path, error: Exception) -> ExportFailed:
    said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return ExportFailed(
        f"the samples could not be written to {target}: {said}", "make room, or name a file on another disk"
    )
