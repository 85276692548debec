"""The story of two results: what each query took, and every condition that changed in between."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tare.protocol.measures import CPU, INSTRUCTIONS, WALL
from tare.report.comparison import TOTAL_CPU
from tare.report.comparison_models import ComparisonResult, MeasureComparison
from tare.report.kit.blocks import (
    Block,
    Cell,
    Column,
    Detail,
    Digest,
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
from tare.report.kit.names import middle
from tare.report.numbers import decimals
from tare.report.time import comparison, lines
from tare.report.time.comparison import LABELS
from tare.report.time.short import entry
from tare.report.two_results.document import Difference, QueryComparison, ResultsComparison, Side, SideWarning
from tare.report.words import NOTHING

DRIFT = "not interleaved: drift of the machine is in it"
CAVEAT = (
    "The runs of the two results did not take turns. Whatever changed between the two times is part of the difference; "
    "`tare compare` of two statements in one run leaves it out"
)
_LAST = "-v shows every measure, every condition that differs, and both environments"
_MOST_FILE = 24  # columns of a file's name
_LINES_BELOW_TABLE = 8
_SHORT_LABELS = {
    WALL.name: "wall",
    CPU.name: "leader's CPU",
    TOTAL_CPU: "CPU",
    INSTRUCTIONS.name: "instructions",
}


def story(found: ResultsComparison) -> Story:
    """Return the whole report."""
    return _of(found, list(_blocks(found)))


def short(found: ResultsComparison) -> Story:
    """Return the short form: at most 12 lines of a terminal for one query."""
    return _of(found, list(_short(found)))


def _of(found: ResultsComparison, blocks: Sequence[Block]) -> Story:
    tare = found.new.environment.tare.version
    return Story(
        title=f"{found.new.file} against {found.old.file}",
        under=f"begun {_begun(found.old)} and {_begun(found.new)} UTC · weighed by Tare {tare}",
        written_by=tare,
        blocks=blocks,
    )


def _begun(side: Side) -> str:
    return side.started_at[:16].replace("T", " ")


def verdict(query: QueryComparison, found: ResultsComparison, most: int | None = None) -> str:
    """Return a sentence on one query. `most`: columns of a file's name."""
    old, new = (file if most is None else middle(file, most) for file in (found.old.file, found.new.file))
    compared = query.comparison
    if compared is None:
        return f"{new} is not compared with {old}: {query.reason}"
    chosen = compared.measures[compared.primary]
    label = LABELS[compared.primary]
    shift = _shift(chosen).text
    took = f"{new} took {shift} of {old}" if chosen.ratio else f"{new} − {old} = {shift}"
    if chosen.difference.ci95 is None:
        took += " (too few runs for an interval)"
    return f"{_claim(compared, label)}: {took}; {DRIFT}"


def _claim(compared: ComparisonResult, label: str) -> str:
    if compared.margin is None:
        return label if compared.greater else f"no difference in {label} is established"
    limit = f"{compared.margin * 100:g}%"
    if compared.verdict == "equivalent":
        return f"equivalent in {label} within {limit}"
    if compared.verdict == "different":
        return f"{label} differs by more than {limit}"
    return f"it is undecided whether {label} differs by more than {limit}"


def _shift(chosen: MeasureComparison) -> Cell:
    """The ratio with its interval, "1.08× [1.05, 1.12]", or the difference where there is none."""
    ratio = chosen.ratio
    if ratio is None:
        low, high = chosen.difference.ci95 or (None, None)
        return Figure(chosen.difference.estimate, low, high, unit=chosen.unit).cell()
    if ratio.ci95 is None:
        return Cell(f"{ratio.estimate:.3g}×")
    low, high = ratio.ci95
    places = max(2, decimals(ratio.estimate, (high - low) / 2))
    return Cell(f"{ratio.estimate:.{places}f}×", interval=f"[{low:.{places}f}, {high:.{places}f}]")


def _tone(query: QueryComparison) -> Tone:
    """Never GOOD: the machine may have drifted."""
    is_bad = query.comparison is None or query.comparison.answers_agree is False
    return Tone.BAD if is_bad else Tone.CAUTION


_SIGNS = {Tone.CAUTION: "!", Tone.BAD: "✗"}


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


# The whole report ----------------------------------------------------------------------------
def _blocks(found: ResultsComparison) -> Iterator[Block]:
    is_single = len(found.queries) == 1
    if not is_single:
        yield _table(found)
    for number, query in enumerate(found.queries, 1):
        reasons = [] if query.comparison is None or query.comparison.answers_agree is not False else [
            "the answers of the two results are not the same"
        ]  # fmt: skip
        answer = Verdict("", _sentence(verdict(query, found)), _tone(query), reasons)
        if is_single:
            yield answer
        yield Section(
            f"query-{number}", query.name, [*([] if is_single else [answer]), *_query(query, found)]
        )
    yield Section("conditions", "What else differs", list(_conditions(found)))
    notices = [*_cut_short(found), *_unpaired(found)]
    warnings: list[Block] = [
        WarningBlock(f"{_file(one, found)}: {one.cause}{_about(one)}", one.evidence, one.next_step)
        for one in found.warnings
    ]
    if notices:
        warnings.append(Items(notices))
    if warnings:
        yield Section("warnings", "Warnings of the two results", warnings)
    for key, side in (("old", found.old), ("new", found.new)):
        blocks: list[Block] = [
            Facts("", list(lines.environment(side.environment))),
            Detail("Command", [Paragraph(side.command)]),
        ]
        yield Section(key, f"Conditions of {side.file}", blocks, f"begun {_begun(side)} UTC")


def _query(query: QueryComparison, found: ResultsComparison) -> Iterator[Block]:
    if query.comparison is None:
        return
    yield Facts("", [("A", found.old.file), ("B", found.new.file)])
    where = comparison.whereabouts(query.comparison)
    if where is not None:
        yield Paragraph(_sentence(where))
    a, b = query.comparison.measures[query.comparison.primary].runs
    yield from comparison.table(query.comparison, found.clocked, f"{a} + {b} runs, not interleaved")


def _conditions(found: ResultsComparison) -> Iterator[Block]:
    if found.differences:
        rows: list[Row] = [[_what(one), _value(one.old), _value(one.new)] for one in found.differences]
        columns = [Column("", Kind.NAME), Column("old", Kind.PROSE), Column("new", Kind.PROSE)]
        yield Table("", columns, rows)
    else:
        yield Paragraph("No recorded condition differs.")
    yield Paragraph(f"{CAVEAT}.", Tone.QUIET)


def _what(one: Difference) -> str:
    return one.what if one.query is None else f"{one.what} ({one.query})"


def _value(value: str | None) -> str:
    """A setting that is there and empty is another one than a setting that is not there."""
    return NOTHING if value is None else value or "(empty)"


def _about(warning: SideWarning) -> str:
    return f" ({warning.query})" if warning.query else ""


def _file(warning: SideWarning, found: ResultsComparison) -> str:
    return (found.old if warning.side == "old" else found.new).file


# The short form ------------------------------------------------------------------------------
def _short(found: ResultsComparison) -> Iterator[Block]:
    last = entry(_LAST, tone=Tone.QUIET)
    below = [*_cut_short(found), *_unpaired(found), *_short_differences(found), *_short_warnings(found), last]
    if len(found.queries) == 1:
        yield Digest([*_single(found.queries[0], found), *below], "also: ")
        return
    names = (middle(found.new.file, _MOST_FILE), middle(found.old.file, _MOST_FILE))
    yield Paragraph(f"{names[0]} over {names[1]}, {LABELS[found.primary]}; {DRIFT}")
    yield _table(found)
    failed = [
        entry(
            f"{middle(one.name, 20)} is not compared: {one.reason}",
            "✗",
            Tone.BAD,
            name=f"{one.name} not compared",
        )
        for one in found.queries
        if one.comparison is None
    ]
    yield Digest([*failed, *below], "also: ", _LINES_BELOW_TABLE)


def _single(query: QueryComparison, found: ResultsComparison) -> Iterator[Item]:
    tone = _tone(query)
    yield entry(_sentence(verdict(query, found, _MOST_FILE)), _SIGNS[tone], tone, most=4)
    compared = query.comparison
    if compared is None:
        return
    if compared.answers_agree is False:
        yield entry("the answers of the two results are not the same", "✗", Tone.BAD)
    where = comparison.whereabouts(compared)
    if where is not None:
        yield entry(_sentence(f"A: old, B: new; {where}"), most=2)
    for place, side in enumerate((found.old, found.new)):
        medians = ", ".join(_medians(query, compared, place))
        yield entry(f"{middle(side.file, 16)}: {medians}", "AB"[place])
    chosen = compared.measures[compared.primary]
    p, delta = comparison.p_value(chosen.mann_whitney_p), comparison.signed(chosen.cliffs_delta)
    runs = f"{chosen.runs[0]} + {chosen.runs[1]} runs of {_begun(found.old)} and {_begun(found.new)}"
    yield entry(f"{runs}; p {p}, δ {delta}", tone=Tone.QUIET)


def _medians(query: QueryComparison, compared: ComparisonResult, place: int) -> Iterator[str]:
    for name in dict.fromkeys((WALL.name, compared.primary)):
        measure = compared.measures.get(name)
        if measure is not None:
            low, high = query.ci95[name][place] or (None, None)
            yield f"{_SHORT_LABELS[name]} {Figure(measure.medians[place], low, high, unit=measure.unit).text}"


def _short_differences(found: ResultsComparison) -> Iterator[Item]:
    for one in found.differences:
        old, new = (middle(_value(value), 26) for value in (one.old, one.new))
        about = f" ({middle(one.query, 12)})" if one.query and len(found.queries) > 1 else ""
        yield entry(f"{one.what}{about}: {old} → {new}", "≠", Tone.CAUTION, name=one.what)
    if not found.differences:
        yield entry("no recorded condition differs (server, settings, machine, kernel, Tare, plan)")


def _short_warnings(found: ResultsComparison) -> Iterator[Item]:
    for one in found.warnings:
        about = f", {middle(one.query, 12)}" if one.query and len(found.queries) > 1 else ""
        yield entry(
            f"{one.side}{about}: {one.brief or one.cause}",
            "!",
            Tone.CAUTION,
            name=f"{one.side} {one.type.replace('-', ' ')}",
        )


def _cut_short(found: ResultsComparison) -> Iterator[Item]:
    for side in (found.old, found.new):
        if side.interrupted or side.error:
            ended = f"{middle(side.file, _MOST_FILE)} ended early"
            yield entry(f"{ended}: {side.error or 'interrupted'}", "!", Tone.CAUTION, name=ended)


def _unpaired(found: ResultsComparison) -> Iterator[Item]:
    for side, names in ((found.old, found.only_old), (found.new, found.only_new)):
        if names:
            only = f"only in {middle(side.file, _MOST_FILE)}"
            yield entry(f"{only}: {', '.join(names)}", "–", name=f"queries {only}")


# Several queries -------------------------------------------------------------------------------
def _table(found: ResultsComparison) -> Table:
    columns = [
        Column("query", Kind.NAME),
        Column("new / old [95%]"),
        Column("new costs", Kind.NAME),
        Column("p"),
        Column("old"),
        Column("new"),
    ]
    return Table("", columns, [_row(query) for query in found.queries])


def _row(query: QueryComparison) -> Row:
    tone = _tone(query)
    sign = "✗ " if tone is Tone.BAD else ""
    name = Cell(f"{sign}{middle(query.name, 20)}", tone=tone if sign else Tone.PLAIN)
    compared = query.comparison
    if compared is None:
        return [name, *[NOTHING] * 5]
    chosen = compared.measures[compared.primary]
    old, new = (Figure(median, unit=chosen.unit).cell() for median in chosen.medians)
    costs = {"B": "more", "A": "less", None: NOTHING}[compared.greater]
    if compared.verdict == "equivalent":
        costs = "the same"
    return [name, _shift(chosen), costs, comparison.p_value(chosen.mann_whitney_p), old, new]
