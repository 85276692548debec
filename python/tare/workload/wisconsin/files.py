"""The benchmark's relations as files for other programs: CSV or Parquet, all of them whole or none."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from tare.errors import ExportFailed, NotEnoughDisk, UsageError
from tare.files import synced
from tare.workload.wisconsin.kinds import Format
from tare.workload.wisconsin.relations import Relation
from tare.workload.wisconsin.rows import tuples, write_csv

_SAMPLE = 1_000  # tuples


_SHARE = {Format.CSV: 1.0, Format.PARQUET: 0.2}
"""Size over that of the CSV, at most."""


@dataclass(frozen=True, slots=True)
class Written:
    relation: str
    path: Path
    tuples: int
    bytes: int


def write_files(
    relations: Sequence[Relation],
    rows: int,
    folder: Path,
    kind: Format,
    *,
    header: bool = True,
    replace: bool = False,
    told: Callable[[Path], None] = lambda path: None,
) -> list[Written]:
    """Write a file for each relation. They get their names together, once the last one is whole.

    `told` hears of each before it is written.
    Raises UsageError for files that are there, unless they may be replaced; NotEnoughDisk before anything is
    written; ExportFailed, and nothing half-written is left."""
    targets = {relation: folder / f"{relation.name}.{kind}" for relation in relations}
    there = [str(path) for path in targets.values() if path.exists()]
    if there and not replace:
        raise UsageError(
            f"{', '.join(there)} {'is' if len(there) == 1 else 'are'} there already",
            "name another folder, or have them replaced with --replace",
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _check_space(relations, rows, folder, kind)
        with tempfile.TemporaryDirectory(prefix=".wisconsin.", suffix=".partial", dir=folder) as name:
            partial = {relation: Path(name) / path.name for relation, path in targets.items()}
            for relation, path in partial.items():
                told(targets[relation])
                _WRITERS[kind](relation, rows, path, header)
                synced(path)
            written = [
                Written(relation.name, targets[relation], relation.tuples(rows), path.stat().st_size)
                for relation, path in partial.items()
            ]
            for relation, path in partial.items():
                path.replace(targets[relation])
        synced(folder)
        return written
    except OSError as error:
        raise ExportFailed(
            f"{folder} could not be written to: {error.strerror or error}; nothing half-written is left",
            "make room, or name a folder that you may write to",
        ) from error


def estimated_bytes(relations: Sequence[Relation], rows: int, kind: Format) -> int:
    """At most, from each relation's first tuples."""
    return round(sum(_line(one, rows) * one.tuples(rows) for one in relations) * _SHARE[kind])


def _line(relation: Relation, rows: int) -> int:
    """The longest of the first tuples, with room for unique2 to grow."""
    first = islice(tuples(relation, rows), _SAMPLE)
    return max(len(",".join(map(str, one))) + 1 for one in first) + len(str(relation.tuples(rows)))


def _check_space(relations: Sequence[Relation], rows: int, folder: Path, kind: Format) -> None:
    wanted, free = estimated_bytes(relations, rows, kind), shutil.disk_usage(folder).free
    if wanted > free:
        raise NotEnoughDisk(
            f"the files would take about {wanted / 1e9:,.2f} GB in {folder}, where {free / 1e9:,.2f} GB are free",
            f"make {(wanted - free) / 1e9:,.2f} GB of room, or ask for fewer rows or relations"
            + (", or for Parquet" if kind is Format.CSV else ""),
        )


def _csv(relation: Relation, rows: int, path: Path, header: bool) -> None:
    write_csv(relation, rows, path, header=header)


def _parquet(relation: Relation, rows: int, path: Path, header: bool) -> None:
    from tare.workload.wisconsin.parquet import write_parquet

    write_parquet(relation, rows, path)


_WRITERS: dict[Format, Callable[[Relation, int, Path, bool], None]] = {
    Format.CSV: _csv,
    Format.PARQUET: _parquet,
}
