"""The experiment report, version 1: the models behind `schemas/report-v1.json`.

All that the HTML and Markdown reports say in numbers is in it. A number that could not be had is null,
and what stands beside it says why. Times are ms, shares are of 1.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from tare.report.conditions.document import Machine, Missing, Reproduction, Run
from tare.report.document import Document

SCHEMA_NAME: Literal["tare-report/1"] = "tare-report/1"


# What a protocol made of it ---------------------------------------------------------
class Check(Document):
    number: int
    name: str
    source: str
    level: Literal["experiment", "qe", "qatc"]
    judged: int
    violations: int
    share: float | None
    unjudged: str | None = Field(description="Why the others could not be judged.")
    paper: float | None = Field(description="The paper's own figure: a share, or a count.")


class Step(Document):
    step: str
    source: str
    qes: int
    qatcs: int
    dropped_qes: int
    dropped_qatcs: int


class Post(Document):
    number: int
    name: str
    source: str
    value: float | None
    unit: Literal["share", "count"]
    reason: str | None
    detail: list[str]
    paper: float | None


class Rule(Document):
    """A rule by which something was dropped. One QE may have been dropped by several."""

    level: Literal["qe", "qatc"]
    step: str
    number: int | None
    rule: str
    source: str
    dropped: int
    example: str = Field(description="The evidence in one of the cases.")


class Precise(Document):
    """The last rows of TTPv2 Table XVII."""

    sanity_checks: int
    retained_qatcs: float | None
    qes_per_retained_qatc: float | None
    relative_error_measured: float | None
    relative_error_calculated: float | None


class Item(Document):
    """Piece of information, of the nine of TTPv2 §9."""

    number: int = Field(ge=1, le=9)
    name: str
    text: str
    complete: bool = Field(description="False: something it asks for could not be told; the text says what.")


class Statement(Document):
    items: list[Item]
    paragraphs: list[str] = Field(description="The items as the two paragraphs for a paper.")


class Protocol(Document):
    protocol: str
    label: str = Field(description="Short, for tables.")
    title: str
    citation: str
    min_qes: int
    accepted: list[str] = Field(description="Experiment-wide checks taken as deviations.")
    stopped: str | None = Field(description="Experiment-wide violation that stopped the analysis.")
    checks: list[Check]
    remaining: list[Step]
    rules: list[Rule]
    post: list[Post]
    precision: Precise
    deviations: list[str]
    coefficients: dict[str, dict[str, float]] = Field(description="TTPv1's regression, by DBMS.")
    statement: Statement


class Timed(Document):
    """A Q@C's time by one protocol."""

    time_ms: float | None = Field(description="Median of the calculated times; null if it was dropped.")
    low_ms: float | None = Field(description="95% interval of the median; null below six QEs.")
    high_ms: float | None
    sd_ms: float | None
    qes: int = Field(description="Retained.")
    rule: str | None = Field(description="Rule that dropped the Q@C.")
    strict: bool = Field(description="Slower than the same plan at the next higher cardinality.")
    relaxed: bool = Field(description="The same beyond half a standard deviation of each.")


class QatC(Document):
    run: int
    dbms: str
    query: str
    number: int
    cardinality: int
    plan: str | None
    measured_ms: float | None = Field(description="Mean measured time of the primary's retained QEs.")
    times: dict[str, Timed] = Field(description="By protocol.")


# Causal models -----------------------------------------------------------------------
class Correlation(Document):
    name: str
    group: str
    cause: str = Field(description="In the words of the paper's table.")
    effect: str
    predicted: str
    source: str
    dbms: str | None = Field(description="Null: all of them, each scaled by itself.")
    n: int
    r: float | None
    p: float | None
    published: float | None = Field(description="r in the paper's own data.")
    verdict: str
    reason: str | None


class Model(Document):
    model: str
    title: str
    citation: str
    qes: int
    dbmses: list[str]
    verdicts: dict[str, int] = Field(description="Number of pooled correlations, by verdict.")
    observed: list[Correlation]


# The whole ---------------------------------------------------------------------------
class Report(Document):
    schema_: Literal["tare-report/1"] = Field(default=SCHEMA_NAME, alias="schema")
    title: str
    written_at: str
    written_by: str = Field(description="Version of Tare.")
    lab: str
    primary: str = Field(description="The protocol whose times are shown first.")
    primary_why: str
    machines: list[Machine]
    runs: list[Run]
    missing: list[Missing]
    protocols: list[Protocol]
    times: list[QatC]
    models: list[Model]
    reproduction: list[Reproduction]
    commands: list[str]

    def protocol(self, name: str) -> Protocol | None:
        return next((one for one in self.protocols if one.protocol == name), None)
