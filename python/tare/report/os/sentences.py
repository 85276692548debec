"""Sentences about an observation: its answer, each query's bottleneck, findings, and the overhead."""

from __future__ import annotations

from collections.abc import Sequence

from tare.os.record import PATIENCE_S
from tare.report.kit.figure import Figure
from tare.report.numbers import bytes_text, fixed, ms_text, thousands
from tare.report.os.document import (
    Bottleneck,
    Check,
    CheckKind,
    Finding,
    FindingKind,
    NoOverhead,
    OsReport,
    Overhead,
    QueryReport,
    Resource,
)
from tare.report.ratio import Ratio
from tare.report.words import counted, joined, two_digits

READS_FROM = 0.01
"""Share of read calls in the CPU time from which a sentence names it."""

MOST_NAMES = 6
"""Queries of one bottleneck that the answer names."""

_PREDICATES = {
    Resource.USER: "computes",
    Resource.SYSTEM: "works in the kernel",
    Resource.CPU: "is on a CPU",
    Resource.DISK: "waits for the disk",
    Resource.RUN_QUEUE: "waits for a CPU",
    Resource.SLEEP: "waits for others",
    Resource.WAIT: "waits, for the disk or for others",
}

_NO_OVERHEAD = {
    NoOverhead.NOTHING_TRACED: "Overhead: nothing is traced at level proc; Tare reads /proc at both ends of a window.",
    NoOverhead.NO_UNTRACED: "Overhead: not measured, since there are no untraced windows to compare with.",
    NoOverhead.FEW_PAIRS: "Overhead: not measured, since it needs two pairs of a traced and an untraced execution.",
}

CHECK_REASONS = {
    CheckKind.PARTS: "states of a thread that the trace missed, such as a wait that began before the attach",
    CheckKind.SCHEDULER: "the kernel updates its counters at ticks and switches, and lost switches are missing",
    CheckKind.READ_BYTES: "rchar has reads by splice, io_uring or the kernel itself (exec), or calls in progress at an "
    "end of the window",
    CheckKind.WRITE_BYTES: "wchar has writes by splice or io_uring, or calls in progress at an end of the window",
    CheckKind.DISK_READS: "requests that threads of the kernel submitted, as they do under a limit on I/O, or that "
    "were outstanding for too long after their window",
    CheckKind.PAGES: "direct I/O, pages made by writes, metadata of the file system, or reads in progress",
}
"""Likely reasons of a difference. They are not tested one by one."""

CHECK_SIDES = {
    CheckKind.PARTS: ("sum of the parts", "time present"),
    CheckKind.SCHEDULER: ("CPU and run queue, traced", "schedstat"),
    CheckKind.READ_BYTES: ("results of read calls", "rchar"),
    CheckKind.WRITE_BYTES: ("results of write calls", "wchar"),
    CheckKind.DISK_READS: ("block requests", "read_bytes"),
    CheckKind.PAGES: ("pages brought in", "block requests"),
}


def time_text(ns: float) -> str:
    return ms_text(ns / 1e6)


def place(node: str | None, role: str | None, has_nodes: bool) -> str:
    """Return the name of a role, with its node where there are several."""
    return f"{node} {role}" if has_nodes and node else role or ""


# The answer ------------------------------------------------------------------------------


def headline(report: OsReport) -> str:
    if not report.queries:
        return "No execution was observed."
    known = [query for query in report.queries if query.bottleneck is not None]
    if not known:
        return "No bottleneck is known: no role was observed whole."
    if len(report.queries) == 1:
        return bottleneck_sentence(known[0], report.has_nodes)
    return f"Bottlenecks: {', '.join(_queries_of(resource, known) for resource in report.resources)}."


def _queries_of(resource: Resource, queries: Sequence[QueryReport]) -> str:
    names = [query.name for query in queries if query.bottleneck and query.bottleneck.resource is resource]
    listed = joined(names) if len(names) <= MOST_NAMES else counted(len(names), "query", "queries")
    return f"{resource.value} ({listed})"


def bottleneck_sentence(query: QueryReport, has_nodes: bool) -> str:
    found = query.bottleneck
    if found is None:
        return f"{query.name}: no role was observed whole."
    text = (
        f"{query.name} {_PREDICATES[found.resource]}: {two_digits(found.share)} of {time_text(found.whole_ns)} "
        f"({place(found.node, found.role, has_nodes)}: {found.resource.value})"
    )
    return f"{text}{_detail(found)}."


def _detail(found: Bottleneck) -> str:
    if found.resource is Resource.SYSTEM and found.call is not None and found.call_share is not None:
        return f"; {found.call} is {two_digits(found.call_share)} of its system CPU time"
    if found.resource is Resource.SLEEP and found.call is not None and found.call_share is not None:
        return f"; {two_digits(found.call_share)} of its sleep is in {found.call}"
    if found.resource is Resource.DISK and found.read_share is not None and found.read_share >= READS_FROM:
        return f"; read calls are {two_digits(found.read_share)} of its CPU time"
    return ""


# Overhead --------------------------------------------------------------------------------
def overhead_sentence(report: OsReport) -> str:
    if report.no_overhead is not None:
        return _NO_OVERHEAD[report.no_overhead]
    overhead = report.overheads[0]
    return (
        f"Overhead of tracing, as a ratio of traced to untraced executions with its 95% interval: wall time "
        f"{wall_text(overhead)}, CPU time {cpu_text(overhead)}; {counted(overhead.pairs, 'pair')}."
    )


def wall_text(overhead: Overhead) -> str:
    return _ratio_text(overhead.wall, overhead.is_wall_measurable)


def cpu_text(overhead: Overhead) -> str:
    return _ratio_text(overhead.cpu, overhead.is_cpu_measurable)


def _ratio_text(ratio: Ratio | None, is_measurable: bool) -> str:
    if ratio is None:
        return "not measured"
    text = Figure(ratio.value, ratio.low, ratio.high).text
    return text if is_measurable else f"not measurable here ({text})"


# Findings --------------------------------------------------------------------------------
def finding_sentence(finding: Finding, has_nodes: bool) -> str:
    """Return what was found, with its numbers and what it means or what to do."""
    evidence = finding.evidence
    who = place(finding.node, finding.role, has_nodes)
    share = two_digits(evidence.get("share", 0.0))
    match finding.kind:
        case FindingKind.CPU_BOUND:
            return f"{share} of {time_text(evidence['whole_ns'])} is CPU time of {who}"
        case FindingKind.CALL_BOUND:
            return f"{share} of {time_text(evidence['whole_ns'])} is CPU time of {who} in system calls"
        case FindingKind.DISK_BOUND:
            return f"{who} waits for a disk for {share} of {time_text(evidence['whole_ns'])}"
        case FindingKind.WAITS:
            return f"{who} waits for {share} of {time_text(evidence['whole_ns'])}"
        case FindingKind.RUN_QUEUE:
            return (
                f"{who} waits for a CPU for {share} of {time_text(evidence['whole_ns'])}: the machine is busy, and "
                "times depend on what else runs"
            )
        case FindingKind.READ_AHEAD_ALL:
            return f"{share} of the pages that {who} brought in came by read-ahead{_in_flight(evidence)}"
        case FindingKind.READ_AHEAD_NOTHING:
            return (
                f"{thousands(int(evidence['missed_pages']))} of the pages that {who} read were missed, and read-ahead "
                f"brought in {thousands(int(evidence['ahead_pages']))}: reads are random, or read-ahead is off"
            )
        case FindingKind.ONE_ROLE:
            return f"{who} has {share} of the active time of {counted(int(evidence['roles']), 'role')}"
        case FindingKind.NOT_WARM:
            return (
                f"the caches were not emptied, yet {bytes_text(evidence['read_bytes'])} were read from disk for "
                f"{bytes_text(evidence['requested_bytes'])} that were requested; run it once more before"
            )
        case FindingKind.NOT_COLD:
            return (
                f"the caches were emptied, yet only {bytes_text(evidence['read_bytes'])} were read from disk for "
                f"{bytes_text(evidence['requested_bytes'])} that were requested; another program may keep the files "
                "cached"
            )
        case FindingKind.MAPPED:
            return (
                f"{who} brought in {share} of its pages by memory mapping "
                f"({thousands(int(evidence['mapped_pages']))} pages): these are in no read call"
            )
        case FindingKind.LOST:
            return (
                f"{thousands(int(evidence['events']))} events of {finding.part} found no room; tables that rest on "
                "them are left out"
            )
        case FindingKind.OUTSTANDING:
            requests = counted(int(evidence["requests"]), "block request")
            return (
                f"no count of the disk includes {requests} still outstanding {PATIENCE_S:g} s after the window; see "
                "what else uses the disk"
            )


def _in_flight(evidence: dict[str, float]) -> str:
    share = evidence.get("in_flight")
    return "" if share is None else f"; {two_digits(share)} of the requested pages were still in flight"


def checks_sentence(report: OsReport) -> str:
    counts = [f"{number} {result.value}" for result, number in report.check_results.items()]
    return f"Checks of the counts: {joined(counts)}."


def check_figure(check: Check, figure: float) -> str:
    is_time = check.kind in (CheckKind.PARTS, CheckKind.SCHEDULER)
    return time_text(figure) if is_time else bytes_text(figure)


def check_ratio(check: Check) -> str:
    return "" if check.ratio is None else fixed(check.ratio, 4)
