"""Document of a trend, as `--json` writes it (`schemas/trend-v1.json`)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class PointReport(_Part):
    """A measurement: the median over its runs."""

    number: int = Field(description="Its row in the lab; rows are in the order in which they were recorded.")
    started_at: str
    code: str | None = Field(description="Commit that was measured. Null: not told.")
    value: float
    runs: int


class ChangeReport(_Part):
    """Change point: the first point of a segment, compared with the segment before."""

    place: int = Field(description="Index of that point in its series.")
    code: str | None
    code_before: str | None = Field(description="Commit of the point before.")
    started_at: str
    ratio: float = Field(description="Level after over level before, by Hodges and Lehmann.")
    low: float | None = Field(description="Its 95% interval. Null: too few points.")
    high: float | None
    besides: list[str] = Field(description="What changed at the same point besides the commit.")


class SeriesReport(_Part):
    """Measurements of one query on one DBMS and machine, in the order in which they were recorded."""

    query: str
    dbms: str
    version: str = Field(description="Of the DBMS at the last point.")
    cache: str
    machine: str = Field(description="Digest of its hardware, by which machines are told apart.")
    machine_name: str
    unit: str
    points: list[PointReport]
    left_out: int = Field(description="Older points that were not searched.")
    changes: list[ChangeReport]
    is_enough: bool = Field(description="There are points enough for a change to be found.")

    @property
    def segments(self) -> list[Sequence[PointReport]]:
        """Points between the changes."""
        bounds = [0, *(change.place for change in self.changes), len(self.points)]
        return [self.points[start:end] for start, end in itertools.pairwise(bounds)]


class TrendGate(_Part):
    margin: float = Field(description="Slowdown that fails the gate: 0.05 for 5%.")
    last: int = Field(description="Newest points of a series, one of which a change must begin at.")
    failed: list[str] = Field(description="Queries that became slower.")


class TrendReport(_Part):
    version: Literal[1] = 1
    title: str
    written_at: str
    written_by: str
    lab: str
    measure: str
    level: float = Field(description="Chance of a change being found where there is none, for each series.")
    headline: str
    series: list[SeriesReport]
    gate: TrendGate | None
