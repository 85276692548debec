"""Models of a comparison in the result document: shifts, verdicts, gates and looks at blocks."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from tare.report.document import Bounds, Document

Verdict = Annotated[
    Literal["different", "equivalent", "undecided"],
    BeforeValidator(lambda given: "undecided" if given == "not distinguished" else given),
]
"""Verdict of a comparison. Older results have "not distinguished" for undecided."""


class ShiftResult(Document):
    estimate: float
    ci95: Bounds | None
    ci99: Bounds | None = Field(description="The verdict is drawn from this one.")


class MeasureComparison(Document):
    """B against A. Above zero, and above one, B is the greater."""

    runs: tuple[int, int]
    medians: tuple[float, float]
    difference: ShiftResult
    ratio: ShiftResult | None
    ratio_reason: str | None
    mann_whitney_p: float
    a12: float = Field(description="Probability that a run of B is greater than one of A.")
    cliffs_delta: float
    verdict: Verdict
    greater: Literal["A", "B"] | None
    unit: str


class PartsResult(Document):
    """The difference in the primary measure, split into planning and execution."""

    planning: MeasureComparison
    execution: MeasureComparison = Field(description="The total of each run less its planning.")
    where: Literal["planning", "execution", "both", "opposite", "neither"] = Field(
        description="The parts that differ, each by its own 99% interval; opposite: one grows, the other shrinks."
    )
    planning_share: float | None = Field(
        description="Planning's share of the sum of both differences, by size; null where neither part moves."
    )


class ElsewhereResult(Document):
    """CPU time of processes that may have worked for a query, where it moves a verdict on CPU time."""

    medians_ms: tuple[float, float] = Field(
        description="Median CPU time of these processes, the server's own (such as I/O workers) among them, during an "
        "execution of A, and of B."
    )
    by: list[str] = Field(description="Names of the processes, those that used most first.")
    with_them: MeasureComparison = Field(
        description="CPU time of all processes, with what the others used beyond the pace that they keep beside the "
        "query that costs more."
    )
    overturns: bool = Field(description="With them the verdict is another, so none is given.")


class StopResult(Document):
    rule: str | None = Field(description='Rule as requested, e.g. "ci=2%"; null for a fixed number of runs.')
    reached: bool | None
    half_width: float | None = Field(
        description="Half-width of the ratio's 95% interval, relative to the ratio."
    )


class BlockRatio(Document):
    ratio: float = Field(description="Geometric mean over blocks.")
    low: float
    high: float
    confidence: float = Field(
        description="Confidence of the interval from low to high; larger with each look."
    )
    spread: float = Field(description="Standard deviation of the blocks' log ratios.")


class ConditionResult(Document):
    """Condition of a gate besides its time."""

    condition: Literal["bytes", "plan", "answer"]
    limit: float | None = Field(description="Growth that violates it: 0.1 for 10%. Null: any change does.")
    is_violated: bool | None = Field(
        description="Bytes: B's 95% interval lies beyond A's by more than the limit. Null: not known."
    )
    a: str | float | None = Field(description="Plan's fingerprint, or median bytes read from the disk, of A.")
    b: str | float | None


class SequentialResult(Document):
    """Last look at a comparison over blocks, while these were measured. The intervals hold for all looks together."""

    blocks: int
    rounds: int = Field(description="Rounds of a block; each runs A, B and A again.")
    looks: int = Field(description="Looks so far, at each of which the comparison could have ended.")
    change: BlockRatio | None = Field(description="B over A, in the measure of the verdict.")
    floor: BlockRatio | None = Field(description="A again over A: the noise floor of this machine now.")


class GateResult(SequentialResult):
    """Verdict on a slowdown, over blocks that each have a session of their own."""

    margin: float = Field(description="Slowdown that fails the gate: 0.05 for 5%.")
    verdict: Literal["slower", "not slower", "undecided"]
    blocks_needed: int | None = Field(description="Blocks that would decide. Null: decided, or out of reach.")
    minutes_needed: float | None = Field(
        default=None, description="Time that `blocks_needed` take at this run's pace."
    )
    conditions: list[ConditionResult] = Field(
        default=[], description="A gate fails if its verdict is slower, or if one of these is violated."
    )


class ComparisonResult(Document):
    a: str
    b: str
    primary: str = Field(description="The measure that the verdict is about.")
    verdict: Verdict = Field(
        description="different: the interval lies beyond the margin; equivalent: within it, and a margin was given; "
        "undecided: neither. With `sequential` the interval is that of its `change`, and the noise floor counts, too."
    )
    greater: Literal["A", "B"] | None = Field(description="Null unless they are different.")
    margin: float | None = Field(
        default=None, description="Change, either way, that does not matter: 0.05 for 5%. Null: any matters."
    )
    blocks_needed: int | None = Field(
        default=None,
        description="Blocks that would decide, in all, at the ratio and spread seen. Null: decided, out of reach, not "
        "interleaved, or the verdict is the gate's.",
    )
    minutes_needed: float | None = Field(
        default=None, description="Time that `blocks_needed` take at this run's pace."
    )
    answers_agree: bool | None = Field(description="Both queries gave the same rows.")
    measures: dict[str, MeasureComparison]
    parts: PartsResult | None = Field(
        default=None, description="Null where planning is not clocked, or is inside execution."
    )
    elsewhere: ElsewhereResult | None = Field(
        default=None,
        description="Null where the verdict is not about CPU time, or nothing was left out that moves it.",
    )
    stop: StopResult
    blocks: Literal["restart", "session", "run"] | None = Field(
        default=None,
        description="Kind of block that each run of A shares with one of B: a server restarted for them, a fresh "
        "session, or only the run. Null: two results that were measured apart, and older results, whose runs shared "
        "one session.",
    )
    sequential: SequentialResult | None = Field(default=None, description="Null without --until decided.")
    gate: GateResult | None = Field(default=None, description="Null without --fail-if.")
    p_holm: float | None = Field(
        default=None,
        description="Mann-Whitney's p in the primary measure after Holm's correction over a set's queries; the "
        "verdict then needs it below 0.05, too. With a margin: of the test against it. Null: one query.",
    )

    @property
    def last_look(self) -> SequentialResult | None:
        """Last look at the blocks of a gate, or of a comparison that ran until decided."""
        return self.gate or self.sequential
