"""The story of a speed-up: the answer about the largest cluster, each query on each cluster, and the conditions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from tare.report.cluster.document import ArmResult, Gain, QueryResult, SpeedupReport
from tare.report.kit.blocks import (
    Block,
    Cell,
    Charts,
    Column,
    Facts,
    Kind,
    Paragraph,
    Row,
    Section,
    Story,
    Table,
    Tone,
    Verdict,
    WarningBlock,
)
from tare.report.numbers import significant
from tare.report.words import NOTHING, counted, dbms_name, joined

if TYPE_CHECKING:
    from tare.report.charts.chart import Chart, NoChart

READING = (
    "Speed-up: wall time on the first cluster over that on this one, paired by block, with its 95% interval; above "
    "1 is faster. Ideal: the number of shards over those of the first cluster. Throttled: share of the wall time in "
    "which the coordinator, or the shard that had to wait for longest, had used up its CPU quota. A node that is "
    "busy and never throttled did not get its quota: its time depends on what else the machine does."
)
_TONES = {Gain.FASTER: Tone.GOOD, Gain.SLOWER: Tone.BAD}
_COORDINATOR = "c"


def story(report: SpeedupReport) -> Story:
    begun = report.record.started_at[:16].replace("T", " ")
    return Story(
        title=report.title,
        under=f"begun {begun} UTC · written {report.written_at[:10]} by Tare {report.written_by}",
        written_by=report.written_by,
        blocks=list(_blocks(report)),
    )


def headline(report: SpeedupReport) -> str:
    """Sentence on the largest cluster with the fastest links, against the first one."""
    if not report.queries:
        return "No query ran on all clusters."
    record = report.record
    largest = max(record.arms[1:], key=lambda arm: (arm.shards, arm.rate_bits is None, arm.rate_bits or 0))
    results = [(query.query, one) for query in report.queries for one in query.arms if one.arm == largest]
    told = [
        joined([f"{name} {_times(one)}" for name, one in results if one.gain is gain])
        for gain in (Gain.FASTER, Gain.SLOWER)
    ]
    unsure = [name for name, one in results if one.gain is Gain.NOT_TOLD]
    parts = [
        *([f"faster: {told[0]}"] if told[0] else []),
        *([f"slower: {told[1]}"] if told[1] else []),
        *([f"cannot be told: {joined(unsure)}"] if unsure else []),
    ]
    return f"With {largest.name} instead of {record.arms[0].name}, {'; '.join(parts)}."


def _times(one: ArmResult) -> str:
    assert one.speedup is not None, "a gain that is told has an interval"
    return f"{one.speedup.value:.2f} times [{one.speedup.low:.2f}, {one.speedup.high:.2f}]"


def _blocks(report: SpeedupReport) -> Iterator[Block]:
    record = report.record
    is_told = any(one.gain is not Gain.NOT_TOLD for query in report.queries for one in query.arms)
    yield Verdict("", headline(report), Tone.GOOD if is_told else Tone.CAUTION)
    if record.is_stopped:
        yield WarningBlock(
            "stopped before its end",
            f"{counted(max((one.block for one in record.executions), default=-1) + 1, 'block')} had been completed",
            "run it again for all blocks",
        )
    if record.failures:
        yield Table(
            "Queries that were left out",
            [Column("query", Kind.NAME), Column("error", Kind.PROSE)],
            [[name, error] for name, error in record.failures.items()],
        )
    if report.queries:
        yield Section(
            "speed-up",
            "Speed-up",
            [Charts(partial(_charts, report)), _table(report), Paragraph(READING, Tone.QUIET)],
        )
    yield Section("conditions", "Conditions", [Facts("", list(_facts(report)))])


def _table(report: SpeedupReport) -> Table:
    rows: list[Row | str] = []
    for query in report.queries:
        rows += [_row(query, one) for one in query.arms]
    return Table(
        "Figure 1: queries by cluster; wall times are medians over blocks",
        [
            Column("query", Kind.NAME),
            Column("cluster", Kind.NAME),
            Column("wall"),
            Column("speed-up"),
            Column("ideal"),
            Column("coordinator", group="throttled"),
            Column("shard", group="throttled"),
        ],
        rows,
        grouped=True,
    )


def _row(query: QueryResult, one: ArmResult) -> Row:
    shards = [share for node, share in one.throttled.items() if node != _COORDINATOR]
    return [
        query.query,
        one.arm.name,
        Cell(significant(one.median_ms), "ms"),
        _speedup(one),
        f"{one.ideal:.3g}",
        f"{100 * one.throttled.get(_COORDINATOR, 0.0):.0f}%",
        f"{100 * max(shards):.0f}%" if shards else NOTHING,
    ]


def _speedup(one: ArmResult) -> Cell:
    if one.speedup is None:
        return Cell(NOTHING)
    return Cell(
        f"{one.speedup.value:.2f}",
        interval=f"[{one.speedup.low:.2f}, {one.speedup.high:.2f}]",
        tone=_TONES.get(one.gain, Tone.PLAIN),
    )


def _charts(report: SpeedupReport) -> Sequence[Chart | NoChart]:
    from tare.report.cluster.charts import charts

    return charts(report)


def _facts(report: SpeedupReport) -> Iterator[tuple[str, str]]:
    record = report.record
    yield "servers", f"{dbms_name(record.engine)} {joined(list(record.versions))} (coordinator's first)"
    yield "clusters", joined([arm.name for arm in record.arms])
    yield "data", f"TPC-H at scale {record.scale:g}, divided by hash over the shards"
    yield (
        "quota",
        f"{record.cpus:g} CPUs for each node, the coordinator included; {record.online_cpus} CPUs online",
    )
    if record.memory_bytes is not None:
        yield "memory", f"{record.memory_bytes >> 20:,} MiB for each node, page cache included"
    yield "blocks", "each query once on every cluster, in random order; warm caches"
