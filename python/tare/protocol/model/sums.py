"""The sums behind each correlation, made in the engine: two passes, however many QEs there are.

The first pass finds each measure's count, least, greatest and mean, by DBMS; the second sums squares
and products of deviations from that mean, so that nothing cancels. Scaling to [0, 1] (TTPv2 §6) is
done on the sums. A pair counts the QEs in which both its measures are known.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import ibis.expr.types as ir

from tare.lab.answers import rows
from tare.protocol.model.correlation import Moments

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Spread:
    """A measure over a DBMS's QEs, as measured."""

    known: int  # QEs in which it was measured
    low: float
    high: float
    mean: float

    @property
    def varies(self) -> bool:
        return self.high > self.low


@dataclass(frozen=True, slots=True)
class Spreads:
    """The first pass, of one DBMS."""

    qes: int
    of: Mapping[str, Spread]  # by measure; one that was never measured is left out

    def vary(self, pair: Pair) -> bool:
        return all(name in self.of and self.of[name].varies for name in pair)


def spreads(table: ir.Table, measures: Sequence[str]) -> dict[str, Spreads]:
    """By DBMS."""
    wanted: dict[str, Any] = {"qes": table.count()}
    for name in measures:
        column = table[name].cast("float64")
        wanted |= {
            f"known_{name}": column.count(),
            f"low_{name}": column.min(),
            f"high_{name}": column.max(),
            f"mean_{name}": column.mean(),
        }
    found = rows(table.group_by("dbms").aggregate(**wanted))
    return {
        row["dbms"]: Spreads(
            row["qes"],
            {
                name: Spread(*(row[f"{of}_{name}"] for of in ("known", "low", "high", "mean")))
                for name in measures
                if row[f"known_{name}"]
            },
        )
        for row in sorted(found, key=lambda row: row["dbms"])
    }


def moments(
    table: ir.Table, found: Mapping[str, Spreads], pairs: Iterable[Pair]
) -> dict[str, dict[Pair, Moments]]:
    """By DBMS: those pairs of which both measures vary there, each measure scaled to [0, 1]."""
    able = {pair: [name for name in found if found[name].vary(pair)] for pair in pairs}
    asked = [pair for pair, names in able.items() if names]
    sums = _Sums(table, found)
    for pair in asked:
        sums.ask(*pair)
    answers = sums.answers() if asked else {}
    return {
        name: {pair: sums.moments(answers[name], found[name], *pair) for pair in asked if name in able[pair]}
        for name in found
    }


class _Sums:
    """The second pass: every sum once, also where pairs share it."""

    def __init__(self, table: ir.Table, found: Mapping[str, Spreads]) -> None:
        self._table = table
        self._found = found
        self._asked: dict[str, Any] = {}

    def ask(self, a: str, b: str) -> None:
        for one, other in ((a, b), (b, a)):
            value, given = self._deviation(one), self._given(one, other)
            if given:
                value = self._table[other].notnull().ifelse(value, None)
                self._asked[f"low_{given}"] = value.min()
                self._asked[f"high_{given}"] = value.max()
            self._asked[f"n_{given or one}"] = value.count()
            self._asked[f"sum_{given or one}"] = value.sum()
            self._asked[f"squares_{given or one}"] = (value * value).sum()
        self._asked[f"products_{a}_{b}"] = (self._deviation(a) * self._deviation(b)).sum()

    def answers(self) -> dict[str, dict[str, Any]]:
        found = rows(self._table.group_by("dbms").aggregate(**self._asked))
        return {row["dbms"]: row for row in found}

    def moments(self, answer: Mapping[str, Any], of: Spreads, a: str, b: str) -> Moments:
        n = answer[f"n_{self._given(a, b) or a}"]
        if not n:
            return Moments(0, 0.0, 0.0, 0.0, 0.0, 0.0)
        x, y = of.of[a], of.of[b]
        sum_x, xx = self._one(answer, a, b, n)
        sum_y, yy = self._one(answer, b, a, n)
        xy = answer[f"products_{a}_{b}"] - sum_x * sum_y / n
        wide_x, wide_y = x.high - x.low, y.high - y.low
        return Moments(
            n,
            (x.mean - x.low + sum_x / n) / wide_x,
            (y.mean - y.low + sum_y / n) / wide_y,
            xx / wide_x / wide_x,
            yy / wide_y / wide_y,
            xy / wide_x / wide_y,
        )

    def _one(self, answer: Mapping[str, Any], name: str, other: str, n: int) -> tuple[float, float]:
        """Sum of deviations from the DBMS's mean, sum of squares about the pair's own."""
        given = self._given(name, other)
        total: float = answer[f"sum_{given or name}"]
        if given and answer[f"low_{given}"] == answer[f"high_{given}"]:
            return total, 0.0
        return total, answer[f"squares_{given or name}"] - total * total / n

    def _deviation(self, name: str) -> Any:
        means = [(dbms, of.of[name].mean) for dbms, of in self._found.items() if name in of.of]
        return self._table[name].cast("float64") - self._table.dbms.cases(*means)

    def _given(self, name: str, other: str) -> str:
        """How a sum is called that takes in only the QEs in which `other` is known; "" if that is all."""
        complete = all(other in of.of and of.of[other].known == of.qes for of in self._found.values())
        return "" if complete else f"{name}_given_{other}"
