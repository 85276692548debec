"""Groups of runs compared: the document behind text, Markdown and JSON."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Literal

from pydantic import Field

from tare.errors import UsageError
from tare.protocol.oltp.comparable import notes
from tare.protocol.oltp.groups import (
    Group,
    GroupFigure,
    Numbered,
    compare_groups,
    differences,
    grouped,
    objections,
)
from tare.report.oltp import figures
from tare.report.oltp.document import Figure
from tare.report.result import Document
from tare.version import VERSION

SCHEMA_NAME: Literal["tare-oltp-groups/1"] = "tare-oltp-groups/1"

METHOD = (
    "Runs are grouped where workload, data, request, machine, server and its settings are equal; where a server "
    "listens is none of these. A group's figure is the geometric mean of its runs' figures, each run being one sample. "
    "Ratios are of two groups' figures, with 95% intervals by Welch's t on logarithms over runs: what separates runs "
    "of the same settings (data that grew, caches, the day) widens them. Percentiles are each run's own. Assumed: runs "
    "are independent of each other, and groups took turns."
)


class GroupSide(Document):
    label: str
    runs: list[int]
    uuids: list[str]
    workload: str
    scale: float
    dbms: str
    version: str
    rate: float = Field(description="Transactions a second, geometric mean over runs.")
    intended_rate: float | None


class GroupRatio(Document):
    """A figure of two groups. Times in ms, the variance in ms², the rate in transactions a second."""

    groups: tuple[str, str]
    type: str
    times: Literal["response", "service", ""]
    figure: Literal["mean", "variance", "sd", "p99", "rate"]
    a: list[float] = Field(description="Of each run of the first group.")
    b: list[float] = Field(description="Of each run of the second group.")
    ratio: Figure | None = Field(description="First group over second. Null: no interval can be given.")
    established: bool = Field(description="The interval leaves out 1.")
    why: str | None = Field(description="Why there is no ratio.")


class GroupComparison(Document):
    schema_: Literal["tare-oltp-groups/1"] = Field(default=SCHEMA_NAME, alias="schema")
    title: str
    written_at: str
    written_by: str
    lab: str
    groups: list[GroupSide]
    differences: dict[str, list[str]] = Field(description="Settings that differ, with each group's value.")
    objections: list[str] = Field(description="What keeps the groups from being compared; empty: nothing.")
    notes: list[str] = Field(description="What a reader must know of the comparison.")
    method: str
    ratios: list[GroupRatio]


def build(runs: Sequence[Numbered], *, lab: str, title: str | None = None) -> GroupComparison:
    """Raises UsageError where the settings of all runs are equal."""
    groups = grouped(runs)
    named = " ".join(f"o{number}" for number, _ in runs)
    if len(groups) < 2:
        raise UsageError(
            f"{named} have equal settings: there is one group, and a comparison needs two",
            "add runs with another DBMS, version or setting; or compare two of them, such as "
            f"o{runs[0][0]} o{runs[1][0]}",
        )
    return GroupComparison(
        title=title or f"Comparison of {len(groups)} groups of runs: {named}",
        written_at=datetime.now(UTC).isoformat(timespec="seconds"),
        written_by=VERSION,
        lab=lab,
        groups=[_side(group) for group in groups],
        differences=differences(groups),
        objections=objections(groups),
        notes=notes([(group.label, group.first) for group in groups]),
        method=METHOD,
        ratios=[_ratio(one) for one in compare_groups(groups)],
    )


def mean(values: Sequence[float]) -> float | None:
    """Geometric mean. None where a value is not positive."""
    return math.exp(statistics.fmean(map(math.log, values))) if min(values) > 0 else None


def _side(group: Group) -> GroupSide:
    run = group.first
    return GroupSide(
        label=group.label,
        runs=[number for number, _ in group.runs],
        uuids=[one.uuid for _, one in group.runs],
        workload=run.workload,
        scale=run.loaded.scale,
        dbms=run.server.dbms,
        version=run.server.version,
        rate=mean([one.outcome.rate for _, one in group.runs]) or 0.0,
        intended_rate=run.outcome.intended_rate,
    )


def _ratio(of: GroupFigure) -> GroupRatio:
    return GroupRatio.model_validate(
        {
            "groups": of.groups,
            "type": of.type,
            "times": of.times,
            "figure": of.figure,
            "a": list(of.values[0]),
            "b": list(of.values[1]),
            "ratio": figures.figure(of.ratio),
            "established": of.established,
            "why": of.why,
        }
    )
