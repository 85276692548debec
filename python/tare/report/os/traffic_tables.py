"""Tables of how messages are sent: gaps between them, their sizes and kinds, and where they go."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from tare.protocol.traffic import (
    SMALL_BYTES,
    Count,
    Gaps,
    Potential,
    Send,
    common_sizes,
    copy_gaps,
    counted,
    destination_shares,
    injection_gaps,
    is_encrypted,
    is_http,
    multicast_potential,
    quantile,
    size_histogram,
    traffic_matrix,
)
from tare.report.kit.blocks import Cell, Column, Kind, Row, Table
from tare.report.numbers import bytes_text, ms_text, thousands
from tare.report.os.traffic_potential import percent_text, share_of
from tare.report.os.traffic_sends import Matrix, Places, QueryTraffic
from tare.report.words import NOTHING

CLOSE_NS = 1_000_000
"""Gap below which the paper calls messages close in time."""

_COMMON = 3
_MOST_COLUMNS = 7


def query_copy_gaps(query: QueryTraffic) -> Gaps:
    """Gaps between copies of all executions, ns."""
    return _together(copy_gaps(sends) for sends in query.executions)


def query_injection_gaps(query: QueryTraffic) -> dict[str, Gaps]:
    """Gaps between messages by sender, of all executions, ns."""
    executions = [injection_gaps(sends) for sends in query.executions]
    senders = sorted({sender for execution in executions for sender in execution})
    return {
        sender: _together(execution[sender] for execution in executions if sender in execution)
        for sender in senders
    }


def _together(parts: Iterable[Gaps]) -> Gaps:
    return np.concatenate([np.array([], dtype=np.int64), *parts])


def gap_table(queries: Sequence[QueryTraffic]) -> Table:
    """Quantiles of the gaps between copies and between messages."""
    rows: list[Row | str] = []
    for query in queries:
        copies = query_copy_gaps(query)
        messages = _together(query_injection_gaps(query).values())
        close = percent_text(float(np.mean(messages < CLOSE_NS))) if messages.size else NOTHING
        rows.append(
            [
                query.name,
                thousands(copies.size),
                *(_gap_text(copies, share) for share in (0.1, 0.5, 0.9)),
                _gap_text(messages, 0.5),
                close,
            ]
        )
    return Table(
        "Time between copies of a content to different receivers, and between messages of a sender",
        [
            Column("query", Kind.NAME),
            *(Column(heading, group="copies") for heading in ("number", "10%", "median", "90%")),
            *(Column(heading, group="messages") for heading in ("median", "< 1 ms")),
        ],
        rows,
    )


def _gap_text(gaps: Gaps, share: float) -> str:
    gap = quantile(gaps, share)
    return NOTHING if gap is None else ms_text(gap / 1e6)


def kind_table(queries: Sequence[QueryTraffic]) -> Table:
    """Sizes of messages, and the kinds that their first bytes show."""
    rows: list[Row | str] = []
    for query in queries:
        total = counted(query.sends)
        http = [send for send in query.sends if is_http(send.head)]
        sizes = common_sizes(query.sends, _COMMON)
        frequent = ", ".join(
            f"{size} B: {percent_text(number / total.messages)}" for size, number in sizes if number > 1
        )
        rows.append(
            [
                query.name,
                Cell(_percent(counted(send for send in query.sends if send.bytes < SMALL_BYTES), total)),
                frequent or NOTHING,
                _percent(encrypted(query.sends), total),
                _percent(counted(http), total),
                _without_http(query) if http else NOTHING,
            ]
        )
    return Table(
        "Sizes and kinds of messages, % of their number",
        [
            Column("query", Kind.NAME),
            Column(f"< {SMALL_BYTES} B"),
            Column("most frequent sizes", Kind.PROSE),
            Column("TLS"),
            Column("HTTP control"),
            Column("saved without it"),
        ],
        rows,
    )


def size_table(queries: Sequence[QueryTraffic]) -> Table:
    """Histogram of sizes by power of two."""
    rows: list[Row | str] = []
    for query in queries:
        total = len(query.sends)
        for exponent, number in size_histogram(query.sends):
            least = bytes_text(2**exponent) if exponent >= 0 else "0 B"
            rows.append([query.name, least, thousands(number), percent_text(number / total)])
    return Table(
        "Messages by size, in classes of a power of two",
        [Column("query", Kind.NAME), Column("from"), Column("messages"), Column("% of messages")],
        rows,
        grouped=True,
        grows=True,
    )


def encrypted(sends: Iterable[Send]) -> Count:
    """Number and bytes of messages that begin as TLS records."""
    return counted(send for send in sends if is_encrypted(send.head))


def _without_http(query: QueryTraffic) -> str:
    """Reduction of the messages other than HTTP requests and responses."""
    rest = sum(
        (multicast_potential(send for send in sends if not is_http(send.head)) for sends in query.executions),
        Potential(),
    )
    return _percent(rest.multicast, rest.total)


def _percent(part: Count, total: Count) -> str:
    return percent_text(share_of(part, total)) if total.messages else NOTHING


def byte_table(queries: Sequence[QueryTraffic], places: Places) -> Table:
    """Bytes from node to node, of all queries."""
    matrix = places.named(traffic_matrix(send for query in queries for send in query.sends))
    total = sum(count.bytes for count in matrix.values())
    receivers = _receivers([matrix])
    rows: list[Row | str] = []
    for sender in dict.fromkeys(sender for sender, _ in matrix):
        sent = {receiver: count.bytes for (one, receiver), count in matrix.items() if one == sender}
        rows.append(
            [
                sender,
                bytes_text(sum(sent.values())),
                *(_share_text(share, total) for share in _columns(sent, receivers)),
            ]
        )
    return Table(
        "Bytes from each node (row) to each node or other host (column), % of all bytes",
        [Column("sender", Kind.NAME), Column("bytes"), *map(Column, _headings(receivers))],
        rows,
    )


def sender_table(queries: Sequence[QueryTraffic], places: Places) -> Table:
    """Number, pace and destinations of each sender's messages, query by query."""
    matrices = {query.name: places.named(traffic_matrix(query.sends)) for query in queries}
    receivers = _receivers(matrices.values())
    rows: list[Row | str] = []
    for query in queries:
        matrix = matrices[query.name]
        gaps = query_injection_gaps(query)
        for sender, shares in destination_shares(matrix).items():
            sent = sum(count.messages for (one, _), count in matrix.items() if one == sender)
            destinations = (_share_text(share, 1) for share in _columns(shares, receivers))
            rows.append([query.name, sender, thousands(sent), _gap_text(gaps[sender], 0.5), *destinations])
    return Table(
        "Messages of each sender, the median time between them, and the share that goes to each receiver",
        [
            Column("query", Kind.NAME),
            Column("sender", Kind.NAME),
            Column("messages"),
            Column("time between"),
            *map(Column, _headings(receivers)),
        ],
        rows,
        grouped=True,
        grows=True,
    )


def _receivers(matrices: Iterable[Matrix]) -> list[str]:
    """All receivers by name; those that get the most messages first where a table has no room for all."""
    received: dict[str, int] = {}
    for matrix in matrices:
        for (_, receiver), count in matrix.items():
            received[receiver] = received.get(receiver, 0) + count.messages
    if len(received) <= _MOST_COLUMNS + 1:
        return sorted(received)
    return sorted(received, key=lambda receiver: (-received[receiver], receiver))


def _headings(receivers: Sequence[str]) -> list[str]:
    if len(receivers) <= _MOST_COLUMNS + 1:
        return list(receivers)
    return [*receivers[:_MOST_COLUMNS], f"{len(receivers) - _MOST_COLUMNS} others"]


def _columns(values: Mapping[str, float], receivers: Sequence[str]) -> list[float]:
    """Values in the order of the headings; receivers without a column of their own are added up."""
    shown = receivers if len(receivers) <= _MOST_COLUMNS + 1 else receivers[:_MOST_COLUMNS]
    columns = [values.get(receiver, 0.0) for receiver in shown]
    rest = [values.get(receiver, 0.0) for receiver in receivers[len(shown) :]]
    return [*columns, sum(rest)] if rest else columns


def _share_text(value: float, total: float) -> str:
    return percent_text(value / total) if value else NOTHING
