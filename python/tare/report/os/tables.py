"""Tables of an observation. A query is a heading within each table, and its roles are the rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from tare.report.kit.blocks import Cell, Column, Kind, Row, Table, Tone
from tare.report.kit.figure import Figure
from tare.report.numbers import percent, significant, thousands
from tare.report.os.document import (
    CacheReport,
    CallRow,
    Check,
    CheckResult,
    DiskReport,
    Estimate,
    OsReport,
    Part,
    QueryReport,
    RoleReport,
    SocketsReport,
    TimeParts,
)
from tare.report.os.sentences import CHECK_SIDES, check_figure, check_ratio, cpu_text, place, wall_text
from tare.report.words import NOTHING, counted

TOTAL = "all roles"
KERNEL_THREADS = "kernel threads*"

T = TypeVar("T")
Rows = list[Row | str]


def share_text(value: float | None) -> str:
    return NOTHING if value is None else percent(value)


def _time(ns: float | None, estimate: Estimate | None = None) -> Cell:
    if ns is None:
        return Cell(NOTHING)
    if estimate is None or estimate.low_ns is None or estimate.high_ns is None:
        return Figure(ns / 1e6, unit="ms").cell()
    return Figure(ns / 1e6, estimate.low_ns / 1e6, estimate.high_ns / 1e6, unit="ms").cell()


def _bytes(size: float | None) -> Cell:
    return Figure(size, unit="bytes").cell()


def count_text(count: float) -> str:
    return thousands(int(count)) if count.is_integer() else significant(count)


def _is_used(counts: CacheReport | DiskReport | SocketsReport | None) -> bool:
    """Return whether any of the counts is not 0."""
    return counts is not None and any(isinstance(count, float) and count for _, count in counts)


def _per_query(
    report: OsReport, part: Callable[[RoleReport], T | None], cells: Callable[[T], Row]
) -> Iterator[Row | str]:
    """Return the rows of the roles that have this part, below a heading for each query."""
    for query in report.queries:
        rows = [(role, found) for role in query.roles if (found := part(role)) is not None]
        if rows:
            yield query.name
        for role, found in rows:
            yield [place(role.node, role.role, report.has_nodes), *cells(found)]


def _roles(caption: str, headings: Sequence[str], rows: Rows) -> Table | None:
    if not rows:
        return None
    return Table(caption, [Column("role", Kind.NAME), *map(Column, headings)], rows)


# Time ------------------------------------------------------------------------------------
def _shown_parts(report: OsReport) -> list[Part]:
    """Return user and system where they are told apart, else CPU, and all other parts."""
    is_split = any(
        query.total is not None and query.total.parts_ns[Part.SYSTEM] is not None for query in report.queries
    )
    hidden = {Part.CPU} if is_split else {Part.USER, Part.SYSTEM}
    return [part for part in Part if part not in hidden]


def _wall(query: QueryReport) -> str:
    wall = query.wall
    if wall.low_ns is None or wall.high_ns is None:
        figure = Figure(wall.median_ns / 1e6, unit="ms")
    else:
        figure = Figure(wall.median_ns / 1e6, wall.low_ns / 1e6, wall.high_ns / 1e6, unit="ms")
    which = "" if query.executions == 1 else f", median of {counted(query.executions, 'execution')}"
    return f"{query.name}: wall {figure.text}{which}"


def time_table(report: OsReport) -> Table | None:
    """Shares of each role's present time."""
    parts = _shown_parts(report)

    def cells(role: str, time: TimeParts) -> Row:
        return [
            role,
            count_text(time.threads),
            _time(time.present_ns),
            *(share_text(time.shares[part]) for part in parts),
        ]

    rows: Rows = []
    for query in report.queries:
        if query.total is None:
            continue
        rows.append(_wall(query))
        rows.extend(
            cells(place(role.node, role.role, report.has_nodes), role.time)
            for role in query.roles
            if role.time is not None
        )
        if len(query.roles) > 1:
            rows.append(cells(TOTAL, query.total))
    return _roles(
        "Means over executions; shares are of the time present, summed over threads",
        ["threads", "present", *(part.value for part in parts)],
        rows,
    )


def absolute_table(report: OsReport) -> Table | None:
    """Times of each role, and medians of the total with their intervals."""
    parts = _shown_parts(report)
    rows: Rows = []
    for query in report.queries:
        if query.total is None:
            continue
        rows.append(query.name)
        for role in query.roles:
            if role.time is not None:
                parts_ns = role.time.parts_ns
                name = place(role.node, role.role, report.has_nodes)
                rows.append([name, *(_time(parts_ns[part]) for part in parts)])
        total = query.total
        rows.append([f"{TOTAL}, mean", *(_time(total.parts_ns[part]) for part in parts)])
        medians = [total.estimates.get(part) for part in parts]
        rows.append(
            [
                f"{TOTAL}, median",
                *(_time(median.median_ns, median) if median else Cell(NOTHING) for median in medians),
            ]
        )
    return _roles(
        "Means over executions, summed over threads; medians with 95% intervals, which need six executions",
        [part.value for part in parts],
        rows,
    )


# Calls, page cache, disk, sockets --------------------------------------------------------
def calls_table(report: OsReport) -> Table | None:
    rows: Rows = []
    for query in report.queries:
        for role in query.roles:
            if role.calls is None or not role.calls.rows:
                continue
            rows.append(f"{query.name}, {place(role.node, role.role, report.has_nodes)}")
            rows.extend(_call_cells(call.name, call) for call in role.calls.rows)
            if role.calls.others is not None:
                rows.append(_call_cells(f"{role.calls.other_kinds} others", role.calls.others))
    if not rows:
        return None
    headings = ("calls", "errors", "bytes", "CPU of a call", "CPU", "run queue", "disk", "sleep")
    return Table(
        "Calls of an execution, by CPU time; sleep includes other waits",
        [Column("call", Kind.NAME), *map(Column, headings)],
        rows,
    )


def _call_cells(name: str, call: CallRow) -> Row:
    return [
        name,
        count_text(call.count),
        count_text(call.errors),
        _bytes(call.bytes),
        _time(call.on_cpu_each_ns),
        *(_time(ns) for ns in (call.on_cpu_ns, call.run_queue_ns, call.block_io_ns, call.sleep_ns)),
    ]


def cache_table(report: OsReport) -> Table | None:
    """Table 3."""
    rows: Rows = list(
        _per_query(
            report,
            lambda role: role.cache if _is_used(role.cache) else None,
            lambda cache: [
                count_text(cache.reads),
                count_text(cache.requested),
                share_text(cache.ready),
                share_text(cache.in_flight),
                share_text(cache.missed),
                count_text(cache.ahead),
                count_text(cache.mapped),
            ],
        )
    )
    return _roles(
        f"Table 3: pages of {significant(report.observation.page_bytes)} B; shares are of the requested pages",
        ["reads", "pages requested", "ready", "in flight", "missed", "read ahead", "mapped"],
        rows,
    )


def disk_table(report: OsReport) -> Table | None:
    rows: Rows = []
    for query in report.queries:
        found = [
            (place(role.node, role.role, report.has_nodes), role.disk)
            for role in query.roles
            if role.disk is not None and _is_used(role.disk)
        ]
        if query.write_back is not None and _is_used(query.write_back):
            found.append((KERNEL_THREADS, query.write_back))
        if found:
            rows.append(query.name)
        rows.extend([name, *_disk_cells(disk)] for name, disk in found)
    return _roles(
        "Block requests of an execution, by their submitter; queue and device: time of a request",
        ["reads", "read", "of a read", "sequential", "writes", "written", "queue", "device"],
        rows,
    )


def _disk_cells(disk: DiskReport) -> Row:
    return [
        count_text(disk.reads),
        _bytes(disk.read_bytes),
        _bytes(disk.mean_read_bytes),
        share_text(disk.sequential),
        count_text(disk.writes),
        _bytes(disk.write_bytes),
        _time(disk.queued_ns),
        _time(disk.device_ns),
    ]


def sockets_table(report: OsReport) -> Table | None:
    rows: Rows = list(
        _per_query(
            report,
            lambda role: role.sockets if _is_used(role.sockets) else None,
            lambda sockets: [
                count_text(sockets.sends),
                _bytes(sockets.sent_bytes),
                count_text(sockets.receives),
                _bytes(sockets.received_bytes),
                count_text(sockets.local_sends),
                _bytes(sockets.local_sent_bytes),
                count_text(sockets.local_receives),
                _bytes(sockets.local_received_bytes),
            ],
        )
    )
    return _roles(
        "Calls on sockets of an execution; local: Unix sockets",
        ["sends", "sent", "receives", "received", "local sends", "local sent", "local receives",
         "local received"],
        rows,
    )  # fmt: skip


# Checks and overhead ---------------------------------------------------------------------
def checks_table(checks: Sequence[Check]) -> Table | None:
    if not checks:
        return None
    tones = {CheckResult.WITHIN: Tone.GOOD, CheckResult.OUTSIDE: Tone.CAUTION}
    rows: Rows = []
    for check in checks:
        sides = CHECK_SIDES[check.kind]
        rows.append(
            [
                check.query,
                f"{sides[0]} / {sides[1]}",
                check_figure(check, check.observed),
                check_figure(check, check.expected),
                check_ratio(check),
                Cell(check.result.value, tone=tones.get(check.result, Tone.QUIET)),
            ]
        )
    return Table(
        "Sums over all roles and observed executions",
        [
            Column("query", Kind.NAME),
            Column("check", Kind.PROSE),
            Column("first"),
            Column("second"),
            Column("ratio"),
            Column("result", Kind.NAME),
        ],
        rows,
        grouped=True,
    )


def overhead_table(report: OsReport) -> Table | None:
    """Overhead by query, where there are several."""
    by_query = [overhead for overhead in report.overheads if overhead.query is not None]
    if not by_query:
        return None
    return Table(
        "Traced over untraced executions, paired by number, with 95% intervals",
        [
            Column("query", Kind.NAME),
            Column("pairs"),
            Column("wall time", Kind.PROSE),
            Column("CPU time", Kind.PROSE),
        ],
        [
            [overhead.query or "", str(overhead.pairs), wall_text(overhead), cpu_text(overhead)]
            for overhead in by_query
        ],
    )
