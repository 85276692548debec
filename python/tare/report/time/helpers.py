"""Table of the processes that worked for a query beside its leader, and how each is known."""

from __future__ import annotations

from collections.abc import Sequence

from tare.report.kit.blocks import Column, Kind, Row, Table
from tare.report.kit.figure import Figure
from tare.report.result import HelperResult

MOST = 8  # rows

WORDS = {
    "child": "child of a query process",
    "session": "left behind by a query process",
    "client": "its client is a query process",
    "parallel-worker": "parallel worker of such a backend",
    "short-connection": "inferred: the query connects to its server",
    "shared-server": "not counted: it may serve others, too",
    "unseen-client": "not counted: its client was gone too soon",
    "hidden": "not counted: its client is hidden from this user",
}


def table(found: Sequence[HelperResult]) -> Table:
    rows: list[Row] = [
        [
            f"{len(one.pids)} × {one.comm}" if len(one.pids) > 1 else f"{one.comm} ({one.pids[0]})",
            Figure(one.run_ms, unit="ms").cell(),
            WORDS[one.relation],
        ]
        for one in found[:MOST]
    ]
    columns = [
        Column("who worked for it", Kind.NAME),
        Column("run time a QE"),
        Column("how it is known", Kind.PROSE),
    ]
    return Table("", columns, rows)
