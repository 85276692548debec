"""Size of the database that an execution meets: by it, a query that changes what its next run meets is recognised."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class TableRows:
    """Rows of a table as the DBMS itself counts them, without reading the table."""

    live: int  # DuckDB's count has those deleted since the last checkpoint
    dead: int = 0  # deleted or replaced, and still stored


@dataclass(frozen=True, slots=True)
class Extent:
    """`size_bytes`: of the database's files or pages, without its log; None where they are not visible. `rows`: by
    table; empty where the DBMS does not count them."""

    size_bytes: int | None
    rows: Mapping[str, TableRows] = field(default_factory=dict)


def size_of(files: Iterable[Path]) -> int | None:
    """Size of files in bytes; None where there is none. A file that is gone counts as nothing."""
    sizes = []
    for file in files:
        with suppress(OSError):
            sizes.append(file.stat().st_size)
    return sum(sizes) if sizes else None
