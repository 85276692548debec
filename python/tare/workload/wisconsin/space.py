"""Whether the relations will fit on the server's disk, estimated before anything is made."""

from __future__ import annotations

import shutil
from collections.abc import Mapping

from tare.dbms.base import Server
from tare.errors import NotEnoughDisk
from tare.workload.wisconsin.layout import Layout
from tare.workload.wisconsin.relations import Relation

SMALL_TABLE = 8 << 20
"""Bytes of a table, however few its tuples: extents and blocks are not shared."""

_WORKING_COPIES, _WORKING_TUPLE = 2, 250
"""Copies of the largest relation, and bytes of a tuple there: result relations, and sorts by all attributes."""


def needed(layout: Layout, tuples: Mapping[Relation, int]) -> int:
    """Bytes at most, for relations with so many tuples, and for working with them."""
    tables = sum(occupied(layout, relation, count) for relation, count in tuples.items())
    working = _WORKING_COPIES * max(tuples.values(), default=0) * _WORKING_TUPLE
    return round(tables * (1 + layout.extra_copies)) + working + min(tables, layout.log_bytes)


def occupied(layout: Layout, relation: Relation, tuples: int) -> int:
    indexes = layout.index_bytes if relation.indexed else 0
    return SMALL_TABLE + tuples * (layout.tuple_bytes + indexes)


def check_space(server: Server, wanted: int, there: int) -> None:
    """`there`: what these relations occupy already, by the same estimate, and will give back.

    Does nothing where the disk cannot be seen. Raises NotEnoughDisk."""
    if not server.local or server.data_directory is None:
        return
    try:
        free = shutil.disk_usage(server.data_directory).free
    except OSError:
        return
    lacking = wanted - there - free
    if lacking > 0:
        raise NotEnoughDisk(
            f"the relations would take about {_shown(wanted)} in {server.data_directory} ({server.url}), where "
            f"{_shown(free)} are free"
            + (f" and {_shown(there)} are the benchmark's already" if there else ""),
            f"make {_shown(lacking)} of room, or ask for fewer rows",
        )


def _shown(bytes_: int) -> str:
    return f"{bytes_ / 1e9:,.2f} GB"
