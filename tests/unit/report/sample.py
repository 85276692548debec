"""Results made from hand-made QEs: a clean warm run, a troubled cold one, and a comparison."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Sequence
from typing import Any

from tare.dbms.base import Plan, PlanNode, Role, Server
from tare.measure.choices import CacheState, Clocked
from tare.measure.environment import MachineFacts
from tare.measure.lacks import Cause, Lack
from tare.measure.query import Query
from tare.measure.records import QE, Outcome, ProcessUse, Residence
from tare.protocol.stop import Stop
from tare.report.asked import Asked, Attempt, Means
from tare.report.build import build_result
from tare.report.result import RunResult
from tests.unit.protocol.qe_records import MS, TICK_NS, elapsed, machine, phases, process, qe, resources

SERVER = Server("postgresql", "18.1", {"io_method": "worker"}, "postgresql://tare@localhost/tpch", True)
MACHINE = MachineFacts(
    "Cortex-X", 2, 2, 8 << 30, "KVM", "6.18.5", "Debian GNU/Linux 12 (bookworm)", "3.11.2", "0.1.0"
)
MEANS = Means("bpf", [Attempt("bpf", True, "loaded")], True, TICK_NS)
PLAN = Plan(
    PlanNode("Aggregate", {}, (PlanNode("Seq Scan", {"relation": "lineitem"}),)),
    "Aggregate\n  Seq Scan on lineitem",
)
QUERY = Query("count", "SELECT count(*) FROM lineitem")


def result(
    qes: Sequence[QE],
    queries: Sequence[Query] = (QUERY,),
    asked: Asked | None = None,
    means: Means = MEANS,
    **more: Any,
) -> RunResult:
    return build_result(
        qes, queries, [PLAN] * len(queries), servers=[SERVER], settings=[{}], machine=MACHINE, means=means,
        asked=asked or Asked(runs=len([q for q in qes if not q.warmup]) // len(queries)),
        command="tare time", started_at="2025-01-01T00:00:00+00:00", **more,
    )  # fmt: skip


def noisy(n: int, centre: float = 55.4, rsd: float = 0.005, seed: int = 1, **changes: Any) -> list[QE]:
    draw = random.Random(seed)
    made = []
    for i in range(n):
        cpu = centre * (1 + draw.gauss(0, rsd))
        noise = process(
            7, Role.DAEMON, comm="rustc", run_ns=round(20 * MS * draw.random()), user_ticks=1, system_ticks=0
        )
        worker = process(8, Role.UTILITY, comm="checkpointer", run_ns=300_000, user_ticks=0, system_ticks=0)
        made.append(
            qe(
                i, elapsed=elapsed(cpu + 2 + draw.random(), cpu), resources=resources(cpu),
                plan_fingerprint=PLAN.fingerprint, processes=(process(), noise, worker), machine=machine(),
                instructions=250_000_000 + round(draw.gauss(0, 40_000)), **changes,
            )
        )  # fmt: skip
    return made


def planned(made: QE, planning_ms: float) -> QE:
    """Return the execution with its planning clocked."""
    assert made.elapsed is not None
    assert made.resources is not None
    assert made.resources.cpu_ns is not None
    parts = phases(planning_ms, made.elapsed.wall_ns / MS, made.resources.cpu_ns / MS)
    return dataclasses.replace(made, phases=parts)


def warm() -> RunResult:
    first = dataclasses.replace(noisy(1, 80)[0], warmup=True)
    qes = [first, *(dataclasses.replace(q, index=q.index + 1) for q in noisy(10))]
    return result(
        [planned(one, 2 + one.index / 100) for one in qes], asked=Asked(10, warmup=1, clocked=Clocked.TOTAL)
    )


def kworker(pid: int, ms: int) -> ProcessUse:
    return process(
        pid, Role.DAEMON, comm="kworker/0:1", kernel=True, run_ns=ms * MS, user_ticks=0, system_ticks=ms // 10
    )


def troubled() -> RunResult:
    """A cold run on two CPUs, in a lower tier, with everything that calls for a warning."""
    draw = random.Random(3)
    rejected = Lack(Cause.TRACE_REJECTED, switch_ins=9, slices=10)
    qes = []
    for i in range(8):
        wall = 1500 + 900 * draw.random()
        qes.append(
            qe(
                i, elapsed=elapsed(
                    wall, 502 + draw.gauss(0, 4), block_io_ns=round(200 * MS * draw.random()), sleep_ns=None,
                    steal_ns=40 * MS, residue_ns=round(wall / 3 * MS),
                    why={"sleep": rejected, "residue": Lack(Cause.SLEEP_UNKNOWN)},
                ),
                resources=resources(
                    900, processes=3, read_bytes=12 << 20,
                    utility_read_bytes=700 << 20, utility_cpu_ns=80 * MS,
                ),
                residence=Residence(40 << 20, 900 << 20, "mincore", None, "this DBMS does not tell", None),
                instructions=None, online_cpus=2, machine=machine(user=150, iowait=30),
                plan_fingerprint=PLAN.fingerprint,
                processes=(
                    process(user_ticks=40, system_ticks=10, run_ns=502 * MS),
                    kworker(300, 600),
                    kworker(301, 30),
                ),
            )
        )  # fmt: skip
    qes.append(qe(8, outcome=Outcome.TIMEOUT, error="ran into its time-out of 5 s", elapsed=elapsed(5000, 3)))
    lower = Means(
        "taskstats",
        [Attempt("bpf", False, "CAP_BPF is missing", "run as root"), Attempt("taskstats", True, "works")],
        False, TICK_NS, {"instructions": "the hypervisor shows no counter of instructions"},
    )  # fmt: skip
    return result(qes, asked=Asked(10, CacheState.COLD), means=lower, interrupted=True)


def compared(factor: float = 1.05, until: Stop | None = None, margin: float | None = None) -> RunResult:
    pairs = []
    for one, other in zip(noisy(12, 55, 0.02, 1), noisy(12, 55 * factor, 0.02, 2), strict=True):
        pairs += [
            dataclasses.replace(one, index=2 * one.index, query=0),
            dataclasses.replace(other, index=2 * one.index + 1, query=1),
        ]
    queries = [QUERY, Query("sum", "SELECT sum(1) FROM lineitem")]
    return result(pairs, queries, Asked(12, until=until, compare="cpu_ms", margin=margin))
