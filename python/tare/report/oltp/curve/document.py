"""The report of a curve of latency over requested rate, version 1: the models behind `schemas/oltp-curve-v1.json`.

Each step is a run of its own; nothing is averaged over steps. Times are ms.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from tare.protocol.oltp.capacity import Capacity, Sign
from tare.protocol.oltp.limit import Ended
from tare.report.document import Document
from tare.report.oltp.document import Figure, Server
from tare.workload.oltp.verdict import Neighbours

SCHEMA_NAME: Literal["tare-oltp-curve/1"] = "tare-oltp-curve/1"


class Times(Document):
    """Response or service times of a step, with 95% intervals from blocks of its seconds."""

    n: int
    mean: Figure | None
    sd: Figure | None
    p50: Figure | None
    p95: Figure | None
    p99: Figure | None
    p99_9: Figure | None = Field(alias="p99.9")
    max: float | None


class Window(Document):
    """Stretch of a step's measured part."""

    first: int = Field(description="First second, from the start of the measured part.")
    last: int
    rate: float = Field(description="Transactions that ended in it, a second.")
    p50: float | None = Field(description="Median over its seconds of their medians, ms; null: none ended.")
    p99: float | None = Field(description="Highest 99th percentile of its seconds, ms.")
    backlog: int = Field(description="Due and not started at its end.")
    busy: bool = Field(description="Most of its seconds ended with every connection at work.")


class Load(Document):
    """Means of a measure over the seconds of a step's measured part."""

    name: str
    unit: str
    mean: float


class Step(Document):
    """A run at a rate."""

    run: int = Field(description="Number of the run in the lab; 0: it could not be recorded.")
    uuid: str
    number: int = Field(description="Place in the order in which the curve's steps were taken, from 1.")
    arm: int = Field(description="Place in `arms`.")
    requested: float = Field(description="Transactions a second.")
    due: float | None = Field(
        description="Transactions a second that the schedule had; Poisson arrivals deviate by chance."
    )
    sustained: float = Field(description="Transactions a second that ended as the workload has it.")
    capacity: Capacity = Field(description="A step that is not `sustained` is no result.")
    sign: Sign = Field(description="Fact by which the capacity was judged.")
    why: str
    response: Times
    service: Times
    server_cpu: float | None = Field(description="CPUs that the server used; null: not measured.")
    driver_cpu: float = Field(description="CPUs that the driver used.")
    loads: list[Load]
    windows: list[Window]
    disturbed: Neighbours | None = Field(
        description="Others on the machine, who may have changed the figures; null: nobody was seen to."
    )
    started_at: str
    ended_at: str

    @property
    def is_result(self) -> bool:
        return self.capacity.is_result


class Failure(Document):
    """A step that ended without a result."""

    arm: int
    requested: float
    why: str


class Knee(Document):
    """Highest rate of an arm whose figure lies below the limit."""

    arm: int
    rate: float | None = Field(description="Highest rate with its interval below the limit; null: none.")
    above: float | None = Field(
        description="Lowest rate over it that lies above the limit, or over capacity; the limit is reached between the "
        "two. Null: no rate does."
    )
    ended: Ended
    steps: int
    minutes: float = Field(description="From the start of its first step to the end of its last.")


class Arm(Document):
    """A line of the figure: one workload on one server."""

    label: str
    curve: str = Field(description="UUID of the curve.")
    workload: str
    scale: float
    server: Server
    connections: int
    arrivals: str
    isolation: str
    mix: dict[str, float]
    duration_s: float = Field(description="Measured part of each step.")
    warmup_s: float
    drain_s: float
    cpus: int = Field(description="CPUs of the machine that Tare ran on.")


class Limit(Document):
    figure: str
    ms: float


class CurveReport(Document):
    schema_: Literal["tare-oltp-curve/1"] = Field(default=SCHEMA_NAME, alias="schema")
    title: str
    written_at: str
    written_by: str
    lab: str
    headline: list[str]
    limit: Limit | None
    knees: list[Knee] = Field(description="A knee for each arm if there is a limit.")
    arms: list[Arm]
    steps: list[Step] = Field(description="In the order in which they were taken.")
    failures: list[Failure]
    conditions_failing: list[str] | None = Field(
        description="Conditions on the data that do not hold after the last step; null: not checked, or not known from "
        "the lab."
    )
    commands: list[str]
