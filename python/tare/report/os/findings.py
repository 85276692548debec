"""Rules of the findings: the bottleneck of a query, what read-ahead did, and what contradicts the conditions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tare.os.record import RoleCounts
from tare.report.os.document import Bottleneck, Finding, FindingKind, Resource
from tare.report.os.parts import ratio, read_calls_ns

LOAD = "load"
"""Name of the windows of `tare os watch`."""

SMALL = 0.01
"""Share below which pages or bytes are taken for none of the whole."""

BUSY = 0.1
"""Share of the time in a run queue from which the machine counts as busy."""

ALONE = 0.9
"""Share in the active time of all roles from which one role counts as doing all work."""

LEAST_BYTES = 2**20
"""Bytes below which no finding rests on reads."""

_KINDS = {
    Resource.USER: FindingKind.CPU_BOUND,
    Resource.CPU: FindingKind.CPU_BOUND,
    Resource.SYSTEM: FindingKind.CALL_BOUND,
    Resource.DISK: FindingKind.DISK_BOUND,
    Resource.RUN_QUEUE: FindingKind.RUN_QUEUE,
    Resource.SLEEP: FindingKind.WAITS,
    Resource.WAIT: FindingKind.WAITS,
}


def bottleneck(roles: Sequence[RoleCounts], wall_ns: int, executions: int) -> Bottleneck | None:
    """Return the critical role of a query and its largest share. `roles`: sums over these executions.

    None: no role was observed, or no time passed."""
    if not roles or not wall_ns:
        return None
    critical = max(roles, key=lambda counts: (active_ns(counts), counts.times.present_ns))
    times = critical.times
    whole = max(wall_ns, active_ns(critical))
    parts: dict[Resource, int] = {}
    if times.user_ns is None or times.system_ns is None:
        parts[Resource.CPU] = times.on_cpu_ns
    else:
        parts[Resource.USER] = times.user_ns
        parts[Resource.SYSTEM] = times.system_ns
    if times.run_queue_ns is not None:
        parts[Resource.RUN_QUEUE] = times.run_queue_ns
    if times.block_io_ns is not None:
        parts[Resource.DISK] = times.block_io_ns
    parts[Resource.WAIT if times.block_io_ns is None else Resource.SLEEP] = whole - active_ns(critical)
    largest = max(parts, key=lambda resource: parts[resource])
    call, call_share = _dominating(critical, largest)
    return Bottleneck(
        node=critical.node,
        role=critical.role,
        resource=largest,
        share=parts[largest] / whole,
        shares={resource: part_ns / whole for resource, part_ns in parts.items()},
        whole_ns=whole / executions,
        call=call,
        call_share=call_share,
        read_share=None if critical.calls is None else ratio(read_calls_ns(critical.calls), times.on_cpu_ns),
    )


def active_ns(counts: RoleCounts) -> int:
    times = counts.times
    return times.on_cpu_ns + (times.run_queue_ns or 0) + (times.block_io_ns or 0)


def _dominating(counts: RoleCounts, resource: Resource) -> tuple[str | None, float | None]:
    """Return the call behind this resource and its share in the role's system CPU time, or in its sleep."""
    if not counts.calls:
        return None, None
    if resource is Resource.SLEEP:
        by_ns = {name: call.sleep_ns for name, call in counts.calls.items()}
        whole = counts.times.sleep_ns
    else:
        by_ns = {name: call.on_cpu_ns for name, call in counts.calls.items()}
        whole = counts.times.system_ns
    name = max(by_ns, key=lambda name: by_ns[name])
    share = ratio(by_ns[name], whole)
    return (name, share) if share else (None, None)


def findings(
    query: str,
    found: Bottleneck | None,
    roles: Sequence[RoleCounts],
    total: RoleCounts,
    *,
    lost: Mapping[str, int],
    cold: bool,
    page_bytes: int,
    online_cpus: int,
) -> Iterator[Finding]:
    """Return the findings about a query. `roles` and `total`: sums over its executions, without lost parts."""
    for part, events in lost.items():
        yield Finding(kind=FindingKind.LOST, query=query, evidence={"events": events}, part=part)
    if total.disk is not None and total.disk.outstanding:
        yield Finding(
            kind=FindingKind.OUTSTANDING, query=query, evidence={"requests": float(total.disk.outstanding)}
        )
    if found is not None:
        yield from _by_share(query, found)
        yield from _alone(query, roles, online_cpus)
    for counts in roles:
        yield from _read_ahead(query, counts, page_bytes)
        yield from _mapped(query, counts, page_bytes)
    if query != LOAD:
        yield from _contradiction(query, total, cold, page_bytes)


def _by_share(query: str, found: Bottleneck) -> Iterator[Finding]:
    def finding(kind: FindingKind, evidence: dict[str, float]) -> Finding:
        return Finding(kind=kind, query=query, evidence=evidence, node=found.node, role=found.role)

    yield finding(_KINDS[found.resource], {"share": found.share, "whole_ns": found.whole_ns})
    queued = found.shares.get(Resource.RUN_QUEUE, 0.0)
    if queued >= BUSY and found.resource is not Resource.RUN_QUEUE:
        yield finding(FindingKind.RUN_QUEUE, {"share": queued, "whole_ns": found.whole_ns})


def _alone(query: str, roles: Sequence[RoleCounts], online_cpus: int) -> Iterator[Finding]:
    if len(roles) < 2 or online_cpus < 2:
        return
    most = max(roles, key=active_ns)
    share = ratio(active_ns(most), sum(map(active_ns, roles)))
    if share is not None and share >= ALONE:
        yield Finding(
            kind=FindingKind.ONE_ROLE,
            query=query,
            evidence={"share": share, "roles": len(roles), "cpus": online_cpus},
            node=most.node,
            role=most.role,
        )


def _read_ahead(query: str, counts: RoleCounts, page_bytes: int) -> Iterator[Finding]:
    cache = counts.cache
    if cache is None or (cache.missed + cache.ahead) * page_bytes < LEAST_BYTES:
        return
    share = cache.ahead / (cache.missed + cache.ahead)
    if SMALL < share < 1 - SMALL:
        return
    kind = FindingKind.READ_AHEAD_ALL if share >= 1 - SMALL else FindingKind.READ_AHEAD_NOTHING
    evidence = {"share": share, "ahead_pages": float(cache.ahead), "missed_pages": float(cache.missed)}
    if cache.in_flight is not None and cache.requested:
        evidence["in_flight"] = cache.in_flight / cache.requested
    yield Finding(kind=kind, query=query, evidence=evidence, node=counts.node, role=counts.role)


def _mapped(query: str, counts: RoleCounts, page_bytes: int) -> Iterator[Finding]:
    cache = counts.cache
    if cache is None or cache.mapped * page_bytes < LEAST_BYTES:
        return
    share = cache.mapped / (cache.missed + cache.ahead + cache.mapped)
    if share > SMALL:
        yield Finding(
            kind=FindingKind.MAPPED,
            query=query,
            evidence={"share": share, "mapped_pages": float(cache.mapped)},
            node=counts.node,
            role=counts.role,
        )


def _contradiction(query: str, total: RoleCounts, cold: bool, page_bytes: int) -> Iterator[Finding]:
    """Blocks that were read although the caches were warm, or were not read although they were emptied."""
    requested = total.kept.read_chars if total.cache is None else total.cache.requested * page_bytes
    read = total.kept.read_bytes if total.disk is None else total.disk.read_bytes
    if requested is None or read is None:
        return
    evidence = {"read_bytes": float(read), "requested_bytes": float(requested)}
    if not cold and read >= LEAST_BYTES and read > SMALL * requested:
        yield Finding(kind=FindingKind.NOT_WARM, query=query, evidence=evidence)
    if cold and requested >= LEAST_BYTES and read < SMALL * requested:
        yield Finding(kind=FindingKind.NOT_COLD, query=query, evidence=evidence)
