"""The story of A and B: the verdict in a sentence, then the numbers that carry it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tare.protocol import measures
from tare.report.comparison import TOTAL_CPU
from tare.report.gate_conditions import violated
from tare.report.kit.blocks import Block, Cell, Column, Facts, Kind, Paragraph, Section, Table, Tone
from tare.report.kit.figure import Figure
from tare.report.numbers import MINUS, bytes_text, decimals, percent
from tare.report.result import (
    ArmResult,
    BlockRatio,
    ComparisonResult,
    ConditionResult,
    GateResult,
    MeasureComparison,
    QueryResult,
    ShiftResult,
)
from tare.report.time import difference
from tare.report.words import NOTHING, dbms_name, joined

LABELS = {
    measures.WALL.name: "wall time",
    measures.CPU.name: "CPU time",
    TOTAL_CPU: "CPU time of all processes",
    measures.INSTRUCTIONS.name: "instructions",
}


def verdict(found: ComparisonResult) -> str:
    """Sentence about A and B, with the estimate and its interval."""
    chosen = found.measures[found.primary]
    label = LABELS[found.primary]
    if found.greater is not None:
        less = "A" if found.greater == "B" else "B"
        return f"{found.greater} costs more {label} than {less}: {_by(chosen)}"
    return f"no difference in {label} between A and B is established: {_by(chosen)}"


def gate_verdict(found: ComparisonResult, gate: GateResult) -> str:
    """Sentence on a gate, with the estimate, its interval and the noise floor."""
    label, limit = LABELS[found.primary], f"{gate.margin * 100:g}%"
    if gate.change is None or gate.floor is None:
        return (
            f"it is undecided whether B is slower than A by more than {limit}: too few blocks were measured"
        )
    change = f"B takes {_block_ratio(gate.change)} the {label} of A"
    match gate.verdict:
        case "slower":
            return f"B is slower than A by more than {limit}: {change}"
        case "not slower":
            return f"B is not slower than A by more than {limit}: {change}"
        case _:
            more = (
                f"some {gate.blocks_needed} blocks would decide"
                if gate.blocks_needed
                else "more will not help"
            )
            return f"it is undecided whether B is slower than A by more than {limit}: {change}; {more}"


def violations(found: ComparisonResult) -> str:
    """Sentence on the conditions of a gate that B violates; "" where there are none."""
    texts = [_violation(one) for one in violated(found)]
    return f"B fails the gate: it {joined(texts)}" if texts else ""


def _violation(one: ConditionResult) -> str:
    match one.condition:
        case "plan":
            return f"has another plan ({one.b}) than A ({one.a})"
        case "answer":
            return "gives another answer"
        case "bytes":
            assert isinstance(one.a, float)
            assert isinstance(one.b, float)
            assert one.limit is not None
            return f"reads {bytes_text(one.b)} from the disk, A {bytes_text(one.a)}, more by over {one.limit * 100:g}%"


def _condition_facts(gate: GateResult) -> Iterator[tuple[str, Cell | str]]:
    for one in gate.conditions:
        words = {True: "violated", False: "kept", None: "not known"}[one.is_violated]
        tones = {True: Tone.BAD, False: Tone.PLAIN, None: Tone.CAUTION}
        name = one.condition if one.limit is None else f"{one.condition}, {one.limit * 100:g}%"
        yield name, Cell(words, tone=tones[one.is_violated])


def gate_facts(found: ComparisonResult) -> list[tuple[str, Cell | str]]:
    """Blocks, noise floor and conditions; empty without a gate."""
    gate = found.gate
    if gate is None:
        return []
    kind = "restarts" if found.blocks == "restart" else "sessions"
    looks = "1 look" if gate.looks == 1 else f"{gate.looks} looks"
    facts: list[tuple[str, Cell | str]] = [
        ("blocks", f"{gate.blocks} {kind} of {gate.rounds} rounds (A, B and A again), {looks}")
    ]
    if gate.floor is not None:
        facts.append(("noise floor", f"A again takes {_block_ratio(gate.floor)} what A does"))
    facts += _condition_facts(gate)
    return facts


def _block_ratio(ratio: BlockRatio) -> str:
    places = max(2, decimals(ratio.ratio, (ratio.high - ratio.low) / 2))
    interval = f"{ratio.confidence * 100:.4g}% interval {ratio.low:.{places}f} to {ratio.high:.{places}f}"
    return f"{ratio.ratio:.{places}f}× ({interval})"


def arm_facts(arms: Sequence[ArmResult]) -> Iterator[tuple[str, Cell | str]]:
    """A and B: servers, and settings of their sessions."""
    for letter, arm in zip("AB", arms, strict=False):
        settings = ", ".join(f"{name} = {value}" for name, value in arm.settings.items())
        server = f"{dbms_name(arm.server.dbms)} {arm.server.version}, {arm.server.url}"
        yield f"arm {letter}", f"{server}; {settings}" if settings else server


def ratio_of(found: ComparisonResult) -> ShiftResult | None:
    """B over A: the gate's over blocks, else that of the runs."""
    if found.gate is None or found.gate.change is None:
        return found.measures[found.primary].ratio
    change = found.gate.change
    return ShiftResult(estimate=change.ratio, ci95=(change.low, change.high), ci99=None)


def brief(found: ComparisonResult) -> str:
    """The change and its interval, short."""
    if found.gate is not None and found.gate.change is not None:
        return _block_ratio(found.gate.change)
    ratio = ratio_of(found)
    return _times(ratio) if ratio else NOTHING


def section(found: ComparisonResult, a: QueryResult, b: QueryResult, arms: Sequence[ArmResult]) -> Section:
    named = list(arm_facts(arms)) if arms else [("A", found.a), ("B", found.b)]
    blocks: list[Block] = [
        Facts("", [*named, *gate_facts(found)]),
        Table(
            "With 95% intervals",
            [
                Column("", Kind.NAME),
                Column("change"),
                Column("B − A"),
                Column("p"),
                Column("δ"),
            ],
            [
                [
                    Cell(("→ " if name == found.primary else "\u00a0\u00a0") + LABELS[name]),
                    change(one.ratio),
                    _difference(one).cell(),
                    p_value(one.mann_whitney_p),
                    f"{one.cliffs_delta:+.2f}".replace("-", MINUS),
                ]
                for name, one in found.measures.items()
            ],
        ),
        *difference.blocks(found, a, b),
        Paragraph(_how(found), Tone.QUIET),
    ]
    return Section("comparison", "B against A", blocks)


_BLOCKS = {
    "session": "each pair in a fresh session",
    "restart": "each pair after a restart of the server",
    "run": "in one session",
    None: "in one session",
}


def order(found: ComparisonResult) -> str:
    if not found.interleaved:
        return "of two sessions, one after the other"
    return f"interleaved in random order, {_BLOCKS[found.blocks]}"


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


def change(ratio: ShiftResult | None) -> Cell:
    """The ratio as a change, with its interval: "+5.1% [+4.0%, +6.2%]"."""
    if ratio is None:
        return Cell(NOTHING)

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


def p_value(p: float) -> str:
    return "< 0.0001" if p < 0.0001 else f"{p:.2g}"


def _how(found: ComparisonResult) -> str:
    a, b = found.measures[found.primary].runs
    text = f"{a} + {b} runs, {order(found)}"
    if found.stop.rule:
        width = "unknown" if found.stop.half_width is None else f"±{percent(found.stop.half_width)}"
        ended = "reached" if found.stop.reached else "not reached"
        text += f"; asked to stop at {found.stop.rule}, {ended} ({width})"
    chosen = found.measures[found.primary]
    size = f"Effect (→): Cliff's δ {_effect(chosen.cliffs_delta)}, A12 {chosen.a12:.2f}"
    return f"{size}. {text}. p: Mann–Whitney. The verdict is drawn from the 99% interval."
