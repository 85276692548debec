"""From the record of an observation to its report."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Sequence
from functools import reduce

from tare.os.level import Level
from tare.os.record import Observation, RoleCounts, Window, summed
from tare.protocol.comparison.blocks import ratio_over_blocks
from tare.report.os.checks import checks
from tare.report.os.document import (
    Check,
    CheckResult,
    DiskReport,
    Finding,
    NoOverhead,
    OsReport,
    Overhead,
    QueryReport,
    Resource,
    RoleReport,
)
from tare.report.os.findings import bottleneck, findings
from tare.report.os.parts import (
    cache_report,
    calls_report,
    disk_report,
    estimate,
    read_calls,
    sockets_report,
    system_profile,
    time_parts,
    total_parts,
)
from tare.report.ratio import Ratio, as_ratio

WIDEST = 0.5
"""Width of a ratio's interval beyond which the overhead counts as not measurable."""

THREADS, CALLS, DISK = "threads", "calls", "disk"
"""Parts of the record that can lose events, besides "messages"."""


def build_report(observation: Observation, written_by: str, written_at: str) -> OsReport:
    queries, found, judged = [], [], []
    for name, windows in _by_query(observation).items():
        query, of_query, of_checks = _query(observation, name, windows)
        queries.append(query)
        found.extend(of_query)
        judged.extend(of_checks)
    resources = Counter(query.bottleneck.resource for query in queries if query.bottleneck is not None)
    results = Counter(check.result for check in judged)
    overheads, why_not = _overheads(observation)
    return OsReport(
        title=f"System calls, page cache, disk and sockets: {observation.subject}",
        written_at=written_at,
        written_by=written_by,
        observation=observation,
        is_reliable=not any(query.lost for query in queries) and not results[CheckResult.OUTSIDE],
        has_nodes=len({counts.node for window in observation.windows for counts in window.roles}) > 1,
        queries=tuple(queries),
        resources={resource: resources[resource] for resource in Resource if resources[resource]},
        findings=tuple(found),
        overheads=tuple(overheads),
        no_overhead=why_not,
        checks=tuple(judged),
        check_results={result: results[result] for result in CheckResult if results[result]},
    )


def _by_query(observation: Observation) -> dict[str, list[Window]]:
    """Return the observed windows by name: the traced ones, or all where nothing is traced."""
    found: dict[str, list[Window]] = {}
    for window in observation.windows:
        if window.is_traced or observation.level is Level.PROC:
            found.setdefault(window.name, []).append(window)
    return found


def _query(
    observation: Observation, name: str, windows: Sequence[Window]
) -> tuple[QueryReport, list[Finding], list[Check]]:
    number = len(windows)
    wall_ns = sum(window.wall_ns for window in windows)
    lost = Counter[str]()
    for window in windows:
        lost.update({part: events for part, events in window.lost.items() if events})
    roles = [] if lost[THREADS] else [_without(counts, lost) for counts in _by_role(windows)]
    total = summed(roles)
    narrowest = bottleneck(roles, wall_ns, number)
    report = QueryReport(
        name=name,
        executions=number,
        mean_wall_ns=wall_ns / number,
        wall=estimate([window.wall_ns for window in windows]),
        bottleneck=narrowest,
        total=total_parts(total, windows) if roles else None,
        roles=tuple(_role(counts, number) for counts in roles),
        profile=system_profile(name, total, windows, is_disk_whole=not lost[DISK]) if roles else None,
        read_calls=read_calls(name, total, wall_ns) if roles else None,
        write_back=None if lost[DISK] else _write_back(windows),
        lost={part: events for part, events in sorted(lost.items()) if events},
    )
    page_bytes, cold = observation.page_bytes, observation.cold
    found = findings(
        name,
        narrowest,
        roles,
        total,
        lost=report.lost,
        cold=cold,
        page_bytes=page_bytes,
        online_cpus=observation.online_cpus,
    )
    judged = checks(name, total, observation.level, cold=cold, page_bytes=page_bytes) if roles else ()
    return report, list(found), list(judged)


def _by_role(windows: Sequence[Window]) -> list[RoleCounts]:
    """Return the sums over windows by node and role, in the order of their first appearance."""
    found: dict[tuple[str, str], list[RoleCounts]] = {}
    for window in windows:
        for counts in window.roles:
            found.setdefault((counts.node, counts.role), []).append(counts)
    return [summed(parts, node, role) for (node, role), parts in found.items()]


def _without(counts: RoleCounts, lost: Counter[str]) -> RoleCounts:
    """Return the counts without the parts of which events were lost."""
    parts = [part for part in (CALLS, "cache", DISK, "sockets") if lost[part]]
    return counts.model_copy(update=dict.fromkeys(parts))


def _role(counts: RoleCounts, executions: int) -> RoleReport:
    return RoleReport(
        node=counts.node,
        role=counts.role,
        time=time_parts(counts, executions),
        calls=None if counts.calls is None else calls_report(counts.calls, executions),
        cache=None if counts.cache is None else cache_report(counts.cache, executions),
        disk=None if counts.disk is None else disk_report(counts.disk, executions),
        sockets=None if counts.sockets is None else sockets_report(counts.sockets, executions),
    )


def _write_back(windows: Sequence[Window]) -> DiskReport | None:
    known = [window.write_back for window in windows if window.write_back is not None]
    if len(known) < len(windows):
        return None
    return disk_report(reduce(operator.add, known), len(windows))


# Overhead --------------------------------------------------------------------------------
def _overheads(observation: Observation) -> tuple[list[Overhead], NoOverhead | None]:
    """Return the overhead over all queries, then by query if there are several; or why there is none."""
    if observation.level is Level.PROC:
        return [], NoOverhead.NOTHING_TRACED
    untraced = {
        (window.name, window.number): window for window in observation.windows if not window.is_traced
    }
    if not untraced:
        return [], NoOverhead.NO_UNTRACED
    pairs = [
        (untraced[window.name, window.number], window)
        for window in observation.windows
        if window.is_traced and (window.name, window.number) in untraced
    ]
    if len(pairs) < 2:
        return [], NoOverhead.FEW_PAIRS
    names = list(dict.fromkeys(window.name for _, window in pairs))
    by_query = [(name, [pair for pair in pairs if pair[1].name == name]) for name in names]
    return [
        _overhead(None, pairs),
        *(_overhead(name, some) for name, some in by_query if len(names) > 1 and len(some) > 1),
    ], None


def _overhead(query: str | None, pairs: Sequence[tuple[Window, Window]]) -> Overhead:
    wall = as_ratio(
        ratio_over_blocks([one.wall_ns for one, _ in pairs], [traced.wall_ns for _, traced in pairs])
    )
    spent = [(_cpu_ns(one), _cpu_ns(traced)) for one, traced in pairs]
    cpu = as_ratio(ratio_over_blocks([one for one, _ in spent], [traced for _, traced in spent]))
    return Overhead(
        query=query,
        pairs=len(pairs),
        wall=wall,
        cpu=cpu,
        is_wall_measurable=_is_measurable(wall),
        is_cpu_measurable=_is_measurable(cpu),
    )


def _cpu_ns(window: Window) -> int:
    """Return the CPU time by the kernel's own counters; 0 where they were not read, which gives no ratio."""
    return window.total().kept.run_ns or 0


def _is_measurable(ratio: Ratio | None) -> bool:
    return ratio is not None and ratio.high - ratio.low <= WIDEST
