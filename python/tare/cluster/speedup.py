"""Speed-up of queries over clusters of several sizes (Figure 1 of Zhang et al.).

All clusters are up at the same time, and one of them works. A block runs each query once on every cluster, in random
order, so that what the machine does meanwhile meets all sizes alike.
"""

from __future__ import annotations

import gc
import os
import random
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from pydantic import Field

from tare.cluster import cgroup, quota
from tare.cluster.engine import engine
from tare.cluster.load import load_tpch
from tare.cluster.record import Cluster, Limits
from tare.cluster.request import ClusterRequest, check_name
from tare.cluster.start import start
from tare.cluster.stop import stop
from tare.cluster.units import rate_text
from tare.dbms.base import Session
from tare.dbms.registry import find
from tare.errors import TareError, UsageError
from tare.interruption import deferred
from tare.measure.query import Query
from tare.records import Record

MOST_CLUSTERS = 12
WARM_UP = -1
"""Block of the executions that warm up. They are not recorded."""

Seat = tuple["Arm", Session, Mapping[str, cgroup.Group]]
"""A cluster's size, its session, and the cgroups of its nodes."""


class Arm(Record):
    """Size of a cluster, and the rate of its links."""

    shards: int
    rate_bits: int | None = None  # None: the kernel's

    @property
    def name(self) -> str:
        shards = f"{self.shards} shard{'s' if self.shards > 1 else ''}"
        return shards if self.rate_bits is None else f"{shards}, {rate_text(self.rate_bits)}"


class Execution(Record):
    """Execution of a query on one of the clusters."""

    arm: Arm
    query: str
    block: int  # from 0
    wall_ns: int
    rows: int
    throttled_ns: dict[str, int]  # time without CPU since the quota was used up, by node


class SpeedupRecord(Record):
    """All executions, in the order in which they ran."""

    engine: str
    versions: tuple[str, ...]  # coordinator's first
    scale: float
    cpus: float  # quota of each node
    memory_bytes: int | None
    online_cpus: int
    started_at: str
    arms: tuple[Arm, ...]
    executions: tuple[Execution, ...]
    failures: dict[str, str] = Field(default={})  # error by query: it was left out from there on
    is_stopped: bool = False


@dataclass(frozen=True, slots=True)
class SpeedupRequest:
    """Request of a user. `blocks`: executions of each query on each cluster."""

    engine: str
    name: str  # names of the clusters begin with it
    arms: tuple[Arm, ...]
    cpus: float
    scale: float
    queries: tuple[Query, ...]
    blocks: int
    seed: int
    limits: Limits
    version: str | None = None
    timeout_s: float | None = None

    def check(self) -> None:
        """Raise UsageError for what no machine or this one cannot do."""
        if len(self.arms) < 2:
            raise UsageError(
                "a speed-up compares clusters, and there is one", "give several sizes: --shards 1,2,4"
            )
        if len(self.arms) > MOST_CLUSTERS:
            raise UsageError(
                f"{len(self.arms)} clusters are too many to be up at the same time",
                f"give at most {MOST_CLUSTERS} pairs of a size and a rate",
            )
        quota.refuse_too_much(self.cpus, max(arm.shards for arm in self.arms) + 1, ())
        for number in range(len(self.arms)):
            check_name(self.cluster_name(number))
            self.request(number).check()

    def cluster_name(self, number: int) -> str:
        return f"{self.name}{number + 1}"

    def request(self, number: int) -> ClusterRequest:
        """Return the request for a cluster. Its quota is set once all are loaded."""
        arm = self.arms[number]
        limits = replace(self.limits, rate_bits=arm.rate_bits, cpus=None)
        return ClusterRequest(
            self.engine, self.cluster_name(number), arm.shards, limits, version=self.version
        )


@dataclass(frozen=True, slots=True)
class Step:
    """Announcement of what is done next."""

    text: str


@dataclass(frozen=True, slots=True)
class Done:
    """An execution has ended."""

    execution: Execution


@dataclass(frozen=True, slots=True)
class Failed:
    """A query failed and is left out from now on."""

    query: str
    error: str


@dataclass(frozen=True, slots=True)
class Stopped:
    """A signal ended the run; whole blocks are kept."""

    interrupt: KeyboardInterrupt


Event = Step | Done | Failed | Stopped
Hear = Callable[[Event], None]
"""Receives progress. Never called while a clock is running."""


def measure(request: SpeedupRequest, hear: Hear = lambda event: None) -> SpeedupRecord:
    """Start the clusters, load them, run the blocks and remove the clusters, whatever happens.

    Raises UsageError before anything is made, and what a start or a load raises."""
    request.check()
    started_at = datetime.now(UTC).isoformat(timespec="seconds")
    runner = _Runner(request, hear)
    with ExitStack() as made:
        interrupt: KeyboardInterrupt | None = None
        try:
            clusters = _clusters(request, made, hear)
            runner.run(clusters, made)
        except KeyboardInterrupt as signal:
            if not runner.executions:
                raise
            interrupt = signal
            hear(Stopped(signal))
        versions = tuple(dict.fromkeys(node.version for node in clusters[0].nodes))
    return SpeedupRecord(
        engine=request.engine,
        versions=versions,
        scale=request.scale,
        cpus=request.cpus,
        memory_bytes=request.limits.memory_bytes,
        online_cpus=len(os.sched_getaffinity(0)),
        started_at=started_at,
        arms=request.arms,
        executions=tuple(runner.executions),
        failures=runner.failures,
        is_stopped=interrupt is not None,
    )


def _clusters(request: SpeedupRequest, made: ExitStack, hear: Hear) -> list[Cluster]:
    """Start and load all clusters, then set their quotas."""
    loaded = []
    for number, arm in enumerate(request.arms):
        name = request.cluster_name(number)
        hear(Step(f"starting a cluster of {arm.name}"))
        cluster = start(request.request(number))
        made.callback(_remove, cluster.name)
        hear(Step(f"loading TPC-H at scale {request.scale:g} into it"))
        loaded.append(load_tpch(name, request.scale))
    where = cgroup.layout()
    return [
        quota.apply(replace(cluster, limits=replace(cluster.limits, cpus=request.cpus)), where)
        for cluster in loaded
    ]


def _remove(name: str) -> None:
    with deferred():
        stop(name)


@dataclass
class _Runner:
    request: SpeedupRequest
    hear: Hear
    executions: list[Execution] = field(default_factory=list)
    failures: dict[str, str] = field(default_factory=dict)

    def run(self, clusters: Sequence[Cluster], made: ExitStack) -> None:
        sessions = [self._session(cluster, made) for cluster in clusters]
        where = cgroup.layout()
        groups = [
            {node.name: cgroup.Group(node.cgroup, where) for node in cluster.nodes} for cluster in clusters
        ]
        seats = list(zip(self.request.arms, sessions, groups, strict=True))
        self.hear(Step("running each query once on each cluster to warm up"))
        for query in self.request.queries:
            self._attempt(query, seats, WARM_UP)
        draw = random.Random(self.request.seed)
        for block in range(self.request.blocks):
            done: list[Execution] = []
            for query in self.request.queries:
                if query.name not in self.failures:
                    done += self._attempt(query, draw.sample(seats, len(seats)), block)
            self.executions += done
            for execution in done:
                self.hear(Done(execution))

    def _session(self, cluster: Cluster, made: ExitStack) -> Session:
        url = engine(cluster.engine).url(cluster.coordinator)
        session = find(url).connect(url)
        made.callback(_close, session)
        return session

    def _attempt(self, query: Query, seats: Sequence[Seat], block: int) -> list[Execution]:
        """Return the executions of a query on all clusters; none where it failed on one."""
        try:
            done = [self._execute(seat, query, block) for seat in seats]
        except TareError as error:
            self.failures[query.name] = error.what
            self.hear(Failed(query.name, error.what))
            return []
        rows = {execution.arm.name: execution.rows for execution in done}
        if len(set(rows.values())) > 1:
            self.failures[query.name] = f"the clusters return different numbers of rows: {rows}"
            self.hear(Failed(query.name, self.failures[query.name]))
            return []
        return done

    def _execute(self, seat: Seat, query: Query, block: int) -> Execution:
        arm, session, groups = seat
        prepared = session.prepare(query.sql)
        prepared.limit(self.request.timeout_s)
        before = {name: group.throttling().ns for name, group in groups.items()}
        collecting = gc.isenabled()
        gc.disable()
        try:
            began_ns = time.monotonic_ns()
            fetched = prepared.plan_and_execute(self.request.timeout_s)
            wall_ns = time.monotonic_ns() - began_ns
        finally:
            if collecting:
                gc.enable()
            with suppress(Exception):
                prepared.close()
        return Execution(
            arm=arm,
            query=query.name,
            block=block,
            wall_ns=wall_ns,
            rows=fetched.row_count,
            throttled_ns={name: group.throttling().ns - before[name] for name, group in groups.items()},
        )


def _close(session: Session) -> None:
    with suppress(Exception):  # the clusters go anyway
        session.close()
