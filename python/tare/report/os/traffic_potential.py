"""Tables of what multicast, a window or a cache would save, with the values of Zhang et al., Table 5, beside them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from tare.protocol.statistics import summarise
from tare.protocol.traffic import (
    SMALL_BYTES,
    WINDOWS_MS,
    Count,
    Potential,
    multicast_potential,
    window_curve,
)
from tare.report.kit.blocks import Cell, Column, Kind, Row, Table
from tare.report.numbers import fixed, thousands
from tare.report.os.traffic_sends import QueryTraffic
from tare.report.words import NOTHING

PAPER = {
    1: (44.7, 71.4, 38.7), 2: (20.4, 58.7, 0.2), 3: (48.2, 64.3, 38.0), 4: (22.6, 58.6, 0.1), 5: (8.0, 7.1, 8.4),
    6: (76.4, 78.6, 45.5), 7: (57.5, 71.4, 56.2), 8: (29.1, 75.5, 4.8), 9: (66.8, 78.5, 61.1), 10: (25.0, 73.6, 0.1),
    11: (9.6, 28.6, 0.1), 12: (8.3, 7.8, 2.9), 13: (24.5, 75.2, 0.1), 14: (27.9, 80.4, 0.7), 15: (46.6, 56.5, 0.7),
    16: (59.1, 63.0, 56.9), 17: (41.5, 66.7, 27.3), 18: (11.4, 32.3, 0.0), 19: (26.7, 79.4, 0.2),
    20: (21.1, 62.8, 0.1),
}  # fmt: skip
"""Reduction of all, small and large messages by number, percent: a commercial engine on eight nodes."""

PAPER_HEADING = "paper, %"

TABLE_WINDOWS_MS = (0.1, 0.5, 1.0, 5.0, 20.0, 100.0)
"""Windows that the table shows; the chart shows all."""

Part = Callable[[Potential], Count]

_TPCH = re.compile(r"q0?(\d{1,2})", re.IGNORECASE)


class QueryPotential:
    """Potential of each execution of a query: of all its messages, of the small and of the large ones."""

    def __init__(self, query: QueryTraffic) -> None:
        self.name = query.name
        self.all = [multicast_potential(sends) for sends in query.executions]
        self.small = [
            multicast_potential(send for send in sends if send.bytes < SMALL_BYTES)
            for sends in query.executions
        ]
        self.large = [
            multicast_potential(send for send in sends if send.bytes >= SMALL_BYTES)
            for sends in query.executions
        ]
        self.total = sum(self.all, Potential())
        curves = [window_curve(sends) for sends in query.executions]
        self.curve = tuple(sum(window, Count()) for window in zip(*curves, strict=True))

    @property
    def share(self) -> float:
        """Share of messages that multicast would save at most. 0 without messages."""
        return share_of(self.total.multicast, self.total.total)

    @property
    def curve_shares(self) -> tuple[float, ...]:
        """Share of messages that each window would save."""
        return tuple(share_of(saved, self.total.total) for saved in self.curve)


def share_of(part: Count, total: Count) -> float:
    """Return the share of the messages. 0 if there are none."""
    return part.messages / total.messages if total.messages else 0.0


def percent_text(share: float) -> str:
    """A share with one decimal, as the paper has it: 37.5%, less than 0.1%, 0%."""
    if share == 0:
        return "0%"
    return f"{fixed(100 * share, 1)}%" if share >= 0.0005 else "<0.1%"


def share_cell(potentials: Sequence[Potential], part: Part, *, by_bytes: bool = False) -> Cell:
    """Share of a part, by number or by bytes: median over executions, with its 95% interval if there are enough."""
    shares = [part(potential).shares(potential.total) for potential in potentials]
    summary = summarise([None if share is None else share[int(by_bytes)] for share in shares])
    if summary.median is None:
        return Cell(NOTHING)
    interval = summary.interval
    ends = [] if interval is None else [fixed(100 * end, 1) for end in (interval.low, interval.high)]
    return Cell(percent_text(summary.median), interval=f"[{', '.join(ends)}]" if len(set(ends)) > 1 else "")


def multicast(potential: Potential) -> Count:
    """Messages that multicast saves."""
    return potential.multicast


def potential_table(queries: Sequence[QueryPotential]) -> Table:
    """Table 5: reduction of all, small and large messages, by number."""
    papers = [_paper(query.name) for query in queries]
    has_paper = any(papers)
    rows: list[Row | str] = [
        [
            query.name,
            thousands(query.total.total.messages),
            *(share_cell(part, multicast) for part in (query.all, query.small, query.large)),
            *([paper or NOTHING] if has_paper else []),
        ]
        for query, paper in zip(queries, papers, strict=True)
    ]
    return Table(
        f"Messages that multicast would save at most, by number (small: less than {SMALL_BYTES} B)",
        [
            Column("query", Kind.NAME),
            Column("messages"),
            Column("all"),
            Column("small"),
            Column("large"),
            *([Column(PAPER_HEADING)] if has_paper else []),
        ],
        rows,
    )


def _paper(query: str) -> str | None:
    number = _TPCH.fullmatch(query)
    values = PAPER.get(int(number[1])) if number else None
    return None if values is None else " / ".join(f"{value:.1f}" for value in values)


def cache_table(queries: Sequence[QueryPotential]) -> Table:
    """Savings by bytes, and what caches at the receivers would save."""
    others: tuple[Part, ...] = (lambda one: one.cache, lambda one: one.both, lambda one: one.unhashed)
    rows: list[Row | str] = [
        [
            query.name,
            *(share_cell(part, multicast, by_bytes=True) for part in (query.all, query.small, query.large)),
            *(share_cell(query.all, other) for other in others),
        ]
        for query in queries
    ]
    return Table(
        "Bytes saved by multicast, and messages saved by caches at the receivers, at most",
        [
            Column("query", Kind.NAME),
            *(Column(heading, group="bytes") for heading in ("all", "small", "large")),
            Column("caches"),
            Column("with multicast"),
            Column("no hash"),
        ],
        rows,
    )


def window_table(queries: Sequence[QueryPotential]) -> Table:
    """Savings within some windows, and without a limit of time."""
    rows: list[Row | str] = []
    for query in queries:
        shares = dict(zip(WINDOWS_MS, query.curve_shares, strict=True))
        rows.append(
            [
                query.name,
                *(percent_text(shares[window]) for window in TABLE_WINDOWS_MS),
                percent_text(query.share),
            ]
        )
    return Table(
        "Messages saved by multicast within a window after the first one",
        [
            Column("query", Kind.NAME),
            *(Column(f"{window:g} ms") for window in TABLE_WINDOWS_MS),
            Column("no limit"),
        ],
        rows,
    )
