"""A relation as a Parquet file, made of its very CSV through a pipe: some ten thousand tuples at a time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from tare.errors import ExportFailed
from tare.workload.wisconsin.pipe import piped
from tare.workload.wisconsin.relations import Kind, Relation
from tare.workload.wisconsin.rows import write_csv

_BLOCK_BYTES = 8 << 20  # of CSV: one row group


def write_parquet(relation: Relation, rows: int, to: Path) -> int:
    """How many tuples. Memory does not grow with the relation. Raises ExportFailed."""
    try:
        return piped(lambda pipe: write_csv(relation, rows, pipe), lambda pipe: _convert(relation, pipe, to))
    except (OSError, pa.ArrowException) as error:
        raise ExportFailed(
            f"{relation.name} could not be written to {to}: {error}", "make room, or name another place"
        ) from error


def _convert(relation: Relation, pipe: Path, to: Path) -> int:
    """Block by block: Arrow's own streaming reader of a pipe keeps all that it has read until the end."""
    schema = pa.schema(
        [
            pa.field(one.name, pa.string() if one.kind is Kind.STRING else pa.int32(), nullable=False)
            for one in relation.attributes
        ]
    )
    read = pyarrow.csv.ReadOptions(column_names=schema.names, use_threads=False)
    types = pyarrow.csv.ConvertOptions(column_types=schema)
    count = 0
    with pipe.open("rb") as stream, pyarrow.parquet.ParquetWriter(to, schema, compression="zstd") as writer:
        for block in _blocks(stream):
            table = pyarrow.csv.read_csv(pa.BufferReader(block), read, convert_options=types).cast(schema)
            writer.write_table(table, row_group_size=table.num_rows)
            count += table.num_rows
    return count


def _blocks(stream: BinaryIO) -> Iterator[bytes]:
    """Whole lines, some megabytes of them."""
    while block := stream.read(_BLOCK_BYTES):
        yield block + stream.readline()
