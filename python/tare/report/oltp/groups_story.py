"""The story of groups of runs: what stands against comparing them first, then the ratios of each pair."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tare.report.kit.blocks import (
    Block,
    Cell,
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
)
from tare.report.kit.figure import Figure
from tare.report.numbers import Scale
from tare.report.oltp import words
from tare.report.oltp.comparison_story import FIGURES
from tare.report.oltp.groups import GroupComparison, GroupRatio, GroupSide, mean
from tare.report.words import NOTHING, counted, dbms_name, joined

_ALL = {"rate": "rate", **FIGURES}


def story(found: GroupComparison) -> Story:
    return Story(
        title=found.title,
        under=f"Written {found.written_at[:10]} by Tare {found.written_by} from {found.lab}.",
        written_by=found.written_by,
        blocks=list(_blocks(found)),
    )


def _blocks(found: GroupComparison) -> Iterator[Block]:
    pairs = list(dict.fromkeys(one.groups for one in found.ratios))
    sentences = [verdict(found, pair) for pair in pairs]
    if found.objections:
        yield Verdict("", "These groups cannot be compared as they stand:", Tone.BAD, found.objections)
        yield Items([Item(text) for text in sentences])
    else:
        has_ratio = any(one.ratio is not None for one in found.ratios)
        yield Verdict("", sentences[0], Tone.GOOD if has_ratio else Tone.CAUTION, sentences[1:])
    yield Facts("", [(group.label, _side(group)) for group in found.groups])
    if found.notes:
        yield Items([Item(f"Note: {note}.") for note in found.notes])
    yield Section("differences", "Settings that differ", [_differences(found)])
    for pair in pairs:
        ratios = [one for one in found.ratios if one.groups == pair]
        a, b = pair
        yield Section(f"ratios-{a}-{b}".lower(), f"{a} over {b}", [
            _ratios(ratios, pair),
            Items([Item(text, sign) for sign, text in _lacking(ratios)]),
            Detail("Figures of each run", [_figures(ratios, pair)]),
        ])  # fmt: skip
    yield Section("method", "How it was computed", [Paragraph(found.method, Tone.QUIET)])


def verdict(found: GroupComparison, pair: tuple[str, str]) -> str:
    """Verdict on rate and response times, all types together."""
    of_all = {
        one.figure: one
        for one in found.ratios
        if one.groups == pair and one.type == "all" and one.times in ("response", "")
    }
    a, b = pair
    lead = f"{a} over {b}, response time of all types: "
    known = {name: one for name, one in of_all.items() if one.ratio is not None}
    if not known:
        return lead + f"nothing can be concluded; {next(iter(of_all.values())).why}."
    told = [
        _told(label, known[name], pair)
        for name, label in FIGURES.items()
        if name in known and known[name].established
    ]
    rate = known.get("rate")
    if rate is not None and rate.established:
        told.append(_told("rate", rate, pair))
    if not told:
        return lead + "no difference is established over runs."
    return lead + f"{joined(told)} (95% intervals over runs that leave out 1)."


def _told(label: str, one: GroupRatio, pair: tuple[str, str]) -> str:
    assert one.ratio is not None
    is_lower_in_second = one.ratio.value > 1
    factor = one.ratio.value if is_lower_in_second else 1 / one.ratio.value
    return f"{label} {factor:.3g} times lower in {pair[1] if is_lower_in_second else pair[0]}"


def _side(group: GroupSide) -> str:
    due = f"{words.rate(group.intended_rate)} due, " if group.intended_rate is not None else "closed loop, "
    return (
        f"{counted(len(group.runs), 'run')} ({', '.join(f'o{run}' for run in group.runs)}): {group.workload}, scale "
        f"{group.scale:g}, {dbms_name(group.dbms)} {group.version}, {due}{words.rate(group.rate)} sustained"
    )


def _differences(found: GroupComparison) -> Table:
    return Table(
        "Settings that are not alike in all groups",
        [Column("setting", Kind.NAME), *(Column(group.label, Kind.NAME) for group in found.groups)],
        [[name, *values] for name, values in found.differences.items()],
    )


def _ratios(ratios: Sequence[GroupRatio], pair: tuple[str, str]) -> Table:
    by_key: dict[tuple[str, str, str], GroupRatio] = {
        (one.type, one.times, one.figure): one for one in ratios
    }
    rows: list[Row] = [
        [
            "all types" if kind == "all" else kind,
            times or "rate",
            *(
                _ratio(by_key.get((kind, times, figure)) if times else by_key[kind, times, "rate"])
                if times or figure == "mean"
                else Cell("")
                for figure in FIGURES
            ),
        ]
        for kind, times in dict.fromkeys((one.type, one.times) for one in ratios)
    ]
    return Table(
        f"Ratios of {pair[0]} over {pair[1]} with 95% intervals over runs; above 1, {pair[1]} is the smaller",
        [Column(" / ".join(pair), Kind.NAME), Column("time", Kind.NAME), *map(Column, FIGURES.values())],
        rows,
        grouped=True,
    )


def _ratio(one: GroupRatio | None) -> Cell:
    """Nothing without its interval."""
    if one is None or one.ratio is None:
        return Cell(NOTHING)
    shown = Figure(one.ratio.value, one.ratio.low, one.ratio.high, digits=4).cell(Scale("", 1.0))
    return Cell(shown.value, interval=shown.interval, note="*" if one.established else "")


def _lacking(ratios: Sequence[GroupRatio]) -> Iterator[tuple[str, str]]:
    yield "*", "the interval leaves out 1."
    reasons = dict.fromkeys(one.why for one in ratios if one.why)
    if reasons:
        yield NOTHING, f"no interval can be given: {'; '.join(reasons)}."


def _figures(ratios: Sequence[GroupRatio], pair: tuple[str, str]) -> Table:
    def shown(values: Sequence[float]) -> str:
        middle = mean(values)
        each = ", ".join(f"{value:.4g}" for value in values)
        return each if middle is None or len(values) == 1 else f"{middle:.4g} ({each})"

    rows: list[Row] = [
        [
            "all types" if one.type == "all" else one.type,
            one.times or "all",
            _ALL[one.figure] + {"variance": " (ms²)", "rate": " (1/s)"}.get(one.figure, ""),
            shown(one.a),
            shown(one.b),
        ]
        for one in ratios
    ]
    return Table(
        "Geometric mean over runs, and each run's figure between parentheses; ms where nothing else is stated",
        [
            *(Column(name, Kind.NAME) for name in ("type", "time", "figure")),
            *(Column(label, Kind.NAME) for label in pair),
        ],
        rows,
    )
