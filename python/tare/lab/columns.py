"""Columns of the lab that an analysis gets, and their types there, whatever the source calls them.

What only a reader of single QEs asks for stays in the lab: command lines, plans, each CPU by itself, raw
readings, and the counters that no protocol and no model uses: of bytes (TTPv2 §6.1 tells why it left them out),
minor faults, forks and context switches of the whole machine.
"""

from __future__ import annotations

from collections.abc import Mapping

import sqlalchemy as sa

from tare.lab.schema import metadata

TABLES = ("experiment", "dbms", "run", "query", "qatc", "qe", "process")

LEFT_OUT: Mapping[str, frozenset[str]] = {
    "experiment": frozenset({"specification"}),
    "dbms": frozenset({"settings"}),
    "qatc": frozenset({"plan"}),
    "qe": frozenset(
        {
            "error", "started_at", "row_count", "answer_hash", "leader_user_ns", "leader_system_ns",
            "leader_interrupt_ns", "leader_how", "instructions", "overall_forks", "overall_context_switches",
            "births", "exits", "page_cache_bytes", "file_bytes", "buffer_bytes", "page_cache_how", "buffer_how",
            "buffers_emptied", "own_cpu_ns", "own_snapshots_ns", "own_rss_bytes",
        }
    ),
    "process": frozenset(
        {
            "ppid", "cmdline", "kernel", "cpu", "user_ns", "system_ns", "slices", "min_faults",
            "read_chars", "write_chars", "read_bytes", "write_bytes",
        }
    ),
}  # fmt: skip


def columns(table: str) -> tuple[sa.Column[object], ...]:
    """Return the columns that an analysis gets, in the lab's order."""
    left_out = LEFT_OUT.get(table, frozenset())
    return tuple(column for column in metadata.tables[table].columns if column.name not in left_out)


def ibis_type(column: sa.Column[object]) -> str:
    """Whole numbers are int64 throughout: engines then agree on sums, and nothing overflows."""
    if isinstance(column.type, sa.Boolean):
        return "boolean"
    if is_text(column):
        return "string"
    if isinstance(column.type, sa.Integer):
        return "int64"
    raise TypeError(f"{column.table.name}.{column.name} is {column.type!r}: no analysis reads that")


def is_text(column: sa.Column[object]) -> bool:
    return isinstance(column.type, sa.Text | sa.JSON)
