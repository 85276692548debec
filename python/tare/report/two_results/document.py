"""The document of a comparison of two results: the models behind `schemas/comparison-v1.json`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from tare.report.comparison_models import ComparisonResult
from tare.report.document import Bounds, Document
from tare.report.result import Environment

SCHEMA_NAME: Literal["tare-comparison/1"] = "tare-comparison/1"


class Side(Document):
    """Result, of the two."""

    file: str
    command: str
    started_at: str = Field(description="UTC, ISO 8601.")
    interrupted: bool
    error: str | None = Field(description="Error that ended the run before its time.")
    environment: Environment


class Difference(Document):
    """A condition that differs between the two results."""

    what: str
    query: str | None = Field(description="Null: it concerns every query.")
    old: str | None = Field(description="Null: the old result does not have it.")
    new: str | None = Field(description="Null: the new result does not have it.")


class SideWarning(Document):
    """A warning of one of the results that touches its times."""

    side: Literal["old", "new"]
    type: str
    query: str | None
    cause: str
    evidence: str
    next_step: str
    brief: str


class QueryComparison(Document):
    name: str
    sql: str
    comparison: ComparisonResult | None = Field(
        description="A: the old result; B: the new one. Null where one of them has no time in the primary measure."
    )
    ci95: dict[str, tuple[Bounds | None, Bounds | None]] = Field(
        description="95% intervals of the medians of each measure that is compared: of the old result, of the new one."
    )
    reason: str | None = Field(description="Why there is no comparison.")


class ResultsComparison(Document):
    """Two results of `tare time`, query by query. What changed between the two times is part of each difference."""

    schema_: Literal["tare-comparison/1"] = Field(default=SCHEMA_NAME, alias="schema")
    command: str
    old: Side
    new: Side
    interleaved: Literal[False] = Field(
        default=False,
        description="The runs of the two results did not take turns: drift of the machine is in every ratio.",
    )
    clocked: Literal["total", "execution"] = Field(
        description="Interval that the clocks enclosed in both results."
    )
    primary: str = Field(description="The measure that the verdicts are about.")
    queries: list[QueryComparison]
    only_old: list[str] = Field(description="Names of queries that the new result does not have.")
    only_new: list[str] = Field(description="Names of queries that the old result does not have.")
    differences: list[Difference]
    warnings: list[SideWarning]
