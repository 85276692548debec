"""The story of a run of `tare time` or `tare compare`: what each query costs, then what that rests on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tare.protocol import measures
from tare.report.comparison_models import ComparisonResult
from tare.report.kit.blocks import (
    Block,
    Cell,
    Code,
    Column,
    Detail,
    Facts,
    Item,
    Items,
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
from tare.report.kit.figure import Figure
from tare.report.numbers import Scale, percent, scale_for
from tare.report.result import MeasureResult, QueryResult, RunResult, WarningResult
from tare.report.time import comparison, cost, helpers, lines, sets, sums
from tare.report.time.cost import figure
from tare.report.time.ending import early_end
from tare.report.warnings import SPARE_THE_TIMES
from tare.report.words import NOTHING

PREEMPTIONS_SEEN = 0.005  # of the CPU time, at most, too low
INTERRUPTS_SEEN = 0.005  # of the CPU time
INDENT = "\u00a0\u00a0"
SIDES = ("A", "B", "A again")  # the third stands beside a verdict that needs the noise of equals
Labelled = tuple[str, MeasureResult]


def story(result: RunResult) -> Story:
    env = result.environment
    return Story(
        title=_title(result),
        under=f"{env.server.dbms} {env.server.version} · begun {result.started_at[:16].replace('T', ' ')} UTC · "
        f"weighed by Tare {env.tare.version}",
        written_by=env.tare.version,
        blocks=list(_blocks(result)),
    )


def _title(result: RunResult) -> str:
    names = [one.name for one in result.results]
    if result.comparison is not None:
        return f"{names[1]} against {names[0]}"
    if result.comparisons:
        return f"{len(result.comparisons)} queries under A and B"
    return names[0] if len(names) == 1 else f"{len(names)} queries"


def _blocks(result: RunResult) -> Iterator[Block]:
    several = len(result.results) > 1
    everywhere = lines.missing_everywhere(result.results)
    if result.comparison is not None:
        yield compared(result)
        yield comparison.section(result.comparison, result)
    elif result.comparisons:
        yield compared_set(result)
        yield Section("comparison", "B against A", list(sets.blocks(result)))
    elif several:
        yield _side_by_side(result)
    for number, query in enumerate(result.results, 1):
        name, title = _names(query, number, result)
        verdict = [answer(query, result, name)]
        if not several:
            yield from verdict
        is_statement = title == lines.statement(query.sql)
        blocks: list[Block] = [*(verdict if several else []), _statement(query, is_title=is_statement)]
        blocks += _query(query, everywhere)
        aside = f"{lines.runs(query)}, {query.cache.asked}"
        yield Section(f"query-{number}", title, blocks, aside)
    warnings: list[Block] = [_warning(one, several) for one in result.warnings]
    if everywhere:
        warnings.append(
            Items([Item(f"{label}, in every query: {why}", "–", Tone.QUIET) for label, why in everywhere])
        )
    if warnings:
        yield Section("warnings", "Warnings", warnings)
    yield Section("conditions", "Conditions", list(_conditions(result)))


def _names(query: QueryResult, number: int, result: RunResult) -> tuple[str, str]:
    """Return what sentences call a query, and the title of its section."""
    name = lines.name_without_sql(query, number)
    if result.comparison is None:
        is_in_table = len(result.results) > 1
        return name, query.name if is_in_table else name
    side = SIDES[number - 1]
    is_alike = bool(result.arms) or side == SIDES[2]  # one statement under two conditions, or twice
    return side, side if is_alike or name == f"query {number}" else f"{side}: {name}"


# The answer ------------------------------------------------------------------------------
def _tone(warnings: Sequence[WarningResult], result: RunResult) -> Tone:
    """GOOD only where no warning touches the times and the run came to its end."""
    touching = [one for one in warnings if one.type not in SPARE_THE_TIMES]
    return Tone.CAUTION if touching or result.interrupted or result.error else Tone.GOOD


def answer(query: QueryResult, result: RunResult, name: str) -> Verdict:
    """Return the cost of a query in a sentence that begins with `name`."""
    if query.outcome == "failed":
        if query.error is not None:  # it begins with the query's name
            return Verdict("", f"{query.error}; no run was timed to its end", Tone.BAD)
        errors = [qe.error for qe in query.qes if qe.error]
        why = f": {errors[-1]}" if errors else ""
        return Verdict("", f"{name}: no run was timed to its end{why}", Tone.BAD, early_end(result, query))
    mine = _touching(query, result)
    defects = [text for _, text in lines.defects(query)]
    return Verdict(
        "",
        f"{name} takes {cost.text(query, result.clocked)}; medians of {lines.runs(query)}.",
        Tone.BAD if defects else _tone(mine, result),
        [*defects, *early_end(result, query), *(one.cause for one in mine)],
    )


def _touching(query: QueryResult, result: RunResult) -> list[WarningResult]:
    return [
        one for one in result.warnings if one.query in (None, query.name) and one.type not in SPARE_THE_TIMES
    ]


def compared(result: RunResult) -> Verdict:
    """Return the verdict on A and B."""
    found = result.comparison
    assert found is not None
    first = comparison.verdict(found)
    tone = Tone.BAD if found.answers_agree is False else _tone(result.warnings, result)
    if found.gate is not None:
        first = comparison.gate_verdict(found, found.gate)
        tone = _gate_tone(found, tone)
    elif comparison.is_open(found) and tone is Tone.GOOD:
        tone = Tone.CAUTION
    sentences = [
        comparison.violations(found),
        first,
        comparison.elsewhere(found),
        comparison.whereabouts(found),
    ]
    said = " ".join(f"{one[:1].upper()}{one[1:]}." for one in sentences if one)
    causes = dict.fromkeys(one.cause for one in result.warnings if one.type not in SPARE_THE_TIMES)
    return Verdict("", said, tone, [*early_end(result), *causes])


def compared_set(result: RunResult) -> Verdict:
    """Return the verdict on a set of queries under A and B."""
    is_same = all(found.answers_agree is not False for found in result.comparisons)
    causes = dict.fromkeys(one.cause for one in result.warnings if one.type not in SPARE_THE_TIMES)
    tone = _tone(result.warnings, result) if is_same else Tone.BAD
    return sets.verdict(result, tone, [*early_end(result), *causes])


def _gate_tone(found: ComparisonResult, tone: Tone) -> Tone:
    """GOOD only for a gate that is passed, and that no warning touches."""
    assert found.gate is not None
    if found.gate.verdict == "slower" or comparison.violations(found):
        return Tone.BAD
    return Tone.CAUTION if comparison.is_open(found) and tone is Tone.GOOD else tone


def _side_by_side(result: RunResult) -> Table:
    rows: list[Row] = []
    columns = [Column("query", Kind.NAME), Column("wall"), Column("CPU"), Column("of wall")]
    if planned := any(query.phases is not None for query in result.results):
        columns.append(Column("planning"))
    for query in result.results:
        wall, cpu = query.measures.wall_ms, cost.whole_cpu(query)
        row: list[Cell | str] = [query.name, figure(wall).cell(), figure(cpu).cell(), _share(cpu, wall)]
        if planned:
            row.append(figure(query.phases.planning_ms).cell() if query.phases else NOTHING)
        rows.append(row)
    return Table("What each query costs: medians with 95% intervals", columns, rows)


# One query -------------------------------------------------------------------------------
def _statement(query: QueryResult, *, is_title: bool) -> Code:
    """Return the statement. A terminal leaves it out where the title of the section is the statement."""
    return Code(query.sql.strip(), "sql", line="" if is_title else lines.statement(query.sql))


def _query(query: QueryResult, everywhere: Sequence[tuple[str, str]]) -> Iterator[Block]:
    if query.outcome == "failed":
        return
    yield _table(query)
    notes = [Item(f"{label}: {why}", "–", Tone.QUIET) for label, why in lines.missing(query)
             if (label, why) not in everywhere]  # fmt: skip
    notes += [Item(f"{label}: {note}", "*", Tone.QUIET) for label, note in lines.notes(query)]
    gap = sums.apart(query)
    if gap is not None:
        notes.append(Item(gap, "Σ", Tone.QUIET))
    if query.measures.cpu_user_ms.median is not None:
        notes.append(Item("sampled split: only its sum, the CPU time, is counted", "~", Tone.QUIET))
    if notes:
        yield Items(notes)
    yield Facts("", list(_facts(query)))
    if query.helpers:
        yield helpers.table(query.helpers)
    if query.disturbers:
        yield _disturbers(query)
    yield from _checks(query)


def _table(query: QueryResult) -> Table:
    wall = query.measures.wall_ms
    processes = query.resources.processes.median or 0
    noun = "query process" if processes == 1 else "query processes"
    return Table(
        "Medians over the timed runs",
        [
            Column("elapsed (the leader)", Kind.NAME),
            Column("median [95%]"),
            Column("rsd"),
            Column("of wall"),
        ],
        [
            *_rows(_elapsed(query), wall),
            f"resources ({processes:g} {noun})",
            *_rows(_resources(query), None),
            "",
            *_rows([("TTPv2 time", query.measures.ttp2_ms)], None),
            *_rows([("instructions:u", query.measures.instructions)], None),
        ],
    )


def _elapsed(query: QueryResult) -> list[Labelled]:
    found = query.measures
    return [
        ("wall", found.wall_ms),
        *_phases(query, measures.PLANNING, measures.EXECUTION),
        ("= CPU", found.cpu_ms),
        (f"{INDENT}{INDENT}user ~", found.cpu_user_ms),
        (f"{INDENT}{INDENT}system ~", found.cpu_system_ms),
        *_interrupts(query),
        *_parts(query),
        ("+ residue", found.residue_ms),
    ]


def _parts(query: QueryResult) -> Iterator[Labelled]:
    """Throttled time is shown where there was any."""
    for one in measures.PARTS[1:]:
        found: MeasureResult | None = getattr(query.measures, one.name)
        if found is not None and (one is not measures.THROTTLED or found.median != 0):
            yield f"+ {one.label}", found


def _phases(query: QueryResult, *chosen: measures.Measure) -> list[Labelled]:
    """Parts of what stands above them, where planning is split from execution."""
    if query.phases is None:
        return []
    labelled = [
        (f"{INDENT}{INDENT}{one.label.removesuffix(' CPU')}", getattr(query.phases, one.name))
        for one in chosen
    ]
    return [(label, found) for label, found in labelled if found.median is not None]


def _interrupts(query: QueryResult) -> list[Labelled]:
    """Shown where they took a share of the CPU time that a reader can see."""
    cpu, found = query.measures.cpu_ms.median, query.measures.interrupt_ms
    if found is None or found.median is None or not cpu or found.median < INTERRUPTS_SEEN * cpu:
        return []
    return [(f"{INDENT}{INDENT}interrupts", found)]


def _resources(query: QueryResult) -> list[Labelled]:
    """The DBMS's other processes are shown where they did something."""
    rows = []
    for one in measures.RESOURCES:
        found: MeasureResult | None = getattr(query.resources, one.name)
        of_cpu = one in (measures.CPU_OF_LEADER, measures.CPU_OF_WORKERS)
        if found is None or (of_cpu and not cost.has_workers(query)):
            continue
        quiet = one.field.startswith(("utility_", "unattributed_")) or one.unit == "bytes"
        if one.name == "processes" or (quiet and not found.median):
            continue
        inner = f"{INDENT}{INDENT}{one.label}"
        rows.append((f"{inner} ~" if one.sampled else inner if of_cpu else f"{INDENT}{one.label}", found))
        if one is measures.CPU_OF_WORKERS:
            rows += _phases(query, measures.PLANNING_CPU, measures.EXECUTION_CPU)
    return rows


def _rows(labelled: Sequence[Labelled], wall: MeasureResult | None) -> Iterator[Row]:
    """Rows whose times are in one unit."""
    scale = scale_for(
        "ms", [one.median for _, one in labelled if one.median is not None and one.unit == "ms"]
    )
    for label, found in labelled:
        tone = Tone.STRONG if label in ("wall", "TTPv2 time") else Tone.PLAIN
        share = wall is not None and found is not wall
        yield [
            Cell(label, tone=tone),
            figure(found).cell(_scale(found, scale), tone=tone),
            "" if found.rsd is None or not found.median else percent(found.rsd),
            _share(found, wall, bar=not label.startswith(INDENT)) if share and wall else "",
        ]


def _scale(found: MeasureResult, scale: Scale) -> Scale | None:
    return scale if found.unit == "ms" else None


def _share(part: MeasureResult, wall: MeasureResult, *, bar: bool = False) -> Cell:
    if part.median is None or not wall.median:
        return Cell("")
    share = part.median / wall.median
    return Cell(percent(share), share=share if bar else None)


def _facts(query: QueryResult) -> Iterator[tuple[str, Cell]]:
    for name, text, is_good in (
        ("answer", lines.answer(query), lines.is_answer_good(query.answer)),
        ("plan", lines.plan(query.plan), query.plan.consistent),
        ("cache", lines.cache(query.cache), query.cache.reached is not False),
    ):
        yield name, Cell(text, tone=Tone.PLAIN if is_good else Tone.BAD)
    if query.preemption is not None and query.preemption.share >= PREEMPTIONS_SEEN:
        yield "preempted", Cell(lines.preemption(query.preemption))


def _disturbers(query: QueryResult) -> Table:
    rows: list[Row] = []
    for one in query.disturbers:
        name = f"[{one.comm}]" if one.kernel else one.comm
        ran = Figure(one.run_ms, unit="ms").cell()
        near = one.on_query_cpus_ms
        rows.append(
            [
                f"{len(one.pids)} × {name}" if len(one.pids) > 1 else f"{name} ({one.pids[0]})",
                one.role,
                Cell(ran.value, ran.unit, note=f"({percent(one.share)})"),
                f"{Figure(near, unit='ms').text} on the query's CPUs" if near > 0 else "",
            ]
        )
    columns = [
        Column("who ran meanwhile", Kind.NAME),
        Column("role", Kind.NAME),
        Column("run time a QE"),
        Column("", Kind.PROSE),
    ]
    return Table("", columns, rows)


def _checks(query: QueryResult) -> Iterator[Block]:
    judged = sum(check.judged > 0 for check in query.checks)
    failed = list(lines.failed_checks(query))
    silent = len(query.checks) - judged
    text = f"checks: {judged - len(failed)} of {judged} passed"
    yield Paragraph(text + (f", {silent} could not be judged" if silent else ""), Tone.QUIET)
    if failed:
        yield Items([Item(lines.check(check), "✗", Tone.CAUTION) for check in failed])


# The run -----------------------------------------------------------------------------------
def _warning(one: WarningResult, named: bool) -> WarningBlock:
    """With its query's name where there are several."""
    about = f" ({one.query})" if one.query and named else ""
    return WarningBlock(one.cause + about, one.evidence, one.next_step)


def _conditions(result: RunResult) -> Iterator[Block]:
    env = result.environment
    yield Facts("", list(lines.environment(env)))
    if env.server.settings:
        settings = Facts("Settings that matter to a measurement", list(env.server.settings.items()))
        yield Detail("Settings of the server", [settings])
    yield Detail("Command", [Code(result.command)], opened=True)
