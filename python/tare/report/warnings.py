"""Warnings that a reader should know before trusting a number: one type a warning, each with its cause, the
evidence for it, and a next step that is worded by what the user already asked for."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass

from tare.measure.choices import CacheState
from tare.measure.machine.cpus import show
from tare.measure.records import Relation
from tare.protocol.statistics import SMALLEST_FOR_INTERVAL
from tare.report.asked import Asked, Places
from tare.report.numbers import bytes_text, ms_text, percent


@dataclass(frozen=True, slots=True)
class Caution(ABC):
    query: str | None  # its name; None for the whole run

    @property
    @abstractmethod
    def cause(self) -> str: ...

    @property
    @abstractmethod
    def evidence(self) -> str: ...

    @abstractmethod
    def next_step(self, asked: Asked) -> str: ...


@dataclass(frozen=True, slots=True)
class TooFewRuns(Caution):
    runs: int

    @property
    def cause(self) -> str:
        return "too few runs for a 95% interval"

    @property
    def evidence(self) -> str:
        return (
            f"{self.runs} timed runs; the interval from two of fewer than {SMALLEST_FOR_INTERVAL} holds less"
        )

    def next_step(self, asked: Asked) -> str:
        if asked.runs >= SMALLEST_FOR_INTERVAL:
            return "see why runs are missing below, then weigh again"
        return f"--runs 10 (at least {SMALLEST_FOR_INTERVAL})"


@dataclass(frozen=True, slots=True)
class UnsteadyWall(Caution):
    wall_rsd: float
    cpu_rsd: float
    neighbour: str | None

    @property
    def cause(self) -> str:
        return "the wall time is unsteady while the CPU time is steady: noise from outside the query"

    @property
    def evidence(self) -> str:
        told = f"rsd of wall {percent(self.wall_rsd)}, of CPU {percent(self.cpu_rsd)}"
        return f"{told}; most active meanwhile: {self.neighbour}" if self.neighbour else told

    def next_step(self, asked: Asked) -> str:
        if asked.isolated:
            return "quote the CPU time, or stop the neighbour; this run was isolated already"
        return "quote the CPU time, or run under `tare isolate -- tare time …`"


@dataclass(frozen=True, slots=True)
class UnsteadyCpu(Caution):
    cpu_rsd: float
    runs: int

    @property
    def cause(self) -> str:
        return "the CPU time itself is unsteady: the same work took longer at one time than at another"

    @property
    def evidence(self) -> str:
        return f"rsd of CPU {percent(self.cpu_rsd)} in {self.runs} warm runs with one plan and one answer"

    def next_step(self, asked: Asked) -> str:
        runs = max(30, 2 * asked.runs)
        return (
            f"see `tare doctor` (own core, interrupts); compare by turns (`tare compare`), or --runs {runs}"
        )


@dataclass(frozen=True, slots=True)
class CacheNotReached(Caution):
    state: CacheState
    seen: str

    @property
    def cause(self) -> str:
        return f"the cache was not {self.state} as asked"

    @property
    def evidence(self) -> str:
        return self.seen

    def next_step(self, asked: Asked) -> str:
        if self.state is CacheState.WARM:
            if asked.warmup == 0:
                return "leave out --warmup 0, or ask for --cold and mean it"
            return "see whether the tables fit in memory; what is read from disk each time is no warm run"
        return "stop what reads the database meanwhile, or run as the server's user or as root"


@dataclass(frozen=True, slots=True)
class CacheUnproved(Caution):
    state: CacheState
    seen: str

    @property
    def cause(self) -> str:
        return f"whether the cache was {self.state} cannot be proved here"

    @property
    def evidence(self) -> str:
        return self.seen

    def next_step(self, asked: Asked) -> str:
        return "run as the server's user or as root, who may look; `tare doctor` tells what is missing"


@dataclass(frozen=True, slots=True)
class StealPresent(Caution):
    ms: float
    share: float

    @property
    def cause(self) -> str:
        return "the hypervisor took CPU time away"

    @property
    def evidence(self) -> str:
        return f"{ms_text(self.ms)} of steal in the median QE, {percent(self.share)} of the wall time"

    def next_step(self, asked: Asked) -> str:
        return "weigh on a machine, or at an hour, with CPUs of its own; the CPU time leaves steal out"


@dataclass(frozen=True, slots=True)
class InterruptsServed(Caution):
    ms: float
    share: float

    @property
    def cause(self) -> str:
        return "devices interrupted the query, and its CPU time holds what serving them took"

    @property
    def evidence(self) -> str:
        return f"{ms_text(self.ms)} of interrupts in the median QE, {percent(self.share)} of the CPU time"

    def next_step(self, asked: Asked) -> str:
        return "run the server on a CPU that takes fewer (`tare isolate -- CMD` chooses one; see /proc/interrupts)"


@dataclass(frozen=True, slots=True)
class NoDelayAccounting(Caution):
    in_kernel: bool  # the kernel has it, and it is off

    @property
    def cause(self) -> str:
        return "the kernel keeps no block-I/O delay"

    @property
    def evidence(self) -> str:
        if self.in_kernel:
            return "kernel.task_delayacct is 0: waits for the disk cannot be told from other waits"
        return "it was built without delay accounting: waits for the disk cannot be told from other waits"

    def next_step(self, asked: Asked) -> str:
        if self.in_kernel:
            return "as root: sysctl kernel.task_delayacct=1, then weigh again (Tare connects anew)"
        return "weigh on a kernel with CONFIG_TASK_DELAY_ACCT, which every large distribution has"


@dataclass(frozen=True, slots=True)
class LowerTier(Caution):
    tier: str
    better: str
    reason: str
    remedy: str

    @property
    def cause(self) -> str:
        return f"measured with the {self.tier} tier; {self.better} does not work here"

    @property
    def evidence(self) -> str:
        return self.reason

    def next_step(self, asked: Asked) -> str:
        if asked.tier == self.tier:
            return "leave out --tier to let Tare take the best that works"
        return self.remedy or "`tare doctor` tells what each tier needs"


@dataclass(frozen=True, slots=True)
class Ttp2NotApplicable(Caution):
    cpus: int
    own_ms: float | None  # block I/O of the query's processes in the run with the most

    @property
    def cause(self) -> str:
        return "TTPv2's I/O estimate does not apply on more than one CPU"

    @property
    def evidence(self) -> str:
        own = (
            ""
            if self.own_ms is None
            else f"; the query's processes waited at most {ms_text(self.own_ms)} in a run"
        )
        return f"{self.cpus} CPUs were online, and one idled while some process waited for I/O{own}"

    def next_step(self, asked: Asked) -> str:
        return "use the elapsed view, which needs no estimate; TTPv2 itself asks for a single CPU"


@dataclass(frozen=True, slots=True)
class IoWorkersRead(Caution):
    read: float  # bytes in the median QE

    @property
    def cause(self) -> str:
        return "PostgreSQL's I/O workers read for the query"

    @property
    def evidence(self) -> str:
        return f"utility processes read {bytes_text(self.read)} in the median QE; the leader slept meanwhile"

    def next_step(self, asked: Asked) -> str:
        return "read I/O from the resources view, or set io_method = sync to charge it to the backend"


@dataclass(frozen=True, slots=True)
class PreemptedOften(Caution):
    count: float
    bound_ms: float
    share: float

    @property
    def cause(self) -> str:
        return "other threads preempted the query so often that its CPU time may be too low"

    @property
    def evidence(self) -> str:
        most = f"up to {ms_text(self.bound_ms)} ({percent(self.share)})"
        preempted = f"{self.count:g} preemption{'' if self.count == 1 else 's'}"
        return f"{preempted} in the median run; the scheduler booked {most} to who preempted"

    def next_step(self, asked: Asked) -> str:
        if asked.isolated:
            return "stop what wakes up on these CPUs; this run was isolated already"
        return "run under `tare isolate -- tare time …`"


@dataclass(frozen=True, slots=True)
class Throttled(Caution):
    throttled_ms: float
    share: float  # of the wall time

    @property
    def cause(self) -> str:
        return "the server's control group used up its CPU quota"

    @property
    def evidence(self) -> str:
        return f"throttled for up to {ms_text(self.throttled_ms)} in the median run, {percent(self.share)} of wall"

    def next_step(self, asked: Asked) -> str:
        return "quote the CPU time, or raise the quota (cpu.max, cpu.cfs_quota_us, --cpus of a container)"


@dataclass(frozen=True, slots=True)
class CpusApart(Caution):
    places: Places

    @property
    def cause(self) -> str:
        if self.places.server & self.places.ours:
            return "the server is confined to some of the CPUs that Tare may use"
        return "the server and Tare may use no CPU in common"

    @property
    def evidence(self) -> str:
        online = f"{len(self.places.online)} online"
        return f"server: CPU {show(self.places.server)}; Tare: CPU {show(self.places.ours)}; {online}"

    def next_step(self, asked: Asked) -> str:
        return "give both the same CPUs: `tare isolate -- tare time …` takes the server in, taskset -a -p sets them"


@dataclass(frozen=True, slots=True)
class CpuUnattributed(Caution):
    cpu_ms: float  # in the median QE
    query_cpu_ms: float
    servers: tuple[str, ...]
    relation: Relation  # of the process that used most

    @property
    def cause(self) -> str:
        return "processes that may have worked for the query are not in its CPU time"

    @property
    def evidence(self) -> str:
        used = f"{ms_text(self.cpu_ms)} beside {ms_text(self.query_cpu_ms)} of the query's"
        return f"{', '.join(self.servers)} used {used}: {_NOT_TOLD[self.relation]}"

    def next_step(self, asked: Asked) -> str:
        return _TO_TELL[self.relation]


_NOT_TOLD = {
    Relation.SHARED_SERVER: "it serves the query's process, and may serve others",
    Relation.UNSEEN_CLIENT: "its clients were gone too soon",
    Relation.HIDDEN: "this user may not see whose connections the query's process opens",
}
_TO_TELL = {
    Relation.SHARED_SERVER: "keep other clients off that server and add its CPU time, or quote the wall time",
    Relation.UNSEEN_CLIENT: "--warmup 1: Tare watches in an untimed run which servers the query connects to",
    Relation.HIDDEN: "run as root or as the server's user, or quote the wall time",
}


@dataclass(frozen=True, slots=True)
class CpuElsewhere(Caution):
    by: tuple[str, ...]
    medians_ms: tuple[float, float]

    @property
    def cause(self) -> str:
        return "CPU time of processes that may have worked for A or B could turn the verdict over"

    @property
    def evidence(self) -> str:
        a, b = map(ms_text, self.medians_ms)
        return f"{', '.join(self.by)}: {a} beside A, {b} beside B"

    def next_step(self, asked: Asked) -> str:
        return "--measure wall_ms, or keep other clients off those servers"


@dataclass(frozen=True, slots=True)
class TooShortForTicks(Caution):
    wall_ms: float
    tick_ms: float

    @property
    def cause(self) -> str:
        return "the query is too short for TTPv2, which counts in ticks"

    @property
    def evidence(self) -> str:
        return f"{ms_text(self.wall_ms)} in the median; more than two ticks of {self.tick_ms:g} ms are needed"

    def next_step(self, asked: Asked) -> str:
        return "use the CPU time, which the scheduler's clock counts in nanoseconds, or weigh a larger table"


@dataclass(frozen=True, slots=True)
class WarmUpSeen(Caution):
    seen: str
    runs: int

    @property
    def cause(self) -> str:
        return "the beginning of the run still drifts"

    @property
    def evidence(self) -> str:
        return self.seen

    def next_step(self, asked: Asked) -> str:
        if asked.cache is not CacheState.WARM:
            return "see what else settles: the first QEs after a start are often not like the rest"
        return f"--warmup {(asked.warmup or 0) + max(self.runs, 1)}"


@dataclass(frozen=True, slots=True)
class PlanNotOne(Caution):
    fingerprints: tuple[str, ...]

    @property
    def cause(self) -> str:
        return "the plan changed between runs, which then began anew"

    @property
    def evidence(self) -> str:
        return f"plans {', '.join(self.fingerprints)}"

    def next_step(self, asked: Asked) -> str:
        return "refresh the statistics (ANALYZE) and let no one change the data meanwhile"


@dataclass(frozen=True, slots=True)
class AnswersDiffer(Caution):
    seen: str

    @property
    def cause(self) -> str:
        if self.query is None:
            return "A and B do not give the same answer"
        return "not every run gave the same answer"

    @property
    def evidence(self) -> str:
        return self.seen

    def next_step(self, asked: Asked) -> str:
        if asked.compare:
            return "make sure that A and B ask the same before calling one faster"
        return (
            "give --answer any if it has no single answer (random(), now(), a sample, EXPLAIN ANALYZE, "
            "LIMIT without ORDER BY)"
        )


@dataclass(frozen=True, slots=True)
class AnswerUnread(Caution):
    why: str

    @property
    def cause(self) -> str:
        return "the answers of the runs were not compared"

    @property
    def evidence(self) -> str:
        return self.why

    def next_step(self, asked: Asked) -> str:
        return "cast the column to text in the statement, or give --answer any; the times are not affected"


@dataclass(frozen=True, slots=True)
class AnswersUnverified(Caution):
    reason: str
    remedy: str

    @property
    def cause(self) -> str:
        return "no answer was compared with a reference's"

    @property
    def evidence(self) -> str:
        return self.reason

    def next_step(self, asked: Asked) -> str:
        return self.remedy


@dataclass(frozen=True, slots=True)
class PossibleResultCache(Caution):
    seen: str

    @property
    def cause(self) -> str:
        return "the first run cost far more CPU time: a cache of results, which is on, may have answered the others"

    @property
    def evidence(self) -> str:
        return self.seen

    def next_step(self, asked: Asked) -> str:
        return "turn the DBMS's query cache off: Tare does in its own sessions, unless --setup turns it on"


@dataclass(frozen=True, slots=True)
class OwnCostHigh(Caution):
    cpu_ms: float
    share: float

    @property
    def cause(self) -> str:
        return "Tare's own work, sending and receiving, took more than 1% of the wall time"

    @property
    def evidence(self) -> str:
        return f"Tare used {ms_text(self.cpu_ms)} of CPU between the clocks, {percent(self.share)} of wall"

    def next_step(self, asked: Asked) -> str:
        return (
            "quote the CPU time, which is the server's alone; of a long result, return fewer rows (count(*))"
        )


@dataclass(frozen=True, slots=True)
class LargeResidue(Caution):
    violated: int
    judged: int
    worst: str

    @property
    def cause(self) -> str:
        return "the parts do not add up to the wall time"

    @property
    def evidence(self) -> str:
        return (
            f"in {self.violated} of {self.judged} QEs more than 2% and 1 ms are left over, e.g. {self.worst}"
        )

    def next_step(self, asked: Asked) -> str:
        return "trust no single part of those QEs; steal and neighbours at high priority are the usual cause"


@dataclass(frozen=True, slots=True)
class TraceRejected(Caution):
    violated: int
    judged: int
    worst: str

    @property
    def cause(self) -> str:
        return "the kernel's scheduler trace lost events and was rejected"

    @property
    def evidence(self) -> str:
        return f"in {self.violated} of {self.judged} QEs, e.g. {self.worst}"

    def next_step(self, asked: Asked) -> str:
        return "nothing: sleep and steal are null in those QEs, every other part is the kernel's own count"


@dataclass(frozen=True, slots=True)
class RunsMissing(Caution):
    timeouts: int
    failures: int
    last: str

    @property
    def cause(self) -> str:
        return "some runs did not end well and are not summed up"

    @property
    def evidence(self) -> str:
        return f"{self.timeouts} timed out, {self.failures} failed; the last: {self.last}"

    def next_step(self, asked: Asked) -> str:
        return "raise --timeout, or mend what the DBMS names" if self.timeouts else "mend what the DBMS names"


@dataclass(frozen=True, slots=True)
class NotResolved(Caution):
    half_width: float | None

    @property
    def cause(self) -> str:
        return "the runs ended before the difference was known as well as asked"

    @property
    def evidence(self) -> str:
        if self.half_width is None:
            return "too few runs for an interval of the ratio"
        return f"the ratio is known to ±{percent(self.half_width)}"

    def next_step(self, asked: Asked) -> str:
        return "give more runs, a wider --until, or compare by CPU time, which neighbours do not move"


def type_name(kind: type[Caution]) -> str:
    """Name of a warning's type in the result document."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", kind.__name__).lower()


_OTHER_MEASURES: tuple[type[Caution], ...] = (
    NoDelayAccounting,
    LowerTier,
    Ttp2NotApplicable,
    IoWorkersRead,
    TooShortForTicks,
    AnswerUnread,
    AnswersUnverified,
)

SPARE_THE_TIMES = frozenset(map(type_name, _OTHER_MEASURES))
"""Types after which wall time and CPU time may still be relied on: they concern other measures."""
