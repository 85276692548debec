"""The report of a transactional run, version 1: the models behind `schemas/oltp-v1.json`.

All that the HTML and Markdown reports say in numbers is in it. Times are ms, counted from the intended start of a
transaction (response) or from the real one (service). A figure whose interval is null describes the transactions
of this run and no others.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from tare.report.document import Document

SCHEMA_NAME: Literal["tare-oltp/1"] = "tare-oltp/1"


class Figure(Document):
    """With its 95% interval."""

    value: float
    low: float | None = Field(description="Null, like `high`: no interval can be given.")
    high: float | None


class Precision(Document):
    """How the intervals were had: neighbours in time are alike, so that n transactions tell less than n."""

    batches: int | None = Field(description="Number of batches of seconds; null where there were too few.")
    seconds: int | None = Field(description="In each.")
    inflation: float | None = Field(
        description="Spread of the batches' means over what independent transactions would give; the effective n "
        "is n over it."
    )
    why: str | None = Field(description="Why there are no intervals.")


class Times(Document):
    """Times of one kind, for one type of transaction."""

    n: int
    mean: Figure | None
    variance: Figure | None = Field(description="ms².")
    sd: Figure | None
    cv: Figure | None = Field(description="Standard deviation over mean.")
    p: float = Field(description="Exponent p of the L_p norm.")
    norm: float | None = Field(description="(Σ lᵢᵖ)^(1/p), which grows with n; ms.")
    power_mean: Figure | None = Field(description="(Σ lᵢᵖ / n)^(1/p), the norm freed of n.")
    least: float | None
    quantiles: dict[str, Figure | None] = Field(description="By name: p25, p50, p75, p90, p95, p99, p99.9.")
    largest: float | None


class Counts(Document):
    """Every arrival ends in exactly one of committed … unstarted; their sum is `offered`."""

    offered: int
    started: int = Field(description="Sent at least once (not a part of the sum).")
    committed: int
    rolled_back: int = Field(description="Transactions rolled back as the workload's specification has it.")
    deadlocks: int
    serialization_failures: int
    lock_timeouts: int
    lost: int
    errors: int
    shed: int
    unstarted: int
    retried_deadlock: int
    retried_serialization: int
    retried_lock_timeout: int

    @property
    def retried(self) -> int:
        return self.retried_deadlock + self.retried_serialization + self.retried_lock_timeout


class Type(Document):
    name: str
    share: float | None = Field(description="Share of the mix, as requested; null: all types together.")
    counts: Counts
    response: Times
    service: Times
    lag: Times = Field(description="From the intended start to the real one.")


class Quick(Document):
    mean: float
    p50: float
    p95: float
    p99: float
    max: float


class Second(Document):
    number: int = Field(description="From the start of the measured part; warm-up below 0.")
    phase: int
    offered: int
    started: int
    ended: int = Field(description="Committed, or rolled back as specified.")
    failed: int = Field(description="Sent, and neither committed nor rolled back as specified.")
    retried: int
    backlog: int = Field(description="Due and not started at its end.")
    running: int = Field(description="In the DBMS at its end.")
    response: Quick | None
    service: Quick | None
    own_cpu_ms: float


class Series(Document):
    """A server measure, second by second."""

    name: str
    unit: str
    points: list[tuple[int, float]] = Field(description="Second and value.")

    @property
    def moved(self) -> bool:
        """It was not 0 throughout."""
        return any(value for _, value in self.points)


class Stall(Document):
    """Seconds in which transactions were due or running, and none ended."""

    first: int
    last: int
    waiting: int = Field(description="Due and not ended at its end.")


class Phase(Document):
    rate: float | None
    duration_s: float


class Asked(Document):
    arrivals: str
    trace: str | None
    phases: list[Phase]
    connections: int
    seed: str = Field(description="Seed of mix, parameters and arrivals; 64 bits.")
    warmup_s: float
    drain_s: float
    tries: int
    isolation: str
    mix: dict[str, float] = Field(description="Percent by type, as used.")
    options: dict[str, str] = Field(description="Options of the workload, given to the run.")
    think: float
    shed_after_s: float | None


class Freeze(Document):
    """No transaction ended for a second or more, while some were due or running; wherever seconds begin."""

    start_s: float = Field(description="From the start of the measured part.")
    length_s: float
    waiting: int = Field(description="Due and not ended at its end.")


class Fact(Document):
    """A reason with its figures, as `tare.workload.oltp.verdict` names them; times in ns."""

    kind: str
    figures: dict[str, int | float | str | None]


class Held(Document):
    """Result beside the request."""

    intended_rate: float | None = Field(description="Transactions a second; null: closed loop.")
    rate: float = Field(description="Started before the schedule's end.")
    off: float | None = Field(description="Rate over the intended one, less 1.")
    sustained_rate: float | None = Field(
        default=None,
        description="Transactions a second that were started before the schedule's end and were committed or rolled "
        "back as specified; null: a report of an earlier version.",
    )
    sustained_off: float | None = Field(
        default=None, description="Sustained rate over the intended one, less 1."
    )
    took_s: float
    warmup_s: float
    warmup: Counts
    reconnects: int
    isolation: str = Field(description="Isolation level that was in force, in the DBMS's words.")
    own_cpu_s: float
    own_cpu_ms_each: float | None = Field(description="The driver's CPU time for each started transaction.")
    own_peak_rss_bytes: int
    samples: int


class Check(Document):
    """A condition on the data."""

    name: str
    says: str
    before: int | None = Field(description="Failing rows; null: not held against the data.")
    after: int | None
    ms: float | None = Field(description="How long the DBMS took, after the run, else before.")
    columns: list[str]
    rows: list[list[str]] = Field(description="The first failing ones, after the run, else before.")


class Trouble(Document):
    at_s: float
    text: str


class Server(Document):
    dbms: str
    version: str
    settings: dict[str, str]
    url: str = Field(description="Without its password.")
    local: bool


class Data(Document):
    """Data that was loaded."""

    workload: str
    scale: float
    seed: str
    options: dict[str, str] = Field(
        description="Options that it was loaded with; a run takes them where it is given none."
    )


class OltpReport(Document):
    schema_: Literal["tare-oltp/1"] = Field(default=SCHEMA_NAME, alias="schema")
    title: str
    written_at: str
    written_by: str = Field(description="Version of Tare.")
    lab: str
    run: int = Field(description="Its number in this lab.")
    uuid: str
    started_at: str
    ended_at: str
    valid: bool
    invalid: list[str] = Field(description="Why it is not.")
    not_judged: list[str] = Field(
        description="Reasons why the run is not judged: it is too short, neighbours on the machine disturbed it, or "
        "the machine was read in fewer than half of its seconds. With an empty `invalid` it is neither valid nor "
        "invalid."
    )
    invalid_facts: list[Fact] = Field(default=[], description="Reasons of `invalid`, as figures.")
    not_judged_facts: list[Fact] = Field(default=[], description="Reasons of `not_judged`, as figures.")
    freezes: list[Freeze] = Field(default=[], description="Freezes of a second or more, in order.")
    restarted: bool | None = Field(
        default=None, description="Whether the server restarted during the run; null: not known."
    )
    headline: list[str] = Field(description="The findings in a few sentences.")
    server: Server
    data: Data
    machine: dict[str, str | int | float | bool | None]
    asked: Asked
    held: Held
    precision: dict[str, Precision] = Field(description="Precision of response, service and lag.")
    all: Type
    types: list[Type]
    seconds: list[Second]
    stalls: list[Stall]
    measures: list[Series]
    unmeasured: dict[str, str] = Field(description="Why a server measure is missing.")
    checks: list[Check]
    troubles: list[Trouble]
    deviations: list[str]
    commands: list[str]
