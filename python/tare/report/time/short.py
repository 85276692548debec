"""The short form of a run: the answer first, what it is made of, and every warning that touches it.

At most 12 lines of a terminal for one query and for a comparison. `story` has the whole.
"""

from __future__ import annotations

from collections.abc import Iterator

from tare.report.comparison_models import ComparisonResult
from tare.report.kit.blocks import Block, Cell, Column, Digest, Item, Kind, Row, Story, Table, Tone
from tare.report.kit.names import middle
from tare.report.numbers import ms_text, percent
from tare.report.result import AnswerResult, MeasureResult, QueryResult, RunResult, WarningResult
from tare.report.time import comparison, cost, lines, sets, sums
from tare.report.time import story as full
from tare.report.time.cost import figure
from tare.report.time.ending import early_end, ended
from tare.report.warnings import SPARE_THE_TIMES
from tare.report.words import NOTHING

MOST_NAME = 30  # columns of a name
NAMED_PART = 0.01  # of the wall time: smaller parts are summed up as "other"
LINES_OF_WARNINGS = 7  # below a table of several queries

_GRAVEST = (
    "answers-differ",
    "runs-missing",
    "cpu-elsewhere",
    "cache-not-reached",
    "cache-unproved",
    "answers-unverified",
    "plan-not-one",
    "possible-result-cache",
    "cpu-unattributed",
    "throttled",
    "large-residue",
    "grows-from-run-to-run",
)
"""Types of warnings that come first, the gravest at the top; then others that touch the times; then the rest."""

_LAST = "-v shows every measure, who ran meanwhile, and the conditions"
_LAST_OF_WARNINGS = "-v shows what to do about the warnings, every measure, and the conditions"
_SIGNS = {Tone.GOOD: "✓", Tone.CAUTION: "!", Tone.BAD: "✗"}


def story(result: RunResult) -> Story:
    """Return the short form. It has the title of the whole report."""
    whole = full.story(result)
    return Story(whole.title, whole.under, whole.written_by, list(_blocks(result)))


def _blocks(result: RunResult) -> Iterator[Block]:
    if result.comparison is not None:
        yield Digest(
            [*_comparison(result, result.comparison), *_warnings(result, named=True), _last(result)], "also: "
        )
    elif result.comparisons:
        whole = full.compared_set(result)
        items = [*_cut_short(result, 2), *_failures(result), *_warnings(result, named=True), _last(result)]
        yield Digest([entry(whole.text, _SIGNS[whole.tone], whole.tone, most=4)], "also: ")
        yield from sets.blocks(result)
        yield Digest(items, "also: ", LINES_OF_WARNINGS)
    elif len(result.results) == 1:
        query = result.results[0]
        yield Digest([*_query(query, result), *_warnings(result, named=False), _last(result)], "also: ")
    else:
        yield _table(result)
        items = [
            *_cut_short(result, 2),
            *_confirmed(result),
            *_failures(result),
            *_warnings(result, named=True),
            _last(result),
        ]
        yield Digest(items, "also: ", LINES_OF_WARNINGS)


def entry(text: str, sign: str = " ", tone: Tone = Tone.PLAIN, *, most: int = 1, name: str = "") -> Item:
    """Return an item of one line, or of `most`."""
    return Item(text, sign, tone, most, name)


def _last(result: RunResult) -> Item:
    return entry(_LAST_OF_WARNINGS if result.warnings else _LAST, tone=Tone.QUIET)


def _cut_short(result: RunResult, most: int, query: QueryResult | None = None) -> list[Item]:
    """Nothing where a query without any time ended the run: its answer has the error."""
    if any(ended(one, result) and one.outcome == "failed" for one in result.results):
        return []
    return [entry(reason, "!", Tone.CAUTION, most=most) for reason in early_end(result, query)]


# One query -------------------------------------------------------------------------------
def _query(query: QueryResult, result: RunResult) -> Iterator[Item]:
    is_cut = bool(early_end(result))
    answer = full.answer(query, result, middle(query.name, MOST_NAME))
    yield entry(answer.text, _SIGNS[answer.tone], answer.tone, most=3 if is_cut else 4)
    yield from _cut_short(result, 2, query)
    yield from _defects(query)
    if query.outcome == "failed":
        return
    yield entry(f"wall = {equation(query)}", most=3)
    gap = sums.apart(query)
    if gap is not None:
        yield entry(gap, tone=Tone.QUIET, most=1 if is_cut else 2)
    yield entry("; ".join(_facts(query)), most=1 if is_cut or gap else 2)


def equation(query: QueryResult) -> str:
    """The parts of the wall time of the leader: those of at least 1% by name, the others as a sum, and the residue."""
    wall = query.measures.wall_ms.median or 0.0
    *parts, residue = sums.elapsed_parts(query)
    terms, others, unknown = [], 0.0, []
    for label, part in parts:
        if part.median is None:
            unknown.append(f"{label} {NOTHING}")
        elif wall and part.median >= NAMED_PART * wall:
            name = f"leader's {label}" if label == "CPU" and cost.has_workers(query) else label
            terms.append(f"{name} {figure(part).text} ({percent(part.median / wall)})")
        else:
            others += part.median
    if others:
        terms.append(f"other {ms_text(others)}")
    return " + ".join([*terms, *unknown, f"{residue[0]} {figure(residue[1]).text}"])


def _facts(query: QueryResult) -> Iterator[str]:
    yield _answer(query.answer)
    if not query.plan.consistent:
        yield "not one plan"
    elif query.plan.fingerprint is not None:
        yield f"plan {query.plan.fingerprint[:8]} in every run"
    state = {True: "proved", False: "NOT reached", None: "not proved"}[query.cache.reached]
    yield f"{query.cache.asked} {state}"
    judged = sum(check.judged > 0 for check in query.checks)
    failed = [check.name for check in lines.failed_checks(query)]
    named = f" (not: {', '.join(failed)})" if failed else ""
    yield f"{judged - len(failed)} of {judged} checks passed{named}"


def _answer(answer: AnswerResult) -> str:
    if answer.rows is None:
        return "answer unknown"
    rows = lines.row_count(answer)
    if answer.not_compared is not None:
        return f"{rows}, not compared"
    same = "the same in every run" if answer.consistent else "in the first timed run; others differ"
    comma = "," if answer.consistent else ""
    return f"{rows}{comma} {same}{lines.largest_difference(answer)}{lines.confirmed(answer)}"


# A comparison ------------------------------------------------------------------------------
def _comparison(result: RunResult, found: ComparisonResult) -> Iterator[Item]:
    verdict = full.compared(result)
    is_cut = bool(early_end(result))
    differing = "A and B do not give the same answer" if found.answers_agree is False else None
    gate = found.gate
    said = comparison.verdict(found) if gate is None else comparison.gate_verdict(found, gate)
    first = _sentences(differing, comparison.violations(found), said, comparison.elsewhere(found))
    yield entry(first, _SIGNS[verdict.tone], verdict.tone, most=5)
    yield from _cut_short(result, 1)
    where = comparison.whereabouts(found)
    if found.last_look is not None:
        yield entry(_sentences(comparison.floor(found.last_look)), most=2)
    elif where is not None:
        yield entry(_sentences(where), most=2)
    names = comparison.arm_names(result.arms) or [query.name for query in result.results]
    for side, name, query in zip("AB", names, result.results, strict=False):
        yield entry(_medians(name, query), side)
    if not is_cut:
        yield entry(_how(found), tone=Tone.QUIET)


def _sentences(*sentences: str | None) -> str:
    return " ".join(f"{one[:1].upper()}{one[1:]}." for one in sentences if one)


def _medians(name: str, query: QueryResult) -> str:
    wall, cpu = figure(query.measures.wall_ms).text, figure(cost.whole_cpu(query)).text
    return f"{middle(name, 16)}: wall {wall}, CPU {cpu}"


def _how(found: ComparisonResult) -> str:
    chosen = found.measures[found.primary]
    agree = {True: "same answers; ", False: "", None: ""}[found.answers_agree]
    if found.last_look is not None:
        return f"{agree}{comparison.blocks(found, found.last_look)}"
    runs = f"{chosen.runs[0]} + {chosen.runs[1]} runs by turns"
    if found.blocks in ("session", "restart"):
        runs += f", a {found.blocks} a pair"
    p, delta = comparison.p_value(chosen.mann_whitney_p), comparison.signed(chosen.cliffs_delta)
    return f"{agree}{runs}; Mann–Whitney p {p}, Cliff's δ {delta}"


# Several queries -----------------------------------------------------------------------------
def _table(result: RunResult) -> Table:
    columns = [Column("medians [95%]", Kind.NAME), Column("wall"), Column("CPU")]
    is_planned = any(query.phases is not None and query.phases.planning_ms.median is not None
                     for query in result.results)  # fmt: skip
    if is_planned:
        columns.append(Column("planning"))
    return Table("", columns, [_row(query, result, is_planned) for query in result.results])


def _row(query: QueryResult, result: RunResult, is_planned: bool) -> Row:
    tone = full.answer(query, result, query.name).tone
    row: list[Cell | str] = [
        Cell(f"{_SIGNS[tone]} {middle(query.name, 18)}", tone=tone),
        figure(query.measures.wall_ms).cell(),
        figure(cost.whole_cpu(query)).cell(),
    ]
    if is_planned:
        row.append(_share(query.phases.planning_ms if query.phases else None, query.measures.wall_ms))
    return row


def _share(part: MeasureResult | None, whole: MeasureResult) -> str:
    return (
        NOTHING
        if part is None or part.median is None or not whole.median
        else percent(part.median / whole.median)
    )


def _confirmed(result: RunResult) -> Iterator[Item]:
    """How many answers a reference gives too; nothing where none was compared."""
    compared = [query.answer for query in result.results if query.answer.reference is not None]
    if compared:
        agreeing = sum(answer.reference_difference is None for answer in compared)
        text = f"{agreeing} of {len(compared)} answers agree with {compared[0].reference}'s"
        yield entry(text, name="answers compared")


def _failures(result: RunResult) -> Iterator[Item]:
    """Queries without a time, and those whose answer is wrong or whose runs ended early."""
    for query in result.results:
        if query.outcome == "failed":
            name = middle(query.name, MOST_NAME)
            text = full.answer(query, result, name).text
            yield entry(text, "✗", Tone.BAD, most=2, name=f"{name} failed")
        yield from _defects(query, f"{middle(query.name, MOST_NAME)}: ")


def _defects(query: QueryResult, about: str = "") -> Iterator[Item]:
    for name, text in lines.defects(query):
        yield entry(f"{about}{text}", "✗", Tone.BAD, most=2, name=f"{about}{name}")


# Warnings --------------------------------------------------------------------------------
def _warnings(result: RunResult, *, named: bool) -> Iterator[Item]:
    """The gravest first. Each has its name, by which it is mentioned where it has no room.

    `named`: with the name of its query, or with A or B where two are compared."""
    sides = (
        dict(zip([query.name for query in result.results], "AB", strict=False)) if result.comparison else {}
    )
    failed = {query.name for query in result.results if query.outcome == "failed"}
    for warning in sorted(result.warnings, key=_rank):
        if warning.type == "runs-missing" and warning.query in failed:
            continue  # the answer has the error
        if warning.type == "answers-differ" and warning.query is None and result.comparison is not None:
            continue  # the verdict begins with it
        about = (
            f"{sides.get(warning.query) or middle(warning.query, 18)}: " if named and warning.query else ""
        )
        touches = warning.type not in SPARE_THE_TIMES
        yield entry(
            f"{about}{warning.brief or warning.cause}",
            "!" if touches else "·",
            Tone.CAUTION if touches else Tone.QUIET,
            most=2 if warning.type in _GRAVEST[:5] else 1,
            name=warning.type.replace("-", " "),
        )


def _rank(warning: WarningResult) -> int:
    if warning.type in _GRAVEST:
        return _GRAVEST.index(warning.type)
    return len(_GRAVEST) + (warning.type in SPARE_THE_TIMES)
