"""Results of a causal model, checked against the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """Level of a correlation (TTPv2 §5.3)."""

    HIGH = "high"  # r >= 0.7
    MEDIUM = "medium"  # 0.3 <= r < 0.7
    LOW = "low"  # r < 0.3


class Verdict(StrEnum):
    """Verdict on a predicted correlation, against the observed one."""

    EXACT = "exact"
    CLOSE = "close"  # one level off
    OFF = "off"  # two levels off, or significantly negative: every prediction is of a positive one
    NOT_SIGNIFICANT = "not significant"  # p >= 0.05
    NON_VARYING = "non-varying"  # one of the two measures is the same in every QE
    MISSING = "missing"  # one of the two was never measured


@dataclass(frozen=True, slots=True)
class Relationship:
    """A predicted correlation. Measures are columns of `tare.protocol.derived`."""

    group: str  # "I" … "XIV"
    letter: str  # "a" …
    cause: str
    effect: str
    predicted: Level
    source: str  # "TTPv2 Table IV (Ia)"
    cause_label: str  # the table's words: "query UTicks"
    effect_label: str
    published: float | None = None  # r in the paper's own data (TTPv2 Table VI)

    @property
    def name(self) -> str:
        return f"{self.group}{self.letter}"


@dataclass(frozen=True, slots=True)
class Observed:
    """A relationship over a DBMS's QEs, or over all of them (`dbms` is None)."""

    relationship: Relationship
    dbms: str | None
    n: int  # QEs in which both were measured
    r: float | None  # Pearson's, of min-max scaled measures
    p: float | None  # two-sided; 0.0 where it is below what a double can hold
    verdict: Verdict
    reason: str | None  # why there is no r, or what to know of it
    measures: tuple[str, ...] = ()  # those at fault where the verdict is non-varying or missing


@dataclass(frozen=True, slots=True)
class ModelResult:
    model: str  # "ttp2" or "ttp1"
    title: str
    citation: str
    qes: int
    dbmses: tuple[str, ...]
    observed: tuple[Observed, ...]  # every relationship, pooled first, then per DBMS
    retained_by: str | None = None  # the protocol that retained these QEs, by name; None: all that ended

    def pooled(self) -> tuple[Observed, ...]:
        return self.of(None)

    def of(self, dbms: str | None) -> tuple[Observed, ...]:
        """Return the correlations of one DBMS, or the pooled ones, in the order of the model's table."""
        return tuple(one for one in self.observed if one.dbms == dbms)


def by_group(observed: Sequence[Observed]) -> Mapping[str, Mapping[str, Observed]]:
    """Return a scope's correlations (`ModelResult.of`) by group, then letter, as TTPv2 Table VI has them: without
    letters that the table leaves empty."""
    rows: dict[str, dict[str, Observed]] = {}
    for one in observed:
        rows.setdefault(one.relationship.group, {})[one.relationship.letter] = one
    return rows


def letters(observed: Sequence[Observed]) -> Sequence[str]:
    """The table's columns."""
    return sorted({one.relationship.letter for one in observed})


def tally(observed: Sequence[Observed]) -> Mapping[Verdict, int]:
    """Every verdict, in the order of the enumeration, also where there were none."""
    return {verdict: sum(one.verdict is verdict for one in observed) for verdict in Verdict}
