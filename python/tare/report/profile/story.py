"""The story of a profile: which function makes transactions vary, and whether that may be relied on."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from tare.lab.profile_about import State
from tare.report.kit.blocks import (
    Block,
    Cell,
    Charts,
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
    Tree,
    Verdict,
)
from tare.report.kit.names import Names, middle
from tare.report.numbers import fixed, percent, significant, thousands
from tare.report.profile import flame
from tare.report.profile.branches import COLUMNS, branches
from tare.report.profile.build import Built
from tare.report.profile.document import Figure, Overhead, ProfileReport, Round
from tare.report.profile.headline import BEHIND
from tare.report.profile.names import factor_name
from tare.report.profile.tree import LEAST
from tare.report.profile.watching import watched_how
from tare.report.profile.words import share, time
from tare.report.words import NOTHING, counted, dbms_name, fact

if TYPE_CHECKING:
    from tare.report.charts.chart import Chart, NoChart

PARTS = ("tree", "factors", "types", "tail", "overhead", "rounds", "next")
"""Sections that a terminal shows, where no others are requested; with `flame` all that can be."""

TOP = 10
"""Factors that are listed, the paper's top k."""

_TYPES = 12  # rows that a terminal shows
_TAIL = 5
_NAME = 80  # characters
_NAMED = 20  # functions in running text
_ADDED = 8  # functions of a round


def story(built: Built, parts: Collection[str] = PARTS, top: int = TOP) -> Story:
    """`parts`: sections that a terminal shows; every other form has all. `top`: factors that it shows."""
    report = built.report
    begun = report.started_at[:16].replace("T", " ")
    return Story(
        title=report.title,
        under=f"profile {report.run} · begun {begun} UTC · written {report.written_at[:10]} by Tare "
        f"{report.written_by}",
        written_by=report.written_by,
        blocks=list(_blocks(built, parts, top)),
    )


def _blocks(built: Built, parts: Collection[str], top: int) -> Iterator[Block]:
    report = built.report
    unsaid = not report.valid and report.invalid_because[0] in BEHIND
    yield Verdict("Not valid" if unsaid else "", report.headline[0], _tone(report), report.warnings)
    for sentence in report.headline[1:]:
        yield Paragraph(sentence)
    if report.notes:
        yield Items([Item(note, "–", Tone.QUIET) for note in report.notes])
    sections: Sequence[tuple[str, str, Sequence[Block]]] = (
        ("flame", "Icicle", [_charts(built, "flame", partial(flame.explained, report.nodes))]),
        ("tree", "The variance tree", list(_tree(report))),
        ("factors", "Factors", list(_factors(report, top))),
        ("types", "Types of transactions", list(_types(built))),
        ("tail", "The tail", list(_tail(built))),
        ("overhead", "Overhead of the profiling", list(_overhead(built))),
        ("rounds", "Rounds of refinement", list(_rounds(report))),
        ("next", "Next", _next(report)),
        ("conditions", "Conditions", list(_conditions(report))),
        ("reproduce", "How to do it again", [Code("\n".join(report.commands))]),
    )
    for key, title, blocks in sections:
        yield Section(key, title, blocks, printed=key in parts)


def _tone(report: ProfileReport) -> Tone:
    """GOOD only where nothing speaks against the figures, and their price was measured."""
    if not report.valid:
        return Tone.BAD
    stopped = report.of.state != State.COMPLETE or report.rates.after == 0
    unsure = report.warnings or report.enough is not None or report.overhead is None
    return Tone.CAUTION if stopped or unsure else Tone.GOOD


def _charts(built: Built, section: str, lines: Callable[[int], Sequence[str]] | None = None) -> Charts:
    return Charts(partial(_of_section, built, section), lines=lines)


def _of_section(built: Built, section: str) -> list[Chart | NoChart]:
    return [one for one in built.charts if one.section == section]


# Where the variance is -------------------------------------------------------------------
def _tree(report: ProfileReport) -> Iterator[Block]:
    if not report.nodes:
        yield Paragraph("There is no path.", Tone.QUIET)
        return
    yield Tree(COLUMNS, partial(branches, report))
    yield Paragraph(
        "Variance: Var(inclusive) / Var(T), the paper's share; those of a function and of its callees overlap. Own "
        "share: Cov(own time, T) / Var(T), which adds up to 100% over all functions. At each level equation 1 adds up: "
        "a path's variance is that of its body, of its callees, and of what varies together. In brackets: 95% "
        f"intervals. Small paths are put together; the JSON report has all {thousands(len(report.nodes))}.",
        Tone.QUIET,
    )
    for sentence in (_sums(report), _watching(report), _unreturned(report)):
        if sentence:
            yield Paragraph(sentence, Tone.QUIET)


def _sums(report: ProfileReport) -> str:
    """The residue of equation 1, and the sum of the shares, which must be 1."""
    equation = report.equation
    if equation.own_sum is None or equation.residue is None:
        return "There are no shares: the transactions are too few, or all alike."
    paths = "the one path" if equation.paths == 1 else f"all {thousands(equation.paths)} paths"
    return (
        f"Equation 1 holds at {paths} (largest relative residue {equation.residue:.1g}); own shares add up to "
        f"{100 * equation.own_sum:.1f}%."
    )


def _watching(report: ProfileReport) -> str:
    watching = report.watching
    return watched_how(watching.ways, watching.hazards, watching.refused)


def _unreturned(report: ProfileReport) -> str:
    """Calls without a return, or without a record."""
    sentences = []
    if report.unwound:
        calls = "call was" if report.unwound == 1 else "calls were"
        sentences.append(
            f"{thousands(report.unwound)} {calls} left without a return (exception, longjmp or end of the thread)."
        )
    if report.unrecorded:
        calls = "call" if report.unrecorded == 1 else "calls"
        sentences.append(
            f"{thousands(report.unrecorded)} {calls} of signal handlers could not be recorded: their time is that of "
            "the functions they interrupted."
        )
    return " ".join(sentences)


def _factors(report: ProfileReport, top: int) -> Iterator[Block]:
    """The first ones, and all with a share to speak of: negative ones come last by score."""
    if not report.factors:
        yield Paragraph("There is no factor.", Tone.QUIET)
        return
    names = Names(name for factor in report.factors for name in (*factor.names, *factor.beneath))
    rows: list[Row] = []
    for rank, factor in enumerate(report.factors, 1):
        if rank > max(TOP, top) and (factor.share is None or abs(factor.share.value) < LEAST):
            continue
        mark = " (inferred)" if factor.inferred else ""
        rows.append([
            factor_name(factor, names, _NAME) + mark,
            share_cell(factor.share),
            share(factor.own_covariance and factor.own_covariance.value).cell(),
            str(factor.height),
            thousands(round(factor.specificity)),
            NOTHING if factor.score is None else fixed(factor.score, 0),
            time(factor.mean_ns).text,
            thousands(factor.instances),
        ])  # fmt: skip
    yield Table(
        "Functions, bodies and pairs of functions by score",
        [
            Column("factor", Kind.NAME),
            *map(Column, ("variance [95%]", "own share", "height", "specificity", "score", "mean", "paths")),
        ],
        rows,
        grows=True,
        brief=top,
    )
    left = len(report.factors) - len(rows)
    yield Paragraph(
        "Score: specificity times the share of the variance (equations 2 and 3). Specificity: the square of how much "
        "lower a function stands than the root of the call graph. A function on several paths stands where the scores "
        "of all of them together put it."
        + (f" {thousands(left)} factors with less than 1% are in the JSON report alone." if left else ""),
        Tone.QUIET,
    )


def share_cell(figure: Figure | None) -> Cell:
    """With a bar that shows its interval."""
    shown = share(figure).cell()
    return shown if figure is None else replace(shown, share=figure.value, span=(figure.low, figure.high))


# Transactions ----------------------------------------------------------------------------
def _types(built: Built) -> Iterator[Block]:
    report = built.report
    if not report.types:
        yield Paragraph("No transaction counts.", Tone.QUIET)
        return
    rows: list[Row] = []
    for one in report.types:
        times = (one.mean_ns, one.sd_ns, one.p50_ns, one.p99_ns, one.max_ns, one.on_cpu_ns, one.off_cpu_ns)
        rows.append([middle(one.name, _NAME), thousands(one.transactions), *(time(ns).text for ns in times)])
    headings = ("transactions", "mean", "sd", "p50", "p99", "longest", "on CPU", "off CPU")
    yield Table(
        "Valid transactions by type; times on and off the CPU are means",
        [Column("type", Kind.NAME), *map(Column, headings)],
        rows,
        grows=True,
        brief=_TYPES,
    )
    yield _charts(built, "types")


def _tail(built: Built) -> Iterator[Block]:
    report = built.report
    if not report.tail:
        yield Paragraph("There are too few transactions for a 99th percentile.", Tone.QUIET)
        return
    yield _charts(built, "tail")
    names = Names(one.name for one in report.tail)
    rows: list[Row] = [
        [
            names.cut(one.name, _NAME),
            time(one.mean_ns).text,
            time(one.tail_ns).text,
            share_cell(one.excess),
        ]
        for one in report.tail
    ]
    yield Table(
        "Own time in transactions above the 99th percentile (the tail) and in the others; shares of what the tail "
        "takes longer",
        [Column("own time in", Kind.NAME), *map(Column, ("the others", "the tail", "of the excess [95%]"))],
        rows,
        grows=True,
        brief=_TAIL,
    )


# The profiling itself --------------------------------------------------------------------
def _overhead(built: Built) -> Iterator[Block]:
    overhead, budget = built.report.overhead, built.report.of.budget
    if overhead is None:
        yield Paragraph("It was not measured.", Tone.QUIET)
        return
    pairs = "1 pair" if overhead.windows == 1 else f"{overhead.windows} pairs"
    yield Facts("With 95% intervals", [
        ("transactions longer by", _measured(overhead.latency, overhead, budget)),
        ("throughput lower by", _measured(overhead.throughput, overhead, budget)),
        ("windows", f"{pairs}, with all probes and with the markers alone"),
        ("predicted", f"{percent(overhead.predicted)}: {significant(overhead.events)} events of "
         f"{time(overhead.pair_ns).text} a transaction"),
        ("markers", f"{percent(overhead.markers)}, predicted, in both kinds of window: not in the figures above"),
        ("budget", share(budget).text),
    ])  # fmt: skip
    yield _charts(built, "overhead")


def _measured(figure: Figure | None, overhead: Overhead, budget: float | None) -> str:
    if overhead.growth is not None:
        return f"not measurable: transactions took {overhead.growth:.1f} times as long at the end as at the beginning"
    if figure is None:
        return "not measured: too few windows"
    wide = budget is not None and figure.high - figure.low > budget and figure.low <= budget < figure.high
    return f"not measurable under this load {share(figure).cell().interval}" if wide else share(figure).text


def _rounds(report: ProfileReport) -> Iterator[Block]:
    if not report.rounds:
        yield Paragraph("No round is on record.", Tone.QUIET)
        return
    n = len(report.rounds)
    text = f"{n} round{'' if n == 1 else 's'} of refinement."
    if report.naive_rounds is not None:
        text += (
            " Level after level, with every function that is called, the same functions would have had probes after "
            f"{report.naive_rounds}."
        )
    yield Paragraph(f"{text} It ended: {report.ended.rstrip('.')}." if report.ended else text)
    rows: list[Row] = [
        [str(one.number), thousands(one.functions), _changed(one), one.reason, share(one.predicted).cell()]
        for one in report.rounds
    ]
    yield Table(
        "Functions with a probe on; predicted: share of a transaction's time that the probes take",
        [
            Column("round"),
            Column("functions"),
            Column("added", Kind.PROSE),
            Column("why", Kind.PROSE),
            Column("predicted"),
        ],
        rows,
    )


def _changed(one: Round) -> str:
    dropped = f"; no longer {_listed(one.dropped, _ADDED)}" if one.dropped else ""
    return _listed(one.added, _ADDED) + dropped


def _listed(names: Sequence[str], most: int) -> str:
    left = len(names) - most
    return ", ".join(middle(name, 40) for name in names[:most]) + (f" and {left} more" if left > 0 else "")


def _next(report: ProfileReport) -> list[Block]:
    command = report.next.command
    return [Paragraph(report.next.says), *([Code(command, copied=True)] if command else [])]


# Conditions ------------------------------------------------------------------------------
def _conditions(report: ProfileReport) -> Iterator[Block]:
    profile = report.of
    dbms = f"{dbms_name(profile.dbms)} {profile.dbms_version}".strip()
    yield Facts("Profile", [
        ("server", ", ".join(part for part in (dbms, profile.server) if part)),
        ("a transaction is", profile.transaction),
        ("preset", profile.preset),
        ("backend", f"{profile.backend}: {profile.says}"),
        ("call graph", f"height {report.call_graph_height}"),
        ("records", _records(report)),
        ("transactions a second", _rates(report)),
        ("state", profile.state),
    ])  # fmt: skip
    if report.machine:
        yield Facts(
            "Machine", [(name.replace("_", " "), fact(value, name)) for name, value in report.machine.items()]
        )
    if report.refused:
        rows: list[Row] = [[middle(name, _NAME), why] for name, why in report.refused.items()]
        columns = [Column("function", Kind.NAME), Column("why", Kind.PROSE)]
        table = Table("Their time is in that of their callers", columns, rows, grows=True)
        yield Detail(f"{counted(len(rows), 'function')} on which no probe could be put", [table])
    if report.left_out:
        yield Paragraph(f"Called too often for the budget: {_listed(report.left_out, _NAMED)}.")


def _records(report: ProfileReport) -> str:
    text = f"{thousands(report.records)} records, {thousands(report.lost)} lost"
    left = [f"{thousands(n)} {WHYS.get(why, why)}" for why, n in report.invalid.items()]
    return (
        f"{text}; transactions left out: {', '.join(left)}"
        if left
        else f"{text}; no transaction was left out"
    )


WHYS = {
    "lost": "with lost records",
    "changed": "in which probes were changed",
    "overlap": "whose intervals overlap",
    "unfinished": "not seen from beginning to end",
    "unnested": "whose entries and exits do not nest",
    "deep": "that nest too deep",
    "unwound": "left by an exception, a longjmp or the end of their thread at an unknown time",
}
"""Transactions that were left out, by the recording's word."""


def _rates(report: ProfileReport) -> str:
    rates = report.rates
    before, during, after = (
        NOTHING if rate is None else significant(rate) for rate in (rates.before, rates.during, rates.after)
    )
    return f"{before} before functions were watched, {during} while, {after} after"
