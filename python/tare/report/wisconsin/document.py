"""The benchmark's report, version 1: the models behind `schemas/wisconsin-v1.json`.

All that the HTML and Markdown reports say in numbers is in it. A number that could not be had is null, and
what stands beside it says why. Times are ms, but 1983's, which are seconds as the paper prints them.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from tare.report.conditions.document import Machine, Missing, Reproduction, Run
from tare.report.document import Document

SCHEMA_NAME: Literal["tare-wisconsin/1"] = "tare-wisconsin/1"


class System(Document):
    """A DBMS as the tables name it. Runs that differ in the state of their caches are systems apart."""

    label: str
    dbms: str
    version: str
    cache: str
    runs: list[int]


class Query(Document):
    name: str
    generation: str
    number: int | None = Field(description="Number of the query among the 32 of 1993.")
    kind: str = Field(description="selection, join, projection, aggregate or update.")
    organisation: str = Field(description="heap, clustered, nonclustered or hash.")
    operation: str = Field(description="Operation of the query, alike in every organisation.")
    title: str
    published: str | None = Field(description="1983: the paper's table and column.")


class Time(Document):
    ms: float | None = Field(
        description="Median; null where it was dropped, or where half of the QEs timed out."
    )
    low_ms: float | None = Field(description="95% interval of the median; null below six QEs.")
    high_ms: float | None
    n: int = Field(description="QEs that it rests on.")


class Timed(Document):
    """A query on a system, where the large relations have `size` tuples."""

    system: str
    run: int
    generation: str
    query: str
    size: int
    elapsed: Time
    exact: Time | None = Field(
        description="CPU and disk time of the query's processes, by the exact protocol."
    )
    exact_why: str | None = Field(description="Why there is none.")
    timeouts: int
    access: str = Field(description="Access paths, joins and grouping, as its plan tells them.")
    plan: str | None = Field(description="Fingerprint.")


# Beside the paper ---------------------------------------------------------------------
class Column(Document):
    key: str
    heading: str
    group: str
    query: str | None = Field(description="Today's query; null if this benchmark has none.")


class PaperTable(Document):
    number: int
    title: str
    note: str
    columns: list[Column]
    published_s: dict[str, list[str]] = Field(description="By system of 1983, as printed: seconds.")


# What follows from the times ------------------------------------------------------------
class Ratio(Document):
    """How many times as long: Hodges–Lehmann on the logarithms, 95% interval."""

    estimate: float
    low: float | None = Field(description="Null: too few QEs for an interval.")
    high: float | None
    n: tuple[int, int] = Field(description="QEs below and above the line.")
    established: bool = Field(description="Whether the 99% interval leaves out 1.")


class SpeedUp(Document):
    """Speed-up of an operation by an organisation: the heap's time over its own."""

    system: str
    generation: str
    operation: str
    kind: str
    title: str
    size: int
    organisation: str
    query: str
    heap_query: str
    ratio: Ratio
    access: str


class Slope(Document):
    """Cost over size: time grows as size to this power."""

    system: str
    generation: str
    query: str
    sizes: list[int]
    n: int
    slope: float
    low: float | None = Field(description="95%, by resampling the QEs of each size.")
    high: float | None
    name: str


Verdict = Literal["yes", "no", "in part", "not told", "not measured"]


class Answer(Document):
    system: str
    verdict: Verdict
    short: str = Field(description="Some words for a table.")
    evidence: list[str] = Field(description="Sentences with figures.")


class Question(Document):
    key: str
    question: str
    source: str
    answers: list[Answer]


class Differing(Document):
    query: str
    size: int
    variant: int
    answers: dict[str, str] = Field(description="Rows and hash, by system.")
    same_statements: bool = Field(
        description="False: the runs recorded other statements, as of another version of Tare or other sizes."
    )


class Answers(Document):
    """Whether the systems gave the same answers, query by query and variant by variant."""

    compared: int = Field(description="Variants that at least two systems answered.")
    equal: int
    alone: int = Field(description="Variants that one system alone answered.")
    queries: int = Field(description="Queries, at each size, among those compared.")
    differing: list[Differing]


class Left(Document):
    """Counts that the exact protocol retained."""

    title: str
    citation: str
    accepted: list[str] = Field(description="Experiment-wide checks taken as deviations.")
    stopped: str | None
    qes_at_start: int
    qes_retained: int
    qatcs_at_start: int
    qatcs_retained: int
    deviations: list[str]


class WisconsinReport(Document):
    schema_: Literal["tare-wisconsin/1"] = Field(default=SCHEMA_NAME, alias="schema")
    title: str
    written_at: str
    written_by: str = Field(description="Version of Tare.")
    lab: str
    headline: list[str] = Field(description="The findings in a few sentences.")
    unfinished: list[str] = Field(description="Runs that were not taken to their end, and why.")
    systems: list[System]
    queries: list[Query]
    times: list[Timed]
    tables: list[PaperTable]
    questions: list[Question]
    speed_ups: list[SpeedUp]
    slopes: list[Slope]
    answers: Answers
    missing: list[Missing] = Field(description="Queries and Q@Cs without a time.")
    exact: Left
    machines: list[Machine]
    runs: list[Run] = Field(description="Their deviations say how the tables were loaded and what stands in.")
    reproduction: list[Reproduction]
    commands: list[str]
