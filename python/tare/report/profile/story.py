"""The story of a profile: what explains the variance, the variance tree, factors, types, the tail, and the cost."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial

from tare.lab.profile_about import FailureKind, State
from tare.protocol.profile.validity import Verdict as Judgement
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
    Verdict,
    section_charts,
)
from tare.report.kit.names import Names
from tare.report.numbers import fixed
from tare.report.profile import flame, words
from tare.report.profile.branches import variance_tree
from tare.report.profile.build import Built
from tare.report.profile.conditions import conditions, unreturned, watching
from tare.report.profile.document import Factor, Figure, ProfileReport, Round
from tare.report.profile.names import factor_name, report_names
from tare.report.profile.overhead import overhead_facts
from tare.report.profile.tree import LEAST
from tare.report.words import fact

TOP = 10
"""Factors that a terminal lists, the paper's top k."""

EVERY = ("findings", "tree", "flame", "factors", "types", "tail", "overhead", "rounds", "next")
"""Parts that a terminal can show, in this order."""

PARTS = tuple(part for part in EVERY if part != "flame")
"""Parts that it shows if none is requested."""

SHARES = (
    "Variance: Var(inclusive) / Var(T), the paper's share; those of a function and of what it calls overlap. "
    "Own share: Cov(own time, T) / Var(T), which adds up to 100% over all functions. At each level equation 1 adds up: "
    "a path's variance is that of its body, of what it calls, and of what varies together."
)
SCORE = (
    "Score: specificity times the share of the variance (equations 2 and 3); specificity is the square of how much "
    "lower a function stands than the root of the call graph. A function on several paths stands where the scores of "
    "all of them together put it."
)
TAIL = "The tail: transactions above the 99th percentile; shares of what they take longer than the others."

_NAME = 80  # characters of a function or a type in a table
_MOST_FACTORS = 25  # of a file: the first, and the last fifth of them, since negative shares score lowest
_BRIEF_TYPES = 12  # types that a terminal shows
_BRIEF_TAIL = 5  # functions of the tail that a terminal shows
_MOST_ADDED = 8  # functions of a round by name
_MOST_DROPPED = 3
_MANY_PATHS = 40  # from more on, small paths are put together in at least one medium


def story(built: Built) -> Story:
    """Return the whole story, for files."""
    report = built.report
    return _story(built, [
        *_answer(report),
        *_next(report),
        _tree(built),
        _factors(report, _chosen(report)),
        _types(built),
        _tail(built),
        _overhead(built),
        _rounds(report),
        Section("conditions", "Conditions", list(_conditions(report))),
        Section("reproduce", "How to do it again", [Code("\n".join(report.commands))]),
    ])  # fmt: skip


def printed(built: Built, parts: Collection[str] = PARTS, top: int = TOP) -> Story:
    """Return the story for a terminal: these parts, and of factors the first `top`. The next step comes last."""
    report = built.report
    first = list(enumerate(report.factors[:top], 1))
    blocks: dict[str, Callable[[], Sequence[Block]]] = {
        "findings": lambda: list(_answer(report)),
        "tree": lambda: [_tree(built)],
        "flame": lambda: [_icicle(built)],
        "factors": lambda: [_factors(report, first)],
        "types": lambda: [_types(built)],
        "tail": lambda: [_tail(built)],
        "overhead": lambda: [_overhead(built)],
        "rounds": lambda: [_rounds(report)],
        "next": lambda: list(_next(report)),
    }
    return _story(built, [block for part in EVERY if part in parts for block in blocks[part]()])


def answer(built: Built) -> Story:
    """Return the story of the findings alone."""
    return _story(built, list(_answer(built.report)))


def _story(built: Built, blocks: Sequence[Block]) -> Story:
    report = built.report
    begun = report.started_at[:16].replace("T", " ")
    return Story(
        title=report.title,
        under=f"profile {report.run} · begun {begun} UTC · written {report.written_at[:10]} by Tare "
        f"{report.written_by}",
        written_by=report.written_by,
        blocks=blocks,
    )


# The answer ------------------------------------------------------------------------------
def _answer(report: ProfileReport) -> Iterator[Block]:
    first, *rest = report.headline
    yield Verdict(_verdict_title(report), first, _tone(report))
    for sentence in rest:
        yield Paragraph(sentence)
    if report.warnings:
        yield Items([Item(warning, "!", Tone.CAUTION) for warning in report.warnings])
    if report.notes:
        yield Items([Item(f"note: {note}", tone=Tone.QUIET) for note in report.notes])


def _verdict_title(report: ProfileReport) -> str:
    if report.failure is not None:
        return "The server hangs" if report.failure.kind == FailureKind.SERVER_HANGS else "The server ended"
    if not report.valid:
        return "Not valid"
    if report.enough is not None:
        return "Too few transactions"
    return "Valid" if _stands(report) else "Valid, with reservations"


def _tone(report: ProfileReport) -> Tone:
    if report.failure is not None or not report.valid:
        return Tone.BAD
    return Tone.GOOD if _stands(report) else Tone.CAUTION


def _stands(report: ProfileReport) -> bool:
    """Whether there is a finding, and nothing stands against it."""
    has_finding = bool(report.factors) and report.factors[0].share is not None
    is_measured = report.overhead is not None and report.overhead.verdict == Judgement.MEASURED
    load_goes_on = not (report.rates.before and report.rates.after == 0)
    return (
        report.valid
        and report.failure is None
        and report.enough is None
        and not report.warnings
        and report.of.state == State.COMPLETE
        and has_finding
        and is_measured
        and load_goes_on
    )


def _next(report: ProfileReport) -> Iterator[Block]:
    yield Paragraph(f"Next: {report.next.says}")
    if report.next.command:
        yield Code(report.next.command, whole=True)


# The tree --------------------------------------------------------------------------------
def _tree(built: Built) -> Section:
    report = built.report
    tree = variance_tree(report)
    if tree is None:
        blocks: list[Block] = [section_charts(built, "tree"), Paragraph("There is no path.", Tone.QUIET)]
        return Section("tree", "The variance tree", blocks, printed=False)
    notes = [SHARES, sums(report)]
    if len(report.nodes) > _MANY_PATHS:
        notes.append(
            f"Small paths are put together; the JSON report has all {words.thousands(len(report.nodes))}."
        )
    remarks = [remark for remark in (watching(report), unreturned(report)) if remark]
    return Section("tree", "The variance tree", [
        section_charts(built, "tree"),
        tree,
        Paragraph(" ".join(notes), Tone.QUIET),
        *(Paragraph(remark, Tone.QUIET) for remark in remarks),
    ])  # fmt: skip


def _icicle(built: Built) -> Section:
    """The tree as a terminal draws it in characters."""
    nodes = built.report.nodes
    if not flame.lines(nodes, 80):
        return Section("flame", "Icicle", [Paragraph("There is no variance to draw.")])
    drawn = Charts(list, lines=partial(flame.lines, nodes))
    return Section("flame", "Icicle", [drawn, Paragraph(flame.NOTE, Tone.QUIET)])


def sums(report: ProfileReport) -> str:
    """Return the residue of equation 1, and the sum of the own shares, as sentences."""
    equation = report.equation
    if equation.own_sum is None or equation.residue is None:
        return "There are no shares: the transactions are too few, or all alike."
    paths = "the one path" if equation.paths == 1 else f"all {words.thousands(equation.paths)} paths"
    return (
        f"Equation 1 holds at {paths} (largest relative residue {equation.residue:.1g}); own shares add up to "
        f"{words.percent(equation.own_sum, 1)}."
    )


# Factors ---------------------------------------------------------------------------------
def _chosen(report: ProfileReport) -> list[tuple[int, Factor]]:
    """Factors of a file with their ranks: the first ones, then those with a share to speak of."""
    ranked = [
        (rank, factor)
        for rank, factor in enumerate(report.factors, 1)
        if rank <= TOP or (factor.share is not None and abs(factor.share.value) >= LEAST)
    ]
    last = _MOST_FACTORS // 5
    return ranked if len(ranked) <= _MOST_FACTORS else [*ranked[: _MOST_FACTORS - last], *ranked[-last:]]


def _factors(report: ProfileReport, chosen: Sequence[tuple[int, Factor]]) -> Section:
    if not chosen:
        blocks: list[Block] = [Paragraph("There is no factor.", Tone.QUIET)]
        return Section("factors", "Factors", blocks, printed=False)
    left = len(report.factors) - len(chosen)
    more = f"{words.thousands(left)} more factors are in the JSON report." if left else ""
    return Section("factors", "Factors", [
        _factor_table(report, chosen),
        Paragraph(" ".join(part for part in (more, SCORE) if part), Tone.QUIET),
    ])  # fmt: skip


def _factor_table(report: ProfileReport, chosen: Sequence[tuple[int, Factor]]) -> Table:
    names = report_names(report)
    rows: list[Row] = []
    for rank, factor in chosen:
        mark = " (inferred)" if factor.inferred else ""
        rows.append([
            factor_name(factor, names, _NAME - len(mark)) + mark,
            str(rank),
            _share(factor.share, is_drawn=True),
            _share(factor.own_covariance),
            str(factor.height),
            words.thousands(round(factor.specificity)),
            words.NOTHING if factor.score is None else fixed(factor.score, 0),
            words.ns(factor.mean_ns),
            words.thousands(factor.instances),
        ])  # fmt: skip
    headings = ("rank", "variance", "own share", "height", "specificity", "score", "mean", "paths")
    return Table(
        "Functions, bodies and pairs of functions by score; in parentheses: 95% intervals",
        [Column("factor", Kind.NAME), *map(Column, headings)],
        rows,
    )


def _share(figure: Figure | None, *, is_drawn: bool = False) -> Cell:
    """`is_drawn`: a page draws it as a bar."""
    if figure is None:
        return Cell(words.NOTHING)
    shown = Cell(words.share(figure), interval=words.in_brackets(figure))
    if not is_drawn:
        return shown
    return replace(shown, share=figure.value, span=(figure.low, figure.high))


# Types and the tail ----------------------------------------------------------------------
def _types(built: Built) -> Section:
    rows: list[Row] = [
        [
            words.middle(kind.name, _NAME),
            words.thousands(kind.transactions),
            *map(words.ns, (kind.mean_ns, kind.sd_ns, kind.p50_ns, kind.p99_ns, kind.max_ns)),
            *map(words.ns, (kind.on_cpu_ns, kind.off_cpu_ns)),
        ]
        for kind in built.report.types
    ]
    headings = ("transactions", "mean", "sd", "p50", "p99", "longest", "on CPU", "off CPU")
    table = Table(
        "Valid transactions by type; times are means unless the heading names another statistic",
        [Column("type", Kind.NAME), *map(Column, headings)],
        rows,
        grows=True,
        brief=_BRIEF_TYPES,
    )
    blocks: list[Block] = [*([table] if rows else []), section_charts(built, "time")]
    return Section("time", "Time and types", blocks, printed=bool(rows))


def _tail(built: Built) -> Section:
    tail = built.report.tail
    names = Names(function.name for function in tail)
    rows: list[Row] = [
        [
            names.cut(function.name, _NAME),
            words.ns(function.mean_ns),
            words.ns(function.tail_ns),
            _share(function.excess),
        ]
        for function in tail
    ]
    headings = ("of the others", "in the tail", "of the excess")
    table = Table(
        "Own time of functions in transactions above the 99th percentile and in the others; in parentheses: 95% "
        "intervals",
        [Column("own time in", Kind.NAME), *map(Column, headings)],
        rows,
        grows=True,
        brief=_BRIEF_TAIL,
    )
    blocks: list[Block] = [section_charts(built, "tail")]
    if rows:
        blocks += [table, Paragraph(TAIL, Tone.QUIET)]
    return Section("tail", "The tail", blocks, printed=bool(rows))


# The profiling ---------------------------------------------------------------------------
def _overhead(built: Built) -> Section:
    facts = overhead_facts(built.report)
    blocks: list[Block] = (
        [Facts("Overhead, with 95% intervals", facts), section_charts(built, "overhead")]
        if facts
        else [Paragraph("It was not measured.", Tone.QUIET)]
    )
    return Section("overhead", "Overhead of the profiling", blocks, printed=bool(facts))


def _rounds(report: ProfileReport) -> Section:
    if not report.rounds:
        blocks: list[Block] = [Paragraph("No round is on record.", Tone.QUIET)]
        return Section("rounds", "Rounds of refinement", blocks, printed=False)
    rows: list[Row] = [
        [
            str(one.number),
            words.thousands(one.functions),
            _added(one),
            one.reason,
            words.percent(one.predicted),
        ]
        for one in report.rounds
    ]
    return Section("rounds", "Rounds of refinement", [
        Paragraph(_rounds_sentence(report)),
        *_strategies(report),
        Table(
            "Functions with a probe on, in each round; predicted: share of a transaction's time that the probes take",
            [
                Column("round"),
                Column("functions"),
                Column("added", Kind.PROSE),
                Column("why", Kind.PROSE),
                Column("predicted"),
            ],
            rows,
        ),
    ])  # fmt: skip


def _added(one: Round) -> str:
    """Functions that came under probes in the round, and those that no longer are."""
    added = [words.middle(name, 40) for name in one.added[:_MOST_ADDED]]
    more = len(one.added) - len(added)
    text = ", ".join(added) + (f" and {more} more" if more else "")
    if one.dropped:
        text += f"; no longer {', '.join(words.middle(name, 40) for name in one.dropped[:_MOST_DROPPED])}"
        more = len(one.dropped) - _MOST_DROPPED
        text += f" and {more} more" if more > 0 else ""
    return text


def _rounds_sentence(report: ProfileReport) -> str:
    n = len(report.rounds)
    text = f"{n} round{'' if n == 1 else 's'} of refinement."
    if report.naive_rounds is not None:
        text += (
            f" Level after level, with every function that is called, the same functions would have come under probes "
            f"after {report.naive_rounds}."
        )
    return f"{text} It ended: {report.ended.rstrip('.')}." if report.ended else text


def _strategies(report: ProfileReport) -> Iterator[Block]:
    if report.naive_rounds is None:
        return
    counts = (("refinement", len(report.rounds)), ("level after level", report.naive_rounds))
    most = max(1, *(n for _, n in counts))
    table = Table(
        "Rounds until these functions had probes",
        [Column("strategy", Kind.NAME), Column("rounds")],
        [[name, Cell(str(n), share=n / most)] for name, n in counts],
    )
    yield Detail("Rounds by strategy", [table], opened=True)


# Conditions ------------------------------------------------------------------------------
def _conditions(report: ProfileReport) -> Iterator[Block]:
    yield Facts("What was profiled, and how", conditions(report))
    if report.machine:
        machine = [(name.replace("_", " "), fact(value, name)) for name, value in report.machine.items()]
        yield Facts("Machine", machine)
    if report.refused:
        table = Table(
            "Functions on which no probe could be put; their time is in that of their callers",
            [Column("function", Kind.NAME), Column("why", Kind.PROSE)],
            [[words.middle(name, _NAME), why] for name, why in report.refused.items()],
            grows=True,
        )
        n = len(report.refused)
        yield Detail(f"{words.thousands(n)} function{'' if n == 1 else 's'} without a probe", [table])
    if report.left_out:
        items = Items([Item(words.middle(name, _NAME)) for name in report.left_out])
        yield Detail("Called too often for the budget, so without a probe", [items], opened=True)
    if not report.notes:
        yield Paragraph("Nothing out of the ordinary is on record.", Tone.QUIET)
