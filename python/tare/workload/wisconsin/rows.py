"""The rows of a relation: one by one for tests and definitions, as CSV at the speed of a disk or a DBMS."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from tare._probe import write_wisconsin
from tare.errors import ExportFailed
from tare.workload.wisconsin import tuples_1983, tuples_1993
from tare.workload.wisconsin.kinds import Generation
from tare.workload.wisconsin.relations import Relation
from tare.workload.wisconsin.relations import relation as relation_of


def tuples(relation: Relation, rows: int) -> Iterator[tuple[Any, ...]]:
    """In load order, the values in the order of the relation's attributes, where the large relations have `rows`."""
    if relation.generation is Generation.Y1993:
        return tuples_1993.tuples(relation, rows)
    base = relation_of(relation.generation, relation.first_of) if relation.first_of else relation
    return tuples_1983.tuples(relation, base, rows)


def write_csv(relation: Relation, rows: int, to: Path, *, header: bool = False) -> int:
    """Writes the relation to a file, or into a named pipe (which waits for its reader); how many tuples.

    Commas between values, nothing quoted, each line ended by a line feed: what `Session.load` takes, unless a
    first line of names is asked for. Memory does not grow with the relation.
    Raises ExportFailed; its cause is BrokenPipeError where the pipe's reader has gone."""
    try:
        with to.open("wb") as out:
            _write(relation, rows, out, header)
    except OSError as error:
        raise ExportFailed(
            f"{relation.name} could not be written to {to}: {error.strerror or error}",
            "make room, or name another place",
        ) from error
    return relation.tuples(rows)


def _write(relation: Relation, rows: int, out: BinaryIO, header: bool) -> None:
    if relation.generation is Generation.Y1993:
        write_wisconsin(out.fileno(), tuples_1993.size(relation, rows), relation.tuples(rows), header)
        return
    if header:
        out.write((",".join(attribute.name for attribute in relation.attributes) + "\n").encode())
    for values in tuples(relation, rows):
        out.write((",".join(map(str, values)) + "\n").encode())
