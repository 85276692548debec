"""Document of a speed-up, as `--json` writes it (`schemas/speedup-v1.json`), and its arithmetic."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from enum import StrEnum
from typing import Literal

from tare.cluster.speedup import Arm, Execution, SpeedupRecord
from tare.protocol.comparison.blocks import ratio_over_blocks
from tare.report.document import Document
from tare.report.ratio import Ratio, as_ratio
from tare.report.words import dbms_name

WIDEST = 4.0
"""Ratio of an interval's ends beyond which a speed-up tells a reader nothing."""


class Gain(StrEnum):
    """Verdict on a larger cluster, or one with slower links, against the first one."""

    FASTER = "faster"
    SLOWER = "slower"
    NOT_TOLD = "cannot be told"


class ArmResult(Document):
    """A query on one of the clusters."""

    arm: Arm
    executions: int
    median_ms: float
    speedup: (
        Ratio | None
    )  # wall time of the first arm over this one, over blocks; None: of the first, or too wide
    ideal: float  # shards over those of the first arm
    gain: Gain
    throttled: dict[str, float]  # share of the wall time without CPU since the quota was used up, by node


class QueryResult(Document):
    query: str
    arms: tuple[ArmResult, ...]


class SpeedupReport(Document):
    version: Literal[1] = 1
    title: str
    written_at: str
    written_by: str
    record: SpeedupRecord
    queries: tuple[QueryResult, ...]


def build_report(record: SpeedupRecord, written_by: str, written_at: str) -> SpeedupReport:
    """Return the report. Queries that failed are left out; `record.failures` names them."""
    names = dict.fromkeys(execution.query for execution in record.executions)
    return SpeedupReport(
        title=f"Speed-up of TPC-H on {dbms_name(record.engine)} shards",
        written_at=written_at,
        written_by=written_by,
        record=record,
        queries=tuple(_query(record, name) for name in names if name not in record.failures),
    )


def _query(record: SpeedupRecord, name: str) -> QueryResult:
    own = [execution for execution in record.executions if execution.query == name]
    by_arm = {
        arm: sorted((one for one in own if one.arm == arm), key=lambda one: one.block) for arm in record.arms
    }
    first = record.arms[0]
    return QueryResult(
        query=name,
        arms=tuple(_arm(arm, executions, first, by_arm[first]) for arm, executions in by_arm.items()),
    )


def _arm(arm: Arm, executions: Sequence[Execution], first: Arm, baseline: Sequence[Execution]) -> ArmResult:
    speedup = None
    if arm != first:
        speedup = as_ratio(
            ratio_over_blocks([one.wall_ns for one in executions], [one.wall_ns for one in baseline])
        )
        if speedup is not None and speedup.high > WIDEST * speedup.low:
            speedup = None
    wall_ns = sum(one.wall_ns for one in executions)
    nodes = dict.fromkeys(name for one in executions for name in one.throttled_ns)
    return ArmResult(
        arm=arm,
        executions=len(executions),
        median_ms=statistics.median(one.wall_ns for one in executions) / 1e6,
        speedup=speedup,
        ideal=arm.shards / first.shards,
        gain=_gain(speedup),
        throttled={
            node: sum(one.throttled_ns.get(node, 0) for one in executions) / wall_ns for node in nodes
        },
    )


def _gain(speedup: Ratio | None) -> Gain:
    if speedup is not None and speedup.low > 1:
        return Gain.FASTER
    if speedup is not None and speedup.high < 1:
        return Gain.SLOWER
    return Gain.NOT_TOLD
