"""The story of a run of `tare time` or `tare compare`: what each query costs, then what that rests on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tare.protocol import measures
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
from tare.report.time import comparison, lines, sets
from tare.report.warnings import SPARE_THE_TIMES

INTERRUPTS_SEEN = 0.005  # of the CPU time
INDENT = "\u00a0\u00a0"
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
    if result.comparisons:
        return f"{len(result.comparisons)} queries under A and B"
    if result.comparison is not None:
        return f"{names[1]} against {names[0]}"
    return names[0] if len(names) == 1 else f"{len(names)} queries"


def _blocks(result: RunResult) -> Iterator[Block]:
    several = len(result.results) > 1
    everywhere = lines.missing_everywhere(result.results)
    if result.comparison is not None:
        yield compared(result)
        yield comparison.section(result.comparison, result.results[0], result.results[1], result.arms)
    elif result.comparisons:
        yield compared_set(result)
        yield Section("comparison", "B against A", list(sets.blocks(result)))
    elif several:
        yield side_by_side(result)
    yield from error_items(result)
    for number, query in enumerate(result.results, 1):
        answer = [_answer(query, result)]
        if not several:
            yield from answer
        blocks = [*(answer if several else []), *_query(query, everywhere)]
        aside = f"{lines.runs(query)}, {query.cache.asked}"
        yield Section(f"query-{number}", query.name, blocks, aside)
    warnings: list[Block] = [_warning(one, several) for one in result.warnings]
    if everywhere:
        warnings.append(
            Items([Item(f"{label}, in every query: {why}", "–", Tone.QUIET) for label, why in everywhere])
        )
    if warnings:
        yield Section("warnings", "Warnings", warnings)
    yield Section("conditions", "Conditions", list(_conditions(result)))


def cut_short(result: RunResult) -> list[str]:
    if not (result.interrupted or result.error):
        return []
    return [f"the run ended early: {result.error or 'interrupted'}; this report holds what had been measured"]


# The answer ------------------------------------------------------------------------------
def tone(warnings: Sequence[WarningResult], result: RunResult) -> Tone:
    """GOOD only where no warning touches the times and the run came to its end."""
    touching = [one for one in warnings if one.type not in SPARE_THE_TIMES]
    return Tone.CAUTION if touching or result.interrupted or result.error else Tone.GOOD


def _answer(query: QueryResult, result: RunResult) -> Verdict:
    if query.outcome == "failed":
        return failed(query, result)
    wall, cpu = query.measures.wall_ms, query.measures.cpu_ms
    text = f"{query.name} takes {figure(wall).text}"
    if cpu.median is not None and wall.median:
        text += f", {figure(cpu).text} of it CPU time ({percent(cpu.median / wall.median)})"
    mine = touching(query, result)
    return Verdict(
        "",
        f"{text}; medians of {lines.runs(query)}.",
        tone(mine, result),
        [*cut_short(result), *(one.cause for one in mine)],
    )


def failed(query: QueryResult, result: RunResult) -> Verdict:
    error = _error(query)
    why = f": {error}" if error else ""
    return Verdict("", f"{query.name}: no run was timed to its end{why}", Tone.BAD, cut_short(result))


def touching(query: QueryResult, result: RunResult) -> list[WarningResult]:
    return [
        one for one in result.warnings if one.query in (None, query.name) and one.type not in SPARE_THE_TIMES
    ]


def compared(result: RunResult) -> Verdict:
    found = result.comparison
    assert found is not None
    broken = comparison.violations(found)
    cost = comparison.gate_verdict(found, found.gate) if found.gate else comparison.verdict(found)
    said = ". ".join(text[:1].upper() + text[1:] for text in (broken, cost) if text) + "."
    differs = found.answers_agree is False and result.results[0].answer.compared != "any"
    shade = Tone.BAD if differs else tone(result.warnings, result)
    if found.gate is not None and (broken or found.gate.verdict != "not slower"):
        shade = Tone.BAD if differs or broken or found.gate.verdict == "slower" else Tone.CAUTION
    causes = dict.fromkeys(one.cause for one in result.warnings if one.type not in SPARE_THE_TIMES)
    return Verdict("", said, shade, [*cut_short(result), *causes])


def compared_set(result: RunResult) -> Verdict:
    differs = result.results[0].answer.compared != "any" and any(
        one.answers_agree is False for one in result.comparisons
    )
    causes = dict.fromkeys(one.cause for one in result.warnings if one.type not in SPARE_THE_TIMES)
    shade = Tone.BAD if differs else tone(result.warnings, result)
    return sets.verdict(result, shade, [*cut_short(result), *causes])


def _error(query: QueryResult) -> str | None:
    """Error of the query; if none ended its runs early and none of them was timed, that of the last run."""
    if query.error or query.outcome != "failed":
        return query.error
    return next((qe.error for qe in reversed(query.qes) if qe.error), None)


def error_items(result: RunResult) -> Iterator[Items]:
    """Error of each query that has one. A lone query that failed has it in its verdict."""
    if len(result.results) == 1 and result.results[0].outcome == "failed":
        return
    if failing := [(query.name, error) for query in result.results if (error := _error(query))]:
        yield Items([Item(f"{name}: {error}", "✗", Tone.BAD) for name, error in failing])


def side_by_side(result: RunResult) -> Table:
    rows: list[Row] = []
    checked = any(query.answer.second_source for query in result.results)
    for query in result.results:
        wall, cpu = query.measures.wall_ms, query.measures.cpu_ms
        row: Row = [query.name, figure(wall).cell(), figure(cpu).cell(), _share(cpu, wall)]
        source = query.answer.second_source
        confirmed = f"as {source}'s" if source else "not confirmed"
        rows.append([*row, confirmed] if checked else row)
    return Table(
        "What each query costs: medians with 95% intervals",
        [
            Column("query", Kind.NAME),
            Column("wall"),
            Column("CPU"),
            Column("of wall"),
            *([Column("answer", Kind.NAME)] if checked else []),
        ],
        rows,
    )


# One query -------------------------------------------------------------------------------
def _query(query: QueryResult, everywhere: Sequence[tuple[str, str]]) -> Iterator[Block]:
    statement = lines.statement(query.sql)
    yield Code(query.sql.strip(), "sql", line="" if statement == query.name else statement)
    if query.outcome == "failed":
        return
    yield _table(query)
    notes = [Item(f"{label}: {why}", "–", Tone.QUIET) for label, why in lines.missing(query)
             if (label, why) not in everywhere]  # fmt: skip
    notes += [Item(f"{label}: {note}", "*", Tone.QUIET) for label, note in lines.notes(query)]
    if query.measures.cpu_user_ms.median is not None:
        notes.append(Item("sampled split: only its sum, the CPU time, is counted", "~", Tone.QUIET))
    if (bound := lines.preempted(query)) is not None:
        notes.append(Item(f"all CPU: {bound}", "*", Tone.QUIET))
    if (means := lines.mean_parts(query)) is not None:
        notes.append(Item(f"medians need not add up; the means do: {means.text}", "=", Tone.QUIET))
    if notes:
        yield Items(notes)
    yield Facts("", list(_facts(query)))
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
        ("= CPU", found.cpu_ms),
        (f"{INDENT}{INDENT}user ~", found.cpu_user_ms),
        (f"{INDENT}{INDENT}system ~", found.cpu_system_ms),
        *_interrupts(query),
        *(
            (f"+ {one.label}", getattr(found, one.name))
            for one in measures.PARTS[1:]
            if one is not measures.THROTTLED or (found.throttled_ms and found.throttled_ms.median)
        ),
        ("+ residue", found.residue_ms),
    ]


def _interrupts(query: QueryResult) -> list[Labelled]:
    """Shown where they took a share of the CPU time that a reader can see."""
    cpu, found = query.measures.cpu_ms.median, query.measures.interrupt_ms
    seen = cpu and found.median is not None and found.median >= INTERRUPTS_SEEN * cpu
    return [(f"{INDENT}{INDENT}interrupts", found)] if seen else []


def _resources(query: QueryResult) -> list[Labelled]:
    """The DBMS's other processes are shown where they did something."""
    rows = []
    for one in measures.RESOURCES:
        found: MeasureResult | None = getattr(query.resources, one.name)
        if found is None:
            continue
        quiet = one.field.startswith("utility_") or one.unit in ("bytes", "switches")
        if one.name == "processes" or (quiet and not found.median):
            continue
        rows.append((f"{INDENT}{INDENT}{one.label} ~" if one.sampled else f"{INDENT}{one.label}", found))
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


def figure(measure: MeasureResult) -> Figure:
    known = [one for one in measure.samples if one is not None]
    low, high = measure.ci95 or (None, None)
    return Figure(
        measure.median,
        low,
        high,
        n=len(known),
        unit=measure.unit,
        spread=(max(known) - min(known)) / 2 if len(known) > 1 else None,
    )


def _facts(query: QueryResult) -> Iterator[tuple[str, Cell]]:
    for name, text, is_good in (
        ("answer", lines.answer(query.answer), lines.answer_as_asked(query.answer)),
        ("plan", lines.plan(query.plan), query.plan.consistent),
        ("cache", lines.cache(query.cache), query.cache.reached is not False),
    ):
        yield name, Cell(text, tone=Tone.PLAIN if is_good else Tone.BAD)


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
