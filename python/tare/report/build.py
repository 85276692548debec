"""From the QEs of a run to its result document."""

from __future__ import annotations

import statistics
from collections.abc import Collection, Mapping, Sequence

from tare.dbms.base import Plan, Server
from tare.measure.environment import MachineFacts
from tare.measure.query import Query
from tare.measure.records import QE, Outcome
from tare.protocol.comparison.session_looks import SessionLooks
from tare.protocol.summary import QatC, sum_up
from tare.report import result as document
from tare.report import watch
from tare.report.asked import Asked, Means
from tare.report.brief import brief
from tare.report.comparison import arms_with, compare_pairs
from tare.report.comparison_models import ComparisonResult
from tare.report.query_result import query_result
from tare.report.warnings import Caution, RunsMissing, type_name


def build_result(
    qes: Sequence[QE],
    queries: Sequence[Query],
    plans: Sequence[Plan | None],
    *,
    servers: Sequence[Server],
    settings: Sequence[Mapping[str, str]],
    machine: MachineFacts,
    means: Means,
    asked: Asked,
    command: str,
    started_at: str,
    interrupted: bool = False,
    error: str | None = None,
    looks: SessionLooks | None = None,
    failures: Mapping[int, str] | None = None,
) -> document.RunResult:
    """Sums up a run, whole or cut short. `qes` in run order; `plans` as `queries`, None where not known; `servers` and
    `settings` by arm.

    `error` is what ended the run before its time; `failures`, by the query's place, what ended the runs of a query
    while the run continued. Nothing here measures: the same records give the
    same document.
    """
    of_query = [[qe for qe in qes if qe.query == i] for i in range(len(queries))]
    summed = [
        sum_up(own, asked.cache, means.tick_ns, reasons=means.reasons, keeps_results=means.keeps_results)
        for own in of_query
    ]
    cost = _own_cost(summed)
    comparisons: list[ComparisonResult] = []
    if asked.compare is not None:
        names = [query.name for query in queries]
        comparisons = compare_pairs(names, summed, asked, looks)
    is_set = len(queries) > arms_with(looks)
    cautions: list[Caution] = list(watch.of_run(asked, means, cost, comparisons))
    ended_by = _ended_by(qes, queries) if error is not None else None
    failures = failures or {}
    named = {ended_by, *(queries[place].name for place in failures)}
    for query, own, qatc in zip(queries, of_query, summed, strict=True):
        found = watch.of_query(query.name, own, qatc, asked, means, servers[query.arm])
        cautions += (caution for caution in found if not _is_named(caution, named))
    return document.RunResult(
        command=command,
        started_at=started_at,
        interrupted=interrupted,
        error=error,
        ended_by=ended_by,
        clocked=asked.clocked.value,
        environment=_environment(machine, servers[0], means, cost),
        results=[
            query_result(query, plan, own, qatc, asked, failures.get(place))
            for place, (query, plan, own, qatc) in enumerate(
                zip(queries, plans, of_query, summed, strict=True)
            )
        ],
        comparison=None if is_set or not comparisons else comparisons[0],
        comparisons=comparisons if is_set else [],
        arms=[
            document.ArmResult(server=_server(server), settings=dict(values))
            for server, values in zip(servers, settings, strict=True)
        ]
        if len(servers) > 1
        else [],
        warnings=[warning_result(caution, asked) for caution in cautions],
    )


def warning_result(caution: Caution, asked: Asked) -> document.WarningResult:
    """Return the warning as the document has it, worded by what the user requested."""
    return document.WarningResult(
        type=type_name(type(caution)),
        query=caution.query,
        cause=caution.cause,
        evidence=caution.evidence,
        next_step=caution.next_step(asked),
        brief=brief(caution),
    )


def _ended_by(qes: Sequence[QE], queries: Sequence[Query]) -> str | None:
    """The query whose failure was the last thing before a run ended."""
    return queries[qes[-1].query].name if qes and qes[-1].outcome is Outcome.FAILED else None


def _is_named(caution: Caution, named: Collection[str | None]) -> bool:
    """Whether the only failure among a query's runs is the one that ended them. The report names it already for the
    queries in `named`."""
    if not isinstance(caution, RunsMissing) or caution.query not in named:
        return False
    return caution.timeouts == 0 and caution.failures == 1


def _own_cost(summed: Sequence[QatC]) -> document.OwnCostResult:
    with_cost = [(qe, qe.own) for qatc in summed for qe in qatc.timed if qe.own is not None]
    if not with_cost:
        return document.OwnCostResult(cpu_ms=None, share_of_wall=None, snapshots_ms=None, rss_bytes=None)
    shares = [own.cpu_ns / qe.elapsed.wall_ns for qe, own in with_cost if qe.elapsed and qe.elapsed.wall_ns]
    return document.OwnCostResult(
        cpu_ms=statistics.median(own.cpu_ns for _, own in with_cost) / 1e6,
        share_of_wall=statistics.median(shares) if shares else None,
        snapshots_ms=statistics.median(own.snapshots_ns for _, own in with_cost) / 1e6,
        rss_bytes=max(own.rss_bytes for _, own in with_cost),
    )


def _server(server: Server) -> document.ServerResult:
    return document.ServerResult(
        dbms=server.dbms,
        version=server.version,
        settings=dict(server.settings),
        url=server.url,
        local=server.local,
    )


def _environment(
    machine: MachineFacts, server: Server, means: Means, cost: document.OwnCostResult
) -> document.Environment:
    return document.Environment(
        machine=document.MachineResult(
            cpu_model=machine.cpu_model,
            online_cpus=machine.online_cpus,
            usable_cpus=machine.usable_cpus,
            memory_bytes=machine.memory_bytes,
            hypervisor=machine.hypervisor,
        ),
        kernel=machine.kernel,
        operating_system=machine.operating_system,
        server=_server(server),
        probe=document.ProbeResult(
            tier=means.tier,
            attempts=[
                document.AttemptResult(name=a.name, works=a.works, reason=a.reason) for a in means.attempts
            ],
            delay_accounting=means.delay_accounting,
            tick_ms=means.tick_ns / 1e6,
        ),
        tare=document.TareResult(version=machine.tare, python=machine.python, cost=cost),
    )
