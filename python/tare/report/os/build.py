"""From a trace to its report."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from tare.os import messages as messages_
from tare.os.checks import check
from tare.os.counters import NetworkCounters
from tare.os.findings import findings
from tare.os.levels import Level
from tare.os.messages import Messages, Multicast, Saving
from tare.os.roles import Rule
from tare.os.session import Stage, Trace
from tare.os.sums import CallSum, Sums
from tare.os.tables import RoleSums, by_role, of_node
from tare.os.tracing import Window
from tare.report.os.document import (
    CallReport,
    CheckReport,
    FindingReport,
    FlowReport,
    MulticastReport,
    NodeReport,
    OsReport,
    RoleReport,
    SavingReport,
    SliceReport,
    StageReport,
    States,
)
from tare.report.ratio import as_ratio
from tare.version import VERSION

PERCENTILES = (10, 50, 90, 99)


def build(
    trace: Trace,
    rules: Sequence[Rule],
    *,
    target: str,
    command: str,
    title: str | None,
    refused: str | None = None,
) -> OsReport:
    """`target`: what was traced, without secrets. `command`: how to do it again. `refused`: why only /proc was read."""
    windows = [found for stage in trace.stages for found in stage.windows]
    is_closed = len(trace.nodes) > 1 and all(node.namespace is not None for node in trace.nodes)
    return OsReport(
        title=title or f"Requests to the operating system: {target}",
        written_at=datetime.now(UTC).isoformat(timespec="seconds"),
        written_by=VERSION,
        target=target,
        command=command,
        level=trace.level,
        online_cpus=os.cpu_count() or 1,
        kernel=platform.release(),
        interrupted=trace.interrupted,
        refused=refused,
        nodes=tuple(node.name for node in trace.nodes),
        stages=tuple(_stage(trace, stage, rules) for stage in trace.stages),
        checks=tuple(
            CheckReport(
                quantity=one.quantity,
                traced=one.traced,
                least=one.least,
                most=one.most,
                processes=one.processes,
                agreement=one.agreement,
                difference=one.difference,
            )
            for one in check(windows, trace.level, closed=is_closed)
        ),
    )


def _stage(trace: Trace, stage: Stage, rules: Sequence[Rule]) -> StageReport:
    sums = stage.sums
    titles = {pid: title for found in stage.windows for pid, title in found.titles.items()}
    roles = by_role(sums, titles, rules)
    sent = messages_.parse(b"".join(found.messages for found in stage.windows))
    is_judged = trace.level is Level.MESSAGES and len(sent) > 0
    executions = [messages_.parse(found.messages) for found in stage.windows]
    multicast = messages_.multicast(executions) if is_judged else None
    wall, cpu = stage.overhead
    names = {number: node.name for number, node in enumerate(trace.nodes, 1)}
    return StageReport(
        name=stage.name,
        sql=stage.sql,
        error=stage.error,
        executions=len(stage.windows),
        elapsed=sums.elapsed_ns,
        wall=stage.wall_ns if stage.traced else None,
        wall_overhead=as_ratio(wall),
        cpu_overhead=as_ratio(cpu),
        programs=sums.programs_ns,
        program_runs=sums.program_runs,
        lost=dict(sums.lost) | ({"program runs": sums.passed_over} if sums.passed_over else {}),
        is_whole=sums.is_whole,
        nodes=tuple(_node(number, name, sums, stage.windows) for number, name in names.items()),
        roles=tuple(_role(place, names) for place in roles),
        idle_share=_idle_share(stage, sums),
        multicast=_multicast(multicast, sent, names) if multicast else None,
        findings=tuple(
            FindingReport(kind=one.kind, node=names.get(one.node, ""), role=one.role, share=one.share)
            for one in findings(sums, roles, multicast)
        ),
        slices=tuple(row for piece in stage.slices for row in _slices(piece, stage, names)),
    )


def _states(sums: CallSum) -> States:
    on_cpu, run_queue, sleep, block_io, other_wait = sums.spent_ns
    return States(on_cpu=on_cpu, run_queue=run_queue, sleep=sleep, block_io=block_io, other_wait=other_wait)


def _role(place: RoleSums, names: dict[int, str]) -> RoleReport:
    ranked = sorted(place.calls.items(), key=lambda pair: (-pair[1].on_cpu_ns, -pair[1].total_ns))
    return RoleReport(
        node=names[place.node],
        role=place.role,
        processes=place.processes,
        outside=_states(place.outside),
        calls=tuple(
            CallReport(name=name, count=s.count, errors=s.errors, bytes=s.bytes, spent=_states(s))
            for name, s in ranked
        ),
        counts=place.counts,
        histograms=place.histograms,
    )


def _node(number: int, name: str, sums: Sums, windows: Sequence[Window]) -> NodeReport:
    activity = sums.activities.get(number)
    pairs = [(found.before.networks.get(number), found.after.networks.get(number)) for found in windows]
    known = [(before, after) for before, after in pairs if before and after]
    has_network = bool(known) and len(known) == len(pairs)

    def grown(counter: Callable[[NetworkCounters], int]) -> int | None:
        return sum(counter(after) - counter(before) for before, after in known) if has_network else None

    return NodeReport(
        node=name,
        io=activity.io_ns if activity else 0,
        busy=activity.busy_ns if activity else 0,
        received_packets=grown(lambda found: found.received_packets),
        sent_packets=grown(lambda found: found.sent_packets),
        received_bytes=grown(lambda found: found.received_bytes),
        sent_bytes=grown(lambda found: found.sent_bytes),
    )


def _idle_share(stage: Stage, sums: Sums) -> float | None:
    """None without an idle window, or without CPU time to compare with."""
    if stage.idle is None or not stage.windows:
        return None
    with_query = _on_cpu(sums) / sums.elapsed_ns if sums.elapsed_ns else 0.0
    without = _on_cpu(stage.idle.sums) / stage.idle.sums.elapsed_ns
    return without / with_query if with_query else None


def _on_cpu(sums: Sums) -> int:
    return sum(call.on_cpu_ns for call in sums.calls.values())


def _multicast(found: Multicast, sent: Messages, names: dict[int, str]) -> MulticastReport:
    gaps = found.gaps_ns
    percentiles = (
        {f"p{p}": gaps[min(len(gaps) - 1, len(gaps) * p // 100)] / 1.0 for p in PERCENTILES} if gaps else {}
    )
    return MulticastReport(
        every=_saving(found.every),
        small=_saving(found.small),
        large=_saving(found.large),
        by_window_ms={f"{ms:g}": _saving(saving) for ms, saving in found.by_window.items()},
        gaps=percentiles,
        cached=_saving(found.cached),
        unhashed=int((~messages_.is_hashed(sent)).sum()),
        tls_share=messages_.tls_share(sent),
        flows=tuple(
            FlowReport(
                node=names[flow.node], destination=flow.destination, messages=flow.messages, bytes=flow.bytes
            )
            for flow in messages_.flows(sent)
        ),
    )


def _saving(saving: Saving) -> SavingReport:
    return SavingReport(
        messages=saving.messages,
        bytes=saving.bytes,
        saved_messages=saving.saved_messages,
        saved_bytes=saving.saved_bytes,
    )


def _slices(piece: Sums, stage: Stage, names: dict[int, str]) -> list[SliceReport]:
    roles = by_role(piece, {}, [])
    began = stage.slices[0].began_ns
    found = []
    for number, name in names.items():
        whole = of_node(roles, number)
        spent = whole.everything.spent_ns
        found.append(
            SliceReport(
                at=piece.began_ns - began,
                length=piece.elapsed_ns,
                node=name,
                on_cpu=spent[0],
                block_io=spent[3],
                block_read_bytes=whole.counts.get("block_read_bytes", 0),
                block_write_bytes=whole.counts.get("block_write_bytes", 0),
                sent_bytes=whole.counts.get("sent_bytes", 0),
                received_bytes=whole.counts.get("received_bytes", 0),
            )
        )
    return found
