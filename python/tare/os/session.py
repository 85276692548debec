"""Conduct of a trace: of any load for a while, or of queries one by one."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace

from tare.dbms.base import Prepared, Session
from tare.errors import QueryTimeout, StatementFailed
from tare.os.counters import read_process
from tare.os.levels import Level
from tare.os.nodes import Node
from tare.os.proc_tracing import ProcTracing
from tare.os.sums import Sums, difference, total
from tare.os.tracing import Tracing, Window, window
from tare.protocol.comparison.blocks import RatioEstimate, ratio_over_blocks

IDLE_LEAST_S, IDLE_MOST_S = 0.2, 5.0
"""Bounds of the window that shows what the nodes do without the query."""

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Query:
    name: str
    sql: str


@dataclass(slots=True)
class Execution:
    """`cpu_ns`: CPU time of the session's process, from the kernel's own count. `window`: None if it was not traced."""

    wall_ns: int
    cpu_ns: int | None
    window: Window | None = None


@dataclass(slots=True)
class Stage:
    """Traced executions of one query, or of the load. `slices`: sums of each second of a watch."""

    name: str
    sql: str = ""
    traced: list[Execution] = field(default_factory=list)
    plain: list[Execution] = field(default_factory=list)
    idle: Window | None = None
    slices: list[Sums] = field(default_factory=list)
    error: str = ""

    @property
    def windows(self) -> list[Window]:
        return [execution.window for execution in self.traced if execution.window is not None]

    @property
    def sums(self) -> Sums:
        """Over all traced executions."""
        return total(found.sums for found in self.windows)

    @property
    def wall_ns(self) -> float:
        """Median of a traced execution."""
        return statistics.median(execution.wall_ns for execution in self.traced)

    @property
    def overhead(self) -> tuple[RatioEstimate | None, RatioEstimate | None]:
        """Wall and CPU time of traced executions over those of plain ones, paired by block."""
        pairs = list(zip(self.plain, self.traced, strict=False))
        wall = ratio_over_blocks([p.wall_ns for p, _ in pairs], [t.wall_ns for _, t in pairs])
        known = [(p.cpu_ns, t.cpu_ns) for p, t in pairs if p.cpu_ns and t.cpu_ns]
        return wall, ratio_over_blocks([p for p, _ in known], [t for _, t in known])


@dataclass(frozen=True, slots=True)
class Trace:
    """Result of a command. `interrupted`: the user ended it early."""

    nodes: Sequence[Node]
    level: Level
    stages: Sequence[Stage]
    interrupted: bool = False


def opened(nodes: Sequence[Node], level: Level) -> Tracing | ProcTracing:
    """A tracing of this level. Raises PrivilegeMissing."""
    return ProcTracing(nodes) if level is Level.PROC else Tracing(nodes, level)


def watch(nodes: Sequence[Node], level: Level, duration_s: float, say: Say = lambda text: None) -> Trace:
    """Trace whatever the nodes do. Raises PrivilegeMissing.

    Ctrl-C ends it early, and what was traced so far is kept."""
    stage = Stage("load")
    interrupted = False
    with opened(nodes, level) as tracing:
        before = earlier = tracing.mark()
        until = time.monotonic() + duration_s
        messages = b""
        try:
            while (left := until - time.monotonic()) > 0:
                time.sleep(min(1.0, left))
                now = tracing.mark()
                messages += now.messages
                stage.slices.append(difference(earlier.sums, now.sums))
                earlier = now
                say(f"{duration_s - max(0.0, until - time.monotonic()):.0f} of {duration_s:g} s")
        except KeyboardInterrupt:
            interrupted = True
        after = tracing.mark()
    whole = window(before, replace(after, messages=messages + after.messages))
    stage.traced.append(Execution(whole.sums.elapsed_ns, None, whole))
    return Trace(nodes, level, [stage], interrupted)


def run(
    nodes: Sequence[Node],
    level: Level,
    session: Session,
    queries: Sequence[Query],
    *,
    runs: int,
    warmup: int,
    timeout_s: float | None,
    seed: int,
    say: Say = lambda text: None,
) -> Trace:
    """Trace queries one by one. Each block holds a traced and a plain execution in random order, so that the price of
    tracing is measured with it. A query that fails is kept with its error. Raises PrivilegeMissing, ServerLost.

    Ctrl-C ends it, and whole blocks are kept."""
    turns = _Turns(nodes, level, session, timeout_s, random.Random(seed))
    stages: list[Stage] = []
    interrupted = False
    try:
        for query in queries:
            stage = Stage(query.name, query.sql)
            stages.append(stage)
            try:
                for block, (traced, plain) in enumerate(turns.blocks(query.sql, runs, warmup), 1):
                    stage.traced.append(traced)
                    stage.plain.append(plain)
                    say(f"{query.name}: {block} of {runs}")
                stage.idle = turns.idle(stage.wall_ns / 1e9)
            except (StatementFailed, QueryTimeout) as error:
                stage.error = error.what
    except KeyboardInterrupt:
        interrupted = True
    return Trace(nodes, level, [stage for stage in stages if stage.traced or stage.error], interrupted)


@dataclass(frozen=True, slots=True)
class _Turns:
    """Traced and plain executions in one session."""

    nodes: Sequence[Node]
    level: Level
    session: Session
    timeout_s: float | None
    chance: random.Random

    def blocks(self, sql: str, runs: int, warmup: int) -> Iterator[tuple[Execution, Execution]]:
        """A traced and a plain execution of each block, which ran in random order."""
        prepared = self.session.prepare(sql)
        leader = self.session.leader()
        pid = leader.pid if leader else None
        try:
            for _ in range(warmup):
                prepared.execute(self.timeout_s)
            for _ in range(runs):
                executions = {}
                for is_traced in self.chance.sample([True, False], 2):
                    with opened(self.nodes, self.level) if is_traced else nullcontext() as tracing:
                        executions[is_traced] = self._execute(prepared, pid, tracing)
                yield executions[True], executions[False]
        finally:
            with suppress(StatementFailed):
                prepared.close()

    def _execute(
        self, prepared: Prepared, pid: int | None, tracing: Tracing | ProcTracing | None
    ) -> Execution:
        """`pid`: process of the session."""
        cpu = _cpu_ns(pid)
        before = tracing.begin() if tracing else None
        began = time.monotonic_ns()
        prepared.execute(self.timeout_s)
        wall = time.monotonic_ns() - began
        after = tracing.end() if tracing else None
        cpu_after = _cpu_ns(pid)
        found = window(before, after) if before and after else None
        return Execution(wall, None if cpu is None or cpu_after is None else cpu_after - cpu, found)

    def idle(self, query_s: float) -> Window:
        """About as long as the query runs."""
        with opened(self.nodes, self.level) as tracing:
            before = tracing.begin()
            time.sleep(min(IDLE_MOST_S, max(IDLE_LEAST_S, query_s)))
            return window(before, tracing.end())


def _cpu_ns(pid: int | None) -> int | None:
    found = read_process(pid) if pid is not None else None
    return found.cpu_ns if found else None
