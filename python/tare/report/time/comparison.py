"""The story of A and B: the verdict in a sentence, then the numbers that carry it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tare.protocol import measures
from tare.report.comparison import TOTAL_CPU
from tare.report.comparison_models import (
    BlockRatio,
    ComparisonResult,
    ConditionResult,
    GateResult,
    MeasureComparison,
    SequentialResult,
    ShiftResult,
)
from tare.report.gate_conditions import violated
from tare.report.kit.blocks import Block, Cell, Column, Facts, Kind, Paragraph, Row, Section, Table, Tone
from tare.report.kit.figure import Figure
from tare.report.numbers import MINUS, bytes_text, decimals, ms_text, percent
from tare.report.result import ArmResult, RunResult
from tare.report.words import NOTHING, dbms_name, joined

LABELS = {
    measures.WALL.name: "wall time",
    measures.CPU.name: "CPU time",
    TOTAL_CPU: "CPU time of all processes",
    measures.INSTRUCTIONS.name: "instructions",
}


INDENT = "\u00a0\u00a0"

_DIFFERING = {
    "planning": "planning",
    "execution": "execution",
    "both": "planning and in execution",
    "opposite": "planning and in execution, in opposite directions",
}

ALL = 0.995  # of a difference: the rest is not worth a word, though it differs by itself
MOST = 0.95  # of a difference: where the rest does not differ by itself, this is all of it


def verdict(found: ComparisonResult) -> str:
    """Return a sentence on A and B, with the estimate and its interval."""
    chosen = found.measures[found.primary]
    label = LABELS[found.primary]
    if found.elsewhere is not None and found.elsewhere.overturns:
        return f"which of A and B costs more {label} cannot be told: by their known processes alone, {_by(chosen)}"
    by = _by(chosen) if found.sequential is None else _by_blocks(found.sequential)
    limit = "" if found.margin is None else f"{found.margin * 100:g}%"
    beyond = f" by more than {limit}" if limit else ""
    if found.greater is not None:
        less = "A" if found.greater == "B" else "B"
        return f"{found.greater} costs more {label} than {less}{beyond}: {by}"
    if found.verdict == "equivalent":
        return f"A and B are equivalent in {label} within {limit}: {by}"
    needed = _needed(found.blocks_needed, found.minutes_needed, found.sequential)
    if not limit:
        return f"no difference in {label} between A and B is established: {by}{needed}"
    return f"it is undecided whether A and B differ in {label}{beyond}: {by}{needed}"


def is_open(found: ComparisonResult) -> bool:
    """Whether a verdict was requested that the comparison does not give."""
    if found.gate is not None:
        return found.gate.verdict == "undecided"
    is_requested = found.margin is not None or found.sequential is not None
    return is_requested and found.verdict == "undecided"


def _needed(count: int | None, minutes: float | None, look: SequentialResult | None) -> str:
    """Return a clause on the blocks that would decide, or without a look on the runs of each; empty for runs of which
    no number within reach would."""
    if count is None and look is None:
        return ""
    what = "runs of each" if look is None else "blocks"
    some = f"no number of {what} within reach" if count is None else f"some {count} {what}"
    time = "" if minutes is None else f" ({_about(minutes)})"
    measured = "" if look is None else f", and {look.blocks} were measured"
    return f"; {some}{time} would decide{measured}"


def _about(minutes: float) -> str:
    """Return a time of which one digit or two are known."""
    if minutes < 1:
        return f"about {max(1, round(minutes * 60))} s"
    return f"about {minutes:.0f} min" if minutes < 90 else f"about {minutes / 60:.0f} h"


def gate_verdict(found: ComparisonResult, gate: GateResult) -> str:
    """Return a sentence on a gate, with the estimate and its interval."""
    label, limit = LABELS[found.primary], f"{gate.margin * 100:g}%"
    undecided = f"it is undecided whether B is slower than A by more than {limit}"
    if found.elsewhere is not None and found.elsewhere.overturns:
        known = f"by their known processes alone, {_by(found.measures[found.primary])}"
        return f"{undecided}: which of them costs more {label} cannot be told; {known}"
    if gate.change is None or gate.floor is None:
        return f"{undecided}: too few blocks were measured"
    change = f"B takes {_block_ratio(gate.change)} the {label} of A"
    if gate.verdict == "slower":
        return f"B is slower than A by more than {limit}: {change}"
    if gate.verdict == "not slower":
        return f"B is not slower than A by more than {limit}: {change}"
    return f"{undecided}: {change}{_needed(gate.blocks_needed, gate.minutes_needed, gate)}"


def violations(found: ComparisonResult) -> str | None:
    """Return a sentence on the conditions of a gate that B violates; None where there are none."""
    texts = [_violation(one) for one in violated(found)]
    return f"B fails the gate: it {joined(texts)}" if texts else None


def _violation(one: ConditionResult) -> str:
    if one.condition == "plan":
        return f"has another plan ({one.b}) than A ({one.a})"
    if one.condition == "answer":
        return "gives another answer"
    assert isinstance(one.a, float)
    assert isinstance(one.b, float)
    assert one.limit is not None
    return (
        f"reads {bytes_text(one.b)} from the disk, A {bytes_text(one.a)}, more by over {one.limit * 100:g}%"
    )


def floor(look: SequentialResult) -> str:
    """Return the noise floor in words."""
    if look.floor is None:
        return "noise floor unknown"
    return f"noise floor: A again takes {_block_ratio(look.floor)} what A does"


def blocks(found: ComparisonResult, look: SequentialResult) -> str:
    """Return the number of blocks, what they are, and how often they were looked at."""
    what = "restarts" if found.blocks == "restart" else "sessions"
    looks = "1 look" if look.looks == 1 else f"{look.looks} looks"
    return f"{look.blocks} {what} of {look.rounds} rounds (A, B and A again), {looks}"


def _block_ratio(ratio: BlockRatio) -> str:
    places = max(2, decimals(ratio.ratio, (ratio.high - ratio.low) / 2))
    interval = f"{ratio.confidence * 100:.4g}% interval {ratio.low:.{places}f} to {ratio.high:.{places}f}"
    return f"{ratio.ratio:.{places}f}× ({interval})"


def arm_facts(arms: Sequence[ArmResult]) -> Iterator[tuple[str, Cell | str]]:
    """Yield server and settings of A and of B."""
    for letter, arm in zip("AB", arms, strict=False):
        settings = ", ".join(f"{name} = {value}" for name, value in arm.settings.items())
        server = f"{dbms_name(arm.server.dbms)} {arm.server.version}, {arm.server.url}"
        yield f"arm {letter}", f"{server}; {settings}" if settings else server


def arm_names(arms: Sequence[ArmResult]) -> list[str]:
    """Return a short name of each arm: the setting that differs, else the server."""
    if any(arm.settings for arm in arms):
        each = [", ".join(f"{name} = {value}" for name, value in arm.settings.items()) for arm in arms]
        return [one or "as the server is" for one in each]
    return [f"{dbms_name(arm.server.dbms)} {arm.server.version}" for arm in arms]


def ratio_of(found: ComparisonResult) -> ShiftResult | None:
    """Return B over A: over blocks that were looked at, else that of the runs."""
    look = found.last_look
    if look is None or look.change is None:
        return found.measures[found.primary].ratio
    change = look.change
    return ShiftResult(estimate=change.ratio, ci95=(change.low, change.high), ci99=None)


def elsewhere(found: ComparisonResult) -> str | None:
    """Return a sentence on processes that may have worked for a query; None where they do not move the verdict."""
    others = found.elsewhere
    if others is None:
        return None
    a, b = map(ms_text, others.medians_ms)
    used = f"others ({', '.join(others.by)}), which may be theirs, used {a} beside A, {b} beside B"
    return f"{used}: with them, {_by(others.with_them)}"


def whereabouts(found: ComparisonResult) -> str | None:
    """Return a sentence on the part that the difference lies in; None where planning is not split from execution, or
    neither differs."""
    parts = found.parts
    if parts is None or (found.greater is None and (parts.where == "neither" or found.elsewhere)):
        return None
    planning, execution = (_difference(part) for part in (parts.planning, parts.execution))
    both = f"planning: B − A = {planning.text}; execution: B − A = {execution.text}"
    if found.greater is None:
        return f"one by one, they differ in {_DIFFERING[parts.where]} ({both})"
    share = parts.planning_share or 0.0
    larger, figures = ("planning", planning) if share >= 0.5 else ("execution", execution)
    most = max(share, 1 - share)
    if most >= ALL or (parts.where == larger and most >= MOST):
        return f"all of it is in {larger} (B − A = {figures.text})"
    if parts.where == "both" and most >= MOST:
        return f"all but {percent(1 - most)} of it is in {larger} ({both})"
    if parts.where == "both":
        return f"{percent(share)} of it is in planning, {percent(1 - share)} in execution ({both})"
    if parts.where == "opposite":
        return f"planning and execution differ in opposite directions ({both})"
    if parts.where == "neither":
        return f"neither planning nor execution differs by itself ({both})"
    return f"only {parts.where} differs by itself ({both})"


def section(found: ComparisonResult, result: RunResult) -> Section:
    facts = list(arm_facts(result.arms)) or [("A", found.a), ("B", found.b)]
    if found.last_look is not None:
        facts += _look_facts(found, found.last_look)
    if found.gate is not None:
        facts += _conditions(found.gate)
    return Section(
        "comparison", "B against A", [Facts("", facts), *table(found, result.clocked, order(found))]
    )


def order(found: ComparisonResult) -> str:
    """Return how many runs there were, and in which order."""
    a, b = found.measures[found.primary].runs
    each = {"session": ", each block in a fresh session", "restart": ", each block after a restart"}
    return f"{a} + {b} runs, interleaved in random order{each.get(found.blocks or '', '')}"


def _look_facts(found: ComparisonResult, look: SequentialResult) -> Iterator[tuple[str, Cell | str]]:
    yield "blocks", blocks(found, look)
    if look.floor is not None:
        yield "noise floor", f"A again takes {_block_ratio(look.floor)} what A does"


def _conditions(gate: GateResult) -> Iterator[tuple[str, Cell | str]]:
    for one in gate.conditions:
        word = {True: "violated", False: "kept", None: "not known"}[one.is_violated]
        tone = {True: Tone.BAD, False: Tone.PLAIN, None: Tone.CAUTION}[one.is_violated]
        name = one.condition if one.limit is None else f"{one.condition}, {one.limit * 100:g}%"
        yield name, Cell(word, tone=tone)


def table(found: ComparisonResult, clocked: str, how: str) -> list[Block]:
    """Return every measure of A and B, and below it how the runs were made."""
    columns = [Column("", Kind.NAME), Column("change"), Column("B − A"), Column("p"), Column("δ")]
    return [
        Table("With 95% intervals", columns, list(_rows(found))),
        Paragraph(f"{_how(found, how)}{_enclosed(found, clocked)}", Tone.QUIET),
    ]


def _enclosed(found: ComparisonResult, clocked: str) -> str:
    """Return a sentence on what the clocks enclose, where no part of the difference is named."""
    if clocked == "execution":
        return " Only executions are clocked, planning is not."
    return "" if found.parts else " The total includes planning, which is not split from it."


def _rows(found: ComparisonResult) -> Iterator[Row]:
    for name, one in found.measures.items():
        is_primary = name == found.primary
        yield _row(("→ " if is_primary else INDENT) + LABELS[name], one)
        if is_primary and found.parts is not None:
            yield _row(f"{INDENT}{INDENT}in planning", found.parts.planning)
            yield _row(f"{INDENT}{INDENT}in execution", found.parts.execution)


def _row(label: str, one: MeasureComparison) -> Row:
    return [
        Cell(label),
        change(one.ratio) if one.ratio else NOTHING,
        _difference(one).cell(),
        p_value(one.mann_whitney_p),
        signed(one.cliffs_delta),
    ]


def _by_blocks(look: SequentialResult) -> str:
    if look.change is None:
        return "too few blocks were measured"
    return f"B takes {_block_ratio(look.change)} what A does"


def _by(chosen: MeasureComparison) -> str:
    if chosen.ratio is not None:
        text = f"B takes {_times(chosen.ratio)} what A does"
    else:
        text = f"B − A = {_difference(chosen).text}"
    return text if chosen.difference.ci95 else f"{text}; too few runs for an interval"


def _times(ratio: ShiftResult) -> str:
    if ratio.ci95 is None:
        return f"{ratio.estimate:.3g}×"
    low, high = ratio.ci95
    places = max(2, decimals(ratio.estimate, (high - low) / 2))
    return f"{ratio.estimate:.{places}f}× (95% interval {low:.{places}f} to {high:.{places}f})"


def change(ratio: ShiftResult) -> Cell:
    """The ratio as a change, with its interval: "+5.1% [+4.0%, +6.2%]"."""

    def signed(value: float) -> str:
        return f"{(value - 1) * 100:+.{places}f}%".replace("-", MINUS)

    width = (ratio.ci95[1] - ratio.ci95[0]) / 2 * 100 if ratio.ci95 else None
    places = min(2, decimals((ratio.estimate - 1) * 100, width))
    interval = f"[{signed(ratio.ci95[0])}, {signed(ratio.ci95[1])}]" if ratio.ci95 else ""
    return Cell(signed(ratio.estimate), interval=interval)


def _difference(one: MeasureComparison) -> Figure:
    low, high = one.difference.ci95 or (None, None)
    return Figure(one.difference.estimate, low, high, unit=one.unit)


def _effect(delta: float) -> str:
    """Cliff's delta with the customary words for its size (Romano et al. 2006)."""
    size = abs(delta)
    word = "negligible" if size < 0.147 else "small" if size < 0.33 else "medium" if size < 0.474 else "large"
    return f"{delta:+.2f} ({word})".replace("-", MINUS)


def signed(delta: float) -> str:
    return f"{delta:+.2f}".replace("-", MINUS)


def p_value(p: float) -> str:
    return "< 0.0001" if p < 0.0001 else f"{p:.2g}"


def _how(found: ComparisonResult, text: str) -> str:
    if found.stop.rule:
        width = "unknown" if found.stop.half_width is None else f"±{percent(found.stop.half_width)}"
        ended = "reached" if found.stop.reached else "not reached"
        text += f"; asked to stop at {found.stop.rule}, {ended} ({width})"
    chosen = found.measures[found.primary]
    size = f"Effect (→): Cliff's δ {_effect(chosen.cliffs_delta)}, A12 {chosen.a12:.2f}"
    return f"{size}. {text}. p: Mann–Whitney. The verdict is drawn from the {_deciding(found)}."


def _deciding(found: ComparisonResult) -> str:
    interval = "99% interval" if found.last_look is None else "interval over blocks"
    return interval if found.margin is None else f"{interval} and the margin of {found.margin * 100:g}%"
