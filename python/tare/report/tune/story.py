"""The story of a tuning run: the answer, the noise floor, a verdict for each arm, durability, and the windows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from tare.report.kit.blocks import (
    Block,
    Cell,
    Charts,
    Code,
    Column,
    Facts,
    Kind,
    Paragraph,
    Row,
    Section,
    Story,
    Table,
    Tone,
    WarningBlock,
)
from tare.report.kit.blocks import Verdict as Answer
from tare.report.numbers import significant
from tare.report.ratio import Ratio
from tare.report.tune.build import DISTURBED
from tare.report.tune.document import SearchReport, TuningReport
from tare.report.words import NOTHING, dbms_name, joined
from tare.tune.verdicts import Objective, Verdict

if TYPE_CHECKING:
    from tare.report.charts.chart import Chart, NoChart

READING = (
    "Ratios are arm over baseline, paired by block; below 1 is better except for throughput. In brackets: 95% "
    "intervals over blocks. An arm is better or worse only if it differs after Holm's correction over the arms, by "
    "more than the two baselines differ, and these do not differ themselves."
)
SEARCH_READING = (
    "Candidate over baseline after each round, over the blocks of all rounds so far, by Hodges and Lehmann; a dash "
    "stands for fewer than six blocks, or an interval whose ends are tenfold apart. This ranks the candidates and is "
    "no verdict: the best of many is overrated, so verdicts are of fresh blocks."
)
WIDEST = 10.0
"""Ratio of an interval's ends beyond which the estimate tells a reader nothing."""
_TONES = {Verdict.BETTER: Tone.GOOD, Verdict.WORSE: Tone.BAD, Verdict.UNDECIDED: Tone.CAUTION}


def story(report: TuningReport) -> Story:
    begun = (report.search or report).runs[0].started_at[:16].replace("T", " ")
    return Story(
        title=report.title,
        under=f"{report.id} · begun {begun} UTC · written {report.written_at[:10]} by Tare {report.written_by}",
        written_by=report.written_by,
        blocks=list(_blocks(report)),
    )


def _blocks(report: TuningReport) -> Iterator[Block]:
    yield Answer("", report.headline[0], _tone(report))
    for sentence in report.headline[1:]:
        yield Paragraph(sentence)
    if report.others is not None and report.others > DISTURBED * report.online_cpus:
        yield WarningBlock(
            "other programs used the CPUs",
            f"{report.others:.2f} of {report.online_cpus} CPUs, on average over the windows, were used by programs "
            "that are neither the server, nor the driver, nor Tare",
            "end them and run again; intervals are wider for them",
        )
    if not all(run.is_steady for run in report.all_runs):
        yield WarningBlock(
            "servers still warmed up",
            "response times were not steady within three times the warm-up after a start, under at least one arm",
            "give a longer --warmup and run again",
        )
    if report.runs:
        yield Section(
            "verdicts",
            "Verdicts",
            [
                Charts(partial(_effects, report)),
                _floors(report),
                _verdicts(report),
                Paragraph(READING, Tone.QUIET),
            ],
        )
    if report.search is not None:
        yield Section("search", "Search", [_search(report.search), Paragraph(SEARCH_READING, Tone.QUIET)])
    yield Section("arms", "Arms", [_arms(report), *_dropped(report)])
    if report.runs:
        yield Section(
            "windows", "Windows", [Charts(partial(_charts, report)), _windows(report)], printed=False
        )
    yield Section("conditions", "Conditions", [Facts("", list(_facts(report)))], printed=False)
    yield Section("reproduce", "The same report", [Code(f"tare tune report {report.id}")], printed=False)


def _tone(report: TuningReport) -> Tone:
    if not report.is_result:
        return Tone.BAD
    verdicts = {result.verdict for arm in report.arms for result in arm.results}
    return Tone.GOOD if Verdict.BETTER in verdicts else Tone.CAUTION


def _floors(report: TuningReport) -> Table:
    rows: list[Row | str] = [
        [floor.objective.value, _ratio(floor.ratio), "yes" if floor.holds_1 else "no"]
        for floor in report.floors
    ]
    return Table(
        f"Noise floor: the baseline over itself, {report.blocks} blocks",
        [Column("objective", Kind.NAME), Column("ratio [95%]"), Column("holds 1", Kind.NAME)],
        rows,
    )


def _verdicts(report: TuningReport) -> Table:
    rows: list[Row | str] = []
    for arm in report.arms:
        for result in arm.results:
            needed = "" if result.blocks_needed is None else f"{result.blocks_needed} blocks would decide"
            rows.append(
                [
                    arm.name,
                    result.objective.value,
                    Cell(result.verdict.value, note=needed, tone=_TONES.get(result.verdict, Tone.PLAIN)),
                    _ratio(result.ratio),
                    _figure(result.objective, result.baseline),
                    _figure(result.objective, result.arm),
                ]
            )
    return Table(
        "Arms against the baseline; figures are medians over blocks",
        [
            Column("arm", Kind.NAME),
            Column("objective", Kind.NAME),
            Column("verdict", Kind.NAME),
            Column("ratio [95%]"),
            Column("baseline"),
            Column("arm's"),
        ],
        rows,
        grouped=True,
    )


def _search(search: SearchReport) -> Table:
    rows: list[Row | str] = [
        [
            candidate.name,
            *(
                _told(candidate.ratios[number]) if number < len(candidate.ratios) else Cell("")
                for number in range(search.rounds)
            ),
            candidate.why_ended or "measured again",
        ]
        for candidate in search.candidates
    ]
    return Table(
        f"Candidates by {search.objective.value}, {search.took_s / 60:.1f} of {search.budget_s / 60:.1f} minutes",
        [
            Column("candidate", Kind.NAME),
            *(Column(f"round {number + 1}") for number in range(search.rounds)),
            Column("then", Kind.PROSE),
        ],
        rows,
    )


def _told(ratio: Ratio | None) -> Cell:
    return _ratio(None if ratio is None or ratio.high > WIDEST * ratio.low else ratio)


def _ratio(ratio: Ratio | None) -> Cell:
    if ratio is None:
        return Cell(NOTHING)
    return Cell(f"{ratio.value:.3g}", interval=f"[{ratio.low:.3g}, {ratio.high:.3g}]")


def _figure(objective: Objective, value: float | None) -> Cell:
    if value is None:
        return Cell(NOTHING)
    unit = {Objective.VARIANCE: "ms²", Objective.THROUGHPUT: "/s"}.get(objective, "ms")
    return Cell(significant(value), unit)


def _arms(report: TuningReport) -> Table:
    rows: list[Row | str] = [
        [
            arm.name,
            ", ".join(f"{name} = {value}" for name, value in arm.settings.items()),
            "; ".join(loss.what for loss in arm.losses) or "kept",
            str(arm.left_backlog) if arm.left_backlog else NOTHING,
        ]
        for arm in report.arms
    ]
    return Table(
        "What each arm sets, and what a crash may lose",
        [
            Column("arm", Kind.NAME),
            Column("settings", Kind.PROSE),
            Column("durability", Kind.PROSE),
            Column("backlogs left"),
        ],
        rows,
    )


def _dropped(report: TuningReport) -> Iterator[Block]:
    if report.dropped:
        yield Table(
            "Arms that were not measured",
            [Column("arm", Kind.NAME), Column("why", Kind.PROSE)],
            [[one.name, one.reason] for one in report.dropped],
        )


def _windows(report: TuningReport) -> Table:
    rows: list[Row | str] = [
        [
            Cell(str(window.block + 1), note="warming up" if window.block in report.warming else ""),
            window.arm,
            f"{window.from_s:.1f}",
            str(window.finished),
            _figure(Objective.MEAN, window.mean),
            _figure(Objective.VARIANCE, window.variance),
            _figure(Objective.P99, window.p99),
            NOTHING if window.others is None else f"{window.others:.2f}",
            Cell(str(window.backlog), note="carried over" if window.is_carried_over else ""),
        ]
        for window in report.windows
    ]
    headings = ("from, s", "finished", "mean", "variance", "p99", "others' CPUs", "backlog")
    return Table(
        "Every window",
        [Column("block"), Column("arm", Kind.NAME), *map(Column, headings)],
        rows,
        grows=True,
    )


def _effects(report: TuningReport) -> Sequence[Chart | NoChart]:
    from tare.report.tune.charts import effects

    return effects(report)


def _charts(report: TuningReport) -> Sequence[Chart | NoChart]:
    from tare.report.tune.charts import charts

    return charts(report)


def _facts(report: TuningReport) -> Iterator[tuple[str, str]]:
    specification = report.specification
    load, blocks = specification.load, specification.blocks
    yield "server", f"{dbms_name(report.dbms)} {report.server_version} ({report.url})"
    yield "load", f"{load.workload}, scale {report.scale:g}, open loop at {load.rate:g}/s, Poisson arrivals"
    yield "connections", str(load.connections)
    if report.is_restarted:
        warmups = sorted({run.warmup_s for run in report.all_runs if run.warmup_s is not None})
        yield (
            "windows",
            f"{blocks.window_s:g} s, each on a clone of the server: a fresh copy of its data, started with the arm's "
            f"settings and warmed up for {joined([f'{warmup:g} s' for warmup in warmups])}; "
            f"{blocks.settle_s:g} s are left out",
        )
    elif report.is_separate:
        yield (
            "windows",
            f"{blocks.window_s:g} s, each a run of its own with new connections, less {blocks.settle_s:g} s",
        )
    else:
        yield "windows", f"{blocks.window_s:g} s, of which {blocks.settle_s:g} s after a switch are left out"
    yield (
        "blocks",
        f"{report.blocks} whole, each with every arm once; besides, the first of each run warms up",
    )
    yield "margin", f"{100 * specification.goal.margin:g}%"
    for name, value in report.baseline.items():
        yield f"baseline {name}", value
