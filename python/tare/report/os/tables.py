"""Tables of a trace: the paper's Tables 1, 2, 3 and 5, where the time went, and the checks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tare.os.calls import READS, TRANSFERS
from tare.os.checks import SOURCES, Agreement
from tare.os.tables import JIFFY_S
from tare.report.kit.blocks import Block, Cell, Column, Kind, Paragraph, Row, Table, Tone
from tare.report.kit.figure import Figure
from tare.report.numbers import bytes_text, ms_text, percent, thousands
from tare.report.os.document import (
    CallReport,
    MulticastReport,
    NodeReport,
    OsReport,
    RoleReport,
    SavingReport,
    StageReport,
    cpu_in_calls,
    time_of,
)
from tare.report.ratio import Ratio
from tare.report.words import NOTHING, counted, joined

BLOCK_BYTES = 4096
TOP_CALLS = 4
"""As in the paper's Table 1."""

LEAST_CALL = 0.005
"""Share of a query's CPU time in system calls from which a call is in the table."""

LEAST_SHARE = 0.0005
"""Share of the elapsed time below which a table shows 0%."""


# Table 1 -----------------------------------------------------------------------------------------
def profile(report: OsReport) -> Iterator[Block]:
    has_calls = report.level.has_calls
    rows: list[Row | str] = []
    for stage in report.stages:
        for node in stage.nodes:
            roles = [role for role in stage.roles if role.node == node.node]
            if roles:
                rows.append(_profile_row(stage, node, roles, has_calls))
    system = [Column("system"), Column("reading")] if has_calls else []
    yield Table(
        "Shares are of the elapsed time, so several CPUs make more than 100%; rates are per second",
        [
            Column("query" if any(stage.sql for stage in report.stages) else "load", Kind.NAME),
            Column("node", Kind.NAME),
            Column("user" if has_calls else "CPU"),
            *system,
            Column("faults"),
            Column("blocks read"),
            Column("blocks written"),
            Column("packets sent"),
            Column("packets received"),
            Column("CPU during I/O"),
        ],
        rows,
        grouped=True,
    )
    if has_calls:
        yield Table(
            "Calls with the most CPU time, and their shares of the CPU time in system calls",
            [
                Column("query", Kind.NAME),
                Column("node", Kind.NAME),
                Column("calls", Kind.PROSE),
            ],
            [
                [stage.name, node.node, _top_calls([r for r in stage.roles if r.node == node.node])]
                for stage in report.stages
                for node in stage.nodes
                if any(role.node == node.node for role in stage.roles)
            ],
            grouped=True,
        )
    yield Paragraph(
        f"A block is {BLOCK_BYTES} bytes. The paper counts by jiffies of {JIFFY_S * 1000:g} ms: a hundredth of these "
        'rates. "reading": CPU time in calls that read, without waits for the disk. "CPU during I/O": CPUs used while '
        "a block request of the node was open.",
        Tone.QUIET,
    )


def _profile_row(stage: StageReport, node: NodeReport, roles: Sequence[RoleReport], has_calls: bool) -> Row:
    elapsed, seconds = stage.elapsed, stage.elapsed / 1e9
    whole = time_of(roles)
    in_calls = cpu_in_calls(roles)
    reading = cpu_in_calls(roles, READS)
    counts = _counts(roles)
    faults = counts.get("faults_user", 0) + counts.get("faults_kernel", 0)
    system = [_share(in_calls / elapsed), _share(reading / elapsed)] if has_calls else []
    return [
        stage.name,
        node.node,
        _share((whole.on_cpu - in_calls) / elapsed),
        *system,
        _rate(faults / seconds),
        _block_rate(counts.get("block_read_bytes"), seconds),
        _block_rate(counts.get("block_write_bytes"), seconds),
        NOTHING if node.sent_packets is None else _rate(node.sent_packets / seconds),
        NOTHING if node.received_packets is None else _rate(node.received_packets / seconds),
        f"{node.busy / node.io:.2f}" if node.io > elapsed / 1000 else NOTHING,
    ]


def _block_rate(size: int | None, seconds: float) -> str:
    """None: another user's process, whose counters may not be read."""
    return NOTHING if size is None else _rate(size / BLOCK_BYTES / seconds)


def _top_calls(roles: Sequence[RoleReport]) -> str:
    sums: dict[str, int] = {}
    for role in roles:
        for call in role.calls:
            sums[call.name] = sums.get(call.name, 0) + call.spent.on_cpu
    whole = sum(sums.values())
    ranked = sorted(sums.items(), key=lambda pair: -pair[1])[:TOP_CALLS]
    return ", ".join(f"{name} {percent(ns / whole)}" for name, ns in ranked if whole and ns) or NOTHING


# Roles and calls -------------------------------------------------------------------------------
def roles(report: OsReport) -> Table:
    rows: list[Row | str] = []
    for stage, node, role in all_roles(report):
        if not _is_active(stage, role):
            continue
        whole = time_of([role])
        in_calls = cpu_in_calls([role])
        shares = [whole.on_cpu - in_calls, in_calls] if report.level.has_calls else [whole.on_cpu]
        rows.append(
            [
                stage.name,
                node,
                role.role,
                str(role.processes),
                *(_share(ns / stage.elapsed) for ns in (*shares, whole.run_queue, whole.block_io)),
                _share((whole.sleep + whole.other_wait) / stage.elapsed),
            ]
        )
    cpu = ["user", "system"] if report.level.has_calls else ["CPU"]
    return Table(
        "Shares of the elapsed time, added up over the role's threads",
        [
            Column("query", Kind.NAME),
            Column("node", Kind.NAME),
            Column("role", Kind.NAME),
            Column("processes"),
            *map(Column, (*cpu, "run queue", "disk", "asleep")),
        ],
        rows,
        grouped=True,
        grows=True,
    )


def _is_active(stage: StageReport, role: RoleReport) -> bool:
    """Whether its threads did more than sleep, to a figure that the table shows."""
    whole = time_of([role])
    return whole.on_cpu + whole.run_queue + whole.block_io >= LEAST_SHARE * stage.elapsed


def resting(report: OsReport) -> Iterator[Block]:
    resting: dict[str, int] = {}
    for stage, _, role in all_roles(report):
        if not _is_active(stage, role):
            resting[role.role] = max(resting.get(role.role, 0), role.processes)
    if resting:
        named = joined([f"{role} ({n})" if n > 1 else role for role, n in resting.items()])
        yield Paragraph(f"Asleep throughout: {named}.", Tone.QUIET)


def calls(report: OsReport) -> Table:
    rows: list[Row | str] = []
    for stage, node, role in all_roles(report):
        least = LEAST_CALL * cpu_in_calls(stage.roles)
        for call in role.calls:
            if call.count and call.spent.on_cpu >= least:
                rows.append([stage.name, node, role.role, *_call_row(call)])
    return Table(
        f"Calls with at least {percent(LEAST_CALL)} of the CPU time in system calls; the JSON report has all",
        [
            Column("query", Kind.NAME),
            Column("node", Kind.NAME),
            Column("role", Kind.NAME),
            Column("call", Kind.NAME),
            *map(Column, ("count", "errors", "CPU", "CPU a call", "disk", "asleep", "bytes a call")),
        ],
        rows,
        grouped=True,
        grows=True,
    )


def _call_row(call: CallReport) -> Row:
    waits = call.spent.sleep + call.spent.other_wait
    return [
        call.name,
        thousands(call.count),
        thousands(call.errors) if call.errors else NOTHING,
        ms_text(call.spent.on_cpu / 1e6),
        Figure(call.spent.on_cpu / call.count, unit="ns").cell(),
        ms_text(call.spent.block_io / 1e6) if call.spent.block_io else NOTHING,
        ms_text(waits / 1e6) if waits else NOTHING,
        bytes_text(call.bytes / call.count) if call.name in TRANSFERS and call.bytes else NOTHING,
    ]


# Page cache: Table 3 ---------------------------------------------------------------------------
CACHE = (
    "A buffered read is ready if all its pages were in the cache, in flight if it slept until read-ahead of an earlier "
    "read had brought them, and missing if it had to bring a page itself. The paper's Table 3 has hits of 40-60% for "
    "its prefetcher, whose read-ahead was not asynchronous."
)


def cache(report: OsReport) -> Table:
    rows: list[Row | str] = []
    for stage, node, role in all_roles(report):
        kinds = [role.counts.get(name, 0) for name in ("reads_ready", "reads_in_flight", "reads_missed")]
        if not (whole := sum(kinds)):
            continue
        requests = role.counts.get("block_reads", 0)
        rows.append(
            [
                stage.name,
                node,
                role.role,
                thousands(whole),
                *(_share(kind / whole) for kind in kinds),
                bytes_text(role.counts.get("block_read_bytes", 0)),
                bytes_text(role.counts["block_read_bytes"] / requests) if requests else NOTHING,
                _share(role.counts.get("block_read_sequential", 0) / requests) if requests else NOTHING,
            ]
        )
    return Table(
        "Buffered reads by what they found, and the block requests behind them",
        [
            Column("query", Kind.NAME),
            Column("node", Kind.NAME),
            Column("role", Kind.NAME),
            *map(Column, ("reads", "ready", "in flight", "missing", "from disk", "a request", "sequential")),
        ],
        rows,
        grouped=True,
    )


# Messages: Table 5 and Figure 5 --------------------------------------------------------------------
def messages(found: Sequence[tuple[StageReport, MulticastReport]]) -> Iterator[Block]:
    rows: list[Row | str] = []
    windows: list[Row | str] = []
    flows: list[Row | str] = []
    for stage, multicast in found:
        rows += [
            [stage.name, name, *_saving_row(saving)]
            for name, saving in (
                ("all", multicast.every),
                ("below 512 B", multicast.small),
                ("from 512 B", multicast.large),
                ("known to the receiver", multicast.cached),
            )
            if saving.messages
        ]
        windows.append([stage.name, *(_saved_share(saving) for saving in multicast.by_window_ms.values())])
        flows += [
            [stage.name, flow.node, flow.destination, thousands(flow.messages), bytes_text(flow.bytes)]
            for flow in multicast.flows
        ]
    yield Table(
        "Messages that one multicast could have carried: an upper bound, by comparison of whole payloads (Table 5)",
        [
            Column("query", Kind.NAME),
            Column("messages", Kind.NAME),
            *map(Column, ("count", "saved", "bytes", "bytes saved")),
        ],
        rows,
        grouped=True,
    )
    yield Table(
        "Saved if a message waits this long for its copies (Figure 5)",
        [Column("query", Kind.NAME), *(Column(f"{ms} ms") for ms in found[0][1].by_window_ms)],
        windows,
    )
    yield Table(
        "Messages by sender and destination (Figure 4)",
        [
            Column("query", Kind.NAME),
            Column("from", Kind.NAME),
            Column("to", Kind.NAME),
            Column("messages"),
            Column("bytes"),
        ],
        flows,
        grouped=True,
        grows=True,
    )
    unhashed = sum(multicast.unhashed for _, multicast in found)
    if unhashed:
        yield Paragraph(
            f"{counted(unhashed, 'message')} not judged: sendfile, splice and io_uring show no payload.",
            Tone.QUIET,
        )


def _saving_row(saving: SavingReport) -> Row:
    return [
        thousands(saving.messages),
        _saved_share(saving),
        bytes_text(saving.bytes),
        _share(saving.saved_bytes / saving.bytes) if saving.bytes else NOTHING,
    ]


def _saved_share(saving: SavingReport) -> str:
    return _share(saving.saved_messages / saving.messages) if saving.messages else NOTHING


# Checks ----------------------------------------------------------------------------------------------
def checks(report: OsReport) -> Iterator[Block]:
    tones = {Agreement.AGREES: Tone.GOOD, Agreement.DIFFERS: Tone.BAD}
    rows: list[Row | str] = [
        [
            check.quantity.value,
            Cell(check.agreement.value, tone=tones.get(check.agreement, Tone.PLAIN)),
            _quantity(check.quantity.value, check.traced),
            _quantity(check.quantity.value, check.least),
            percent(check.difference),
            str(check.processes),
            SOURCES[check.quantity],
        ]
        for check in report.checks
        if check.agreement is not Agreement.TOO_SMALL
    ]
    yield Table(
        "The trace against the kernel's own counters, for processes that lived through the window; 1% is allowed",
        [
            Column("quantity", Kind.NAME),
            Column("verdict", Kind.NAME),
            Column("traced"),
            Column("counted"),
            Column("outside"),
            Column("processes"),
            Column("counter", Kind.PROSE),
        ],
        rows,
    )
    small = [check.quantity.value for check in report.checks if check.agreement is Agreement.TOO_SMALL]
    if small:
        yield Paragraph(f"Too small to compare: {joined(small)}.", Tone.QUIET)


def _quantity(name: str, value: int) -> str:
    if "bytes" in name:
        return bytes_text(value)
    return thousands(value) if "calls" in name else ms_text(value / 1e6)


def price(report: OsReport) -> Iterator[Block]:
    rows: list[Row | str] = []
    for stage in report.stages:
        if not stage.executions:
            continue
        runs = stage.program_runs
        rows.append(
            [
                stage.name,
                _overhead(stage.wall_overhead),
                _overhead(stage.cpu_overhead),
                _share(stage.programs / stage.elapsed),
                thousands(runs),
                Figure(stage.programs / runs, unit="ns").cell() if runs else NOTHING,
                NOTHING if stage.idle_share is None else _share(stage.idle_share),
            ]
        )
    yield Table(
        "Price of the tracing: times of traced executions over plain ones, in turns, and the run time of its programs",
        [
            Column("query", Kind.NAME),
            *map(Column, ("wall", "CPU", "programs", "program runs", "a run", "CPU without the query")),
        ],
        rows,
    )


def _overhead(ratio: Ratio | None) -> Cell | str:
    if ratio is None:
        return NOTHING
    if ratio.high / ratio.low > 1.5:
        return f"not measurable here ({ratio.low:.2f} to {ratio.high:.2f})"
    return Cell(f"{ratio.value:.3f}", interval=f"[{ratio.low:.3f}, {ratio.high:.3f}]")


# Figures --------------------------------------------------------------------------------------------
def all_roles(report: OsReport) -> Iterator[tuple[StageReport, str, RoleReport]]:
    for stage in report.stages:
        for role in stage.roles:
            yield stage, role.node, role


def _counts(roles: Sequence[RoleReport]) -> dict[str, int]:
    found: dict[str, int] = {}
    for role in roles:
        for name, n in role.counts.items():
            found[name] = found.get(name, 0) + n
    return found


def _share(share: float) -> str:
    return percent(share) if share >= LEAST_SHARE else "0%"


def _rate(value: float) -> str:
    return thousands(round(value)) if value >= 10 or value == 0 else f"{value:.1f}"
