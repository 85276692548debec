"""The result document, version 1: the models behind `schemas/result-v1.json`.

Everything a report shows is in it, and nothing is in it that was not measured: a number that could
not be had is null and says why.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from tare.protocol import measures
from tare.protocol.measures import View
from tare.report.comparison_models import ComparisonResult
from tare.report.document import Bounds, Document

SCHEMA_NAME: Literal["tare-result/1"] = "tare-result/1"

QueryOutcome = Literal["ok", "partial", "failed"]


# Measures --------------------------------------------------------------------------
class MeasureResult(Document):
    """Measure over the timed QEs of a query."""

    median: float | None
    ci95: Bounds | None = Field(
        description="Distribution-free interval of the median (two order statistics); holds it with "
        "`coverage`, which is at least 0.95. Null with `ci_reason` where none does."
    )
    coverage: float | None
    ci_reason: str | None
    rsd: float | None = Field(description="Sample standard deviation (n - 1) over |mean|.")
    samples: list[float | None] = Field(description="In run order, one for each QE with a `sample` number.")
    reason: str | None = Field(description="Why the median is null.")
    note: str | None = Field(description="Caveat to bear in mind when reading the value.")
    sampled: bool = Field(description="True for a split that the kernel samples: only the sum is counted.")
    unit: str
    view: View = Field(
        description="elapsed: a part of the leader's timeline; resources: summed over every query "
        "process; protocol: calculated; counter: a hardware counter over every query process; phases: a part of "
        "the wall time, or of the CPU time of every query process."
    )


_RESOURCES = {one.name: one for one in measures.RESOURCES}


def _described(measure: measures.Measure, **more: Any) -> Any:
    return Field(**more, description=f"{measure.meaning} View: {measure.view}.")


class Measures(Document):
    """The elapsed view, whose parts add up to the wall time in every QE, and what stands beside it."""

    wall_ms: MeasureResult = _described(measures.WALL)
    cpu_ms: MeasureResult = _described(measures.CPU)
    cpu_user_ms: MeasureResult = _described(measures.USER)
    cpu_system_ms: MeasureResult = _described(measures.SYSTEM)
    interrupt_ms: MeasureResult | None = _described(measures.INTERRUPT, default=None)
    block_io_ms: MeasureResult = _described(measures.BLOCK_IO)
    run_queue_ms: MeasureResult = _described(measures.RUN_QUEUE)
    throttled_ms: MeasureResult | None = _described(measures.THROTTLED, default=None)
    sleep_ms: MeasureResult = _described(measures.SLEEP)
    steal_ms: MeasureResult = _described(measures.STEAL)
    residue_ms: MeasureResult = _described(measures.RESIDUE)
    ttp2_ms: MeasureResult = Field(description=measures.TTP2_MEANING)
    instructions: MeasureResult = _described(measures.INSTRUCTIONS)


class ResourceMeasures(Document):
    """The resources view: never to be added to the elapsed one."""

    processes: MeasureResult = _described(_RESOURCES["processes"])
    cpu_ms: MeasureResult = _described(_RESOURCES["cpu_ms"])
    leader_cpu_ms: MeasureResult | None = _described(_RESOURCES["leader_cpu_ms"], default=None)
    workers_cpu_ms: MeasureResult | None = _described(_RESOURCES["workers_cpu_ms"], default=None)
    cpu_user_ms: MeasureResult = _described(_RESOURCES["cpu_user_ms"])
    cpu_system_ms: MeasureResult = _described(_RESOURCES["cpu_system_ms"])
    block_io_ms: MeasureResult = _described(_RESOURCES["block_io_ms"])
    run_queue_ms: MeasureResult = _described(_RESOURCES["run_queue_ms"])
    read_bytes: MeasureResult = _described(_RESOURCES["read_bytes"])
    write_bytes: MeasureResult = _described(_RESOURCES["write_bytes"])
    utility_cpu_ms: MeasureResult = _described(_RESOURCES["utility_cpu_ms"])
    utility_block_io_ms: MeasureResult = _described(_RESOURCES["utility_block_io_ms"])
    utility_read_bytes: MeasureResult = _described(_RESOURCES["utility_read_bytes"])
    unattributed_cpu_ms: MeasureResult | None = _described(_RESOURCES["unattributed_cpu_ms"], default=None)


class PhaseMeasures(Document):
    """Planning and execution: adjacent parts of a QE whose planning is clocked."""

    planning_ms: MeasureResult = _described(measures.PLANNING)
    execution_ms: MeasureResult = _described(measures.EXECUTION)
    planning_cpu_ms: MeasureResult = _described(measures.PLANNING_CPU)
    execution_cpu_ms: MeasureResult = _described(measures.EXECUTION_CPU)


# What stands beside them ------------------------------------------------------------
class PlanResult(Document):
    fingerprint: str | None = Field(description="Equal for plans that differ only in costs and literals.")
    consistent: bool = Field(description="Every timed QE ran under this plan.")
    tree: dict[str, object] | None
    text: str | None


class AnswerResult(Document):
    rows: int | None
    size_bytes: int | None = Field(
        default=None, description="Size of the first answer, if it was received as bytes (COPY … TO STDOUT)."
    )
    hash: str | None = Field(description="Hash of the rows, whatever their order.")
    consistent: bool = Field(
        description="Every QE that ended, also one to warm up, gave this answer; false where answers were not compared."
    )
    compared: Literal["exact", "close", "any"] | None = Field(
        default=None,
        description="Comparison of answers, as requested: bit for bit, floating-point values within a tolerance, or "
        "not at all.",
    )
    largest_difference: float | None = Field(
        default=None,
        description="Between floating-point values of a QE's answer and of the first one, relative; null where none "
        "were compared.",
    )
    by_sums: bool = Field(
        default=False,
        description="There were too many floating-point values to compare each: sums of them were.",
    )
    not_compared: str | None = Field(
        default=None, description="Why answers were not compared; null if they were."
    )
    reference: str | None = Field(
        default=None,
        description="DBMS whose answer on the same rows this one was compared with; null for none.",
    )
    reference_difference: str | None = Field(
        default=None, description="First difference from the reference's answer; null where they agree."
    )


class QueryFile(Document):
    """A file outside the database that the query reads, as an untimed execution found it."""

    path: str
    resident_bytes: int | None = Field(description="Just before the clock; null where this user cannot look.")
    size_bytes: int | None


class CacheReading(Document):
    """Data in memory just before a QE's clock started."""

    qe: int
    page_cache_bytes: int | None
    file_bytes: int | None
    page_cache_share: float | None
    page_cache_how: str
    buffer_bytes: int | None
    buffer_how: str
    buffers_emptied: str | None = Field(
        default=None, description="How the DBMS's buffers were emptied, if they were."
    )
    query_files: list[QueryFile] = Field(
        default=[],
        description="Files outside the database that the query reads. They are evicted with the database's own.",
    )
    query_files_how: str = Field(
        default="",
        description="How they were found: fanotify (the kernel reported every open) or descriptors (of the query's "
        "processes); empty where they were not looked for.",
    )


class CacheResult(Document):
    asked: Literal["warm", "lukewarm-os", "lukewarm-dbms", "cold"]
    reached: bool | None = Field(description="Null where nothing could be seen that proves it.")
    evidence: str
    proof: list[CacheReading]


class CheckEvidence(Document):
    qe: int | None = Field(description="Index of the QE; null where the check is of the whole query.")
    text: str


class CheckResult(Document):
    number: int
    name: str
    source: str
    judged: int = Field(description="Cases (QEs, or 1 for the whole query) that could be judged.")
    violated: int
    qes: list[int]
    evidence: list[CheckEvidence]
    unjudged: str | None = Field(description="Why some cases could not be judged.")


class DeviationResult(Document):
    name: str
    text: str


class Ttp2Result(Document):
    """How TTPv2 came to its time, or why to none."""

    time_ms: float | None
    reason: str | None
    sd_ms: float | None
    retained: int
    dropped_qes: list[int]
    query_process: str = Field(description="How the query process was identified.")
    deviations: list[DeviationResult]


class DisturberResult(Document):
    """Processes of one name and role that ran meanwhile. Means over the timed QEs."""

    comm: str
    role: Literal["utility", "executor", "daemon"]
    kernel: bool
    pids: list[int]
    run_ms: float
    share: float = Field(description="Share of wall time x online CPUs.")
    on_query_cpus_ms: float = Field(
        description="By those last seen on a CPU on which a query process was last seen."
    )


class HelperResult(Document):
    """Processes of one name that worked for the query beside its leader and its parallel workers, or may have."""

    comm: str
    relation: Literal[
        "child",
        "session",
        "client",
        "parallel-worker",
        "short-connection",
        "shared-server",
        "unseen-client",
        "hidden",
    ] = Field(
        description="How that is known. short-connection: inferred. The CPU time of shared-server, unseen-client and "
        "hidden is in `unattributed_cpu_ms`, of all others in `cpu_ms`."
    )
    pids: list[int]
    run_ms: float = Field(description="Mean of the timed executions.")


class PreemptionResult(Document):
    """Preemptions of the query processes. What the scheduler books to who preempts is missing in their CPU time."""

    count: float = Field(description="Involuntary switches in the median run.")
    bound_ms: float = Field(description="By which `cpu_ms` may be too low: 14 µs for each.")
    share: float = Field(description="Share of `bound_ms` in the CPU time.")


class WarmUpResult(Document):
    runs: int = Field(description="Warm-up runs that were made and left out of the summaries.")
    detected: bool = Field(description="The beginning of the timed runs still drifts.")
    drifting_runs: int
    evidence: str


class GrowthResult(Document):
    """Growth from run to run of a query that may change data. Each figure is for a run; 0 for what does not rise."""

    runs: int
    size_bytes: float = Field(description="Growth of the database's files or pages, without its log.")
    table: str | None = Field(description="The table that gains most rows; null where the DBMS counts none.")
    live_rows: float = Field(
        description="Live rows that the table gains, by the DBMS's own count; DuckDB's has rows deleted since the last "
        "checkpoint."
    )
    dead_rows: float = Field(
        description="Dead rows that the table gains: deleted or replaced, and still stored."
    )
    cost: Literal["cpu", "wall"] | None = Field(
        description="Time that rises with the run's number: CPU of all query processes, or wall; null if neither does."
    )
    cost_ratio: float = Field(description="Its rise from one run to the next, relative to its median.")


class QEResult(Document):
    """Execution of a query, in run order."""

    index: int
    sample: int | None = Field(description="Its place in every `samples`; null if it is not summed up.")
    warmup: bool
    outcome: Literal["ok", "timeout", "failed", "plan-changed"]
    error: str | None
    started_at: str
    wall_ms: float | None
    fingerprint: str | None
    rows: int | None
    answer: str | None
    answer_difference: float | None = Field(
        default=None,
        description="Difference of this QE's answer from the first one, as in `largest_difference`.",
    )


class QueryResult(Document):
    name: str
    sql: str
    parameters: dict[str, str]
    outcome: QueryOutcome = Field(
        description="ok: every run asked for; partial: fewer, or some failed; failed: no timed QE."
    )
    error: str | None = Field(
        default=None,
        description="Error that ended the query's runs early, while the run continued with the next query.",
    )
    measures: Measures
    resources: ResourceMeasures
    phases: PhaseMeasures | None = Field(
        default=None, description="Null where only the execution is clocked, or nothing was timed."
    )
    ttp2: Ttp2Result
    plan: PlanResult
    answer: AnswerResult
    cache: CacheResult
    checks: list[CheckResult]
    disturbers: list[DisturberResult]
    helpers: list[HelperResult] = Field(default_factory=list)
    preemption: PreemptionResult | None = Field(
        default=None, description="Null where switches were not counted."
    )
    warmup: WarmUpResult
    growth: GrowthResult | None = Field(
        default=None, description="Null where nothing grows, or the query may not change data."
    )
    qes: list[QEResult]


# The run -------------------------------------------------------------------------------
class MachineResult(Document):
    cpu_model: str
    online_cpus: int
    usable_cpus: int
    memory_bytes: int
    hypervisor: str | None


class ServerResult(Document):
    dbms: str
    version: str
    settings: dict[str, str]
    url: str = Field(description="Without its password.")
    local: bool


class AttemptResult(Document):
    name: str
    works: bool
    reason: str


class ProbeResult(Document):
    tier: str
    attempts: list[AttemptResult]
    delay_accounting: bool | None
    tick_ms: float


class OwnCostResult(Document):
    """Cost of Tare itself around a QE: medians over the timed QEs, rss the highest."""

    cpu_ms: float | None = Field(
        description="Our process's, from before the first clock to after the second."
    )
    share_of_wall: float | None
    snapshots_ms: float | None = Field(description="Outside the clocked interval.")
    rss_bytes: int | None


class TareResult(Document):
    version: str
    python: str
    cost: OwnCostResult


class Environment(Document):
    machine: MachineResult
    kernel: str
    operating_system: str
    server: ServerResult
    probe: ProbeResult
    tare: TareResult


class ArmResult(Document):
    """Side of a comparison of servers or settings."""

    server: ServerResult
    settings: dict[str, str] = Field(description="Settings of its sessions, as the DBMS reads them back.")


class WarningResult(Document):
    type: str
    query: str | None
    cause: str
    evidence: str
    next_step: str
    brief: str = Field(default="", description="Cause and number in one line; empty in older results.")


class RunResult(Document):
    """Run of `tare time` or `tare compare`."""

    schema_: Literal["tare-result/1"] = Field(default=SCHEMA_NAME, alias="schema")
    command: str
    started_at: str = Field(description="UTC, ISO 8601.")
    interrupted: bool
    error: str | None = Field(description="Error that ended the run before its time.")
    ended_by: str | None = Field(
        default=None,
        description="The query whose failure that is; null where no query's failure ended the run.",
    )
    clocked: Literal["total", "execution"] = Field(
        default="execution",
        description="Interval that the clocks enclose. total: parsing, planning, execution and fetch, as a client "
        "pays; execution: execution and fetch of a prepared statement, the paper's measure.",
    )
    environment: Environment
    results: list[QueryResult]
    comparison: ComparisonResult | None
    comparisons: list[ComparisonResult] = Field(
        default=[], description="Comparisons, one for each query of a set; then `comparison` is null."
    )
    arms: list[ArmResult] = Field(
        default=[], description="A and B. Empty: both ran on one server under its settings."
    )
    warnings: list[WarningResult]

    @property
    def pairs(self) -> list[ComparisonResult]:
        """All comparisons of the run: one, or one for each query of a set."""
        return self.comparisons if self.comparison is None else [self.comparison]

    def sides(self, found: ComparisonResult) -> tuple[QueryResult, QueryResult]:
        """A and B of one of `pairs`, which stand one after the other; their names may be the same."""
        following = zip(self.results, self.results[1:], strict=False)
        return next((a, b) for a, b in following if (a.name, b.name) == (found.a, found.b))
