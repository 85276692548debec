"""A comparison of two profiles in words and rows."""

from __future__ import annotations

from collections.abc import Iterator

from tare.report.kit.names import Names
from tare.report.numbers import MINUS
from tare.report.profile import words
from tare.report.profile.comparison import Changed, Comparison, Side
from tare.report.profile.document import Figure
from tare.report.profile.tree import LEAST
from tare.report.words import joined

HEADINGS = (
    "function",
    "before",
    "after",
    "change",
    "95% interval",
    "own mean before",
    "after",
    "calls before",
    "after",
)
"""Of the table; shares are of the variance before."""

NOTE = "Own shares of the variance before; * the interval leaves out 0."
SUMMARY = ("", "before", "after", "change", "95% interval")

_NAMED = 3


def verdict(found: Comparison) -> list[str]:
    """What became of the variance, and by what."""
    ratio = found.variance_ratio
    if ratio is None:
        return ["Nothing can be said of the variance: there is no interval."]
    said = f"{words.with_interval(ratio)} of what it was"
    if ratio.low <= 1 <= ratio.high:
        return [f"No change of the variance is established: it is {said}."]
    first = f"The variance {'fell' if ratio.value < 1 else 'rose'} to {said}."
    of = [one for one in found.functions if one.established and one.change and abs(one.change.value) >= LEAST]
    same = [one for one in of if one.change and (one.change.value < 0) == (ratio.value < 1)][:_NAMED]
    if not same:
        return [first, "No function's part in that is established."]
    named = [f"{words.middle(one.name, 60)} {words.with_interval(one.change)}" for one in same]
    return [first, f"Of the variance before, by own shares: {joined(named)}."]


def summary_rows(found: Comparison) -> list[list[str]]:
    """In the order of SUMMARY."""
    a, b = found.before, found.after
    ratio = found.variance_ratio
    return [
        ["mean", words.ns(a.mean_ns), words.ns(b.mean_ns), *_ns(found.mean_change)],
        ["standard deviation", words.ns(a.sd_ns), words.ns(b.sd_ns), "", ""],
        [
            "variance",
            "100%",
            words.NOTHING if ratio is None else words.percent(ratio.value, 0),
            *(("", "") if ratio is None else (words.percent(ratio.value - 1, 0), _moved(ratio))),
        ],
        ["99th percentile", words.ns(a.p99_ns), words.ns(b.p99_ns), *_ns(found.p99_change)],
        ["transactions", words.thousands(a.transactions), words.thousands(b.transactions), "", ""],
    ]


def _moved(of: Figure) -> str:
    return words.interval(Figure(value=of.value - 1, low=of.low - 1, high=of.high - 1))


def _ns(of: Figure | None) -> tuple[str, str]:
    if of is None:
        return words.NOTHING, ""
    return signed(of.value), f"{signed(of.low)} to {signed(of.high)}"


def signed(ns: float) -> str:
    return f"{MINUS if ns < 0 else '+'}{words.ns(abs(ns))}"


def rows(found: Comparison, most: int, name: int) -> Iterator[list[str]]:
    """In the order of HEADINGS."""
    names = Names([one.name for one in found.functions])
    for one in found.functions[:most]:
        mark = " (inferred)" if one.inferred else ""
        yield [
            names.cut(one.name, name - len(mark)) + mark,
            *(_share(one, side, found) for side in (0, 1)),
            words.NOTHING
            if one.change is None
            else f"{words.share(one.change)}{' *' if one.established else ''}",
            words.interval(one.change),
            *(_if_watched(one, side, words.ns(one.own_mean_ns[side])) for side in (0, 1)),
            *(_if_watched(one, side, words.calls(one.calls[side])) for side in (0, 1)),
        ]


def shares(of: Changed, found: Comparison) -> tuple[float, float]:
    """Own shares before and after, of the variance before."""
    whole = found.before.variance_ns2 or 1.0
    return of.own_covariance[0] / whole, of.own_covariance[1] / whole


def _share(of: Changed, side: int, found: Comparison) -> str:
    return _if_watched(of, side, words.percent(shares(of, found)[side]))


def _if_watched(of: Changed, side: int, text: str) -> str:
    return text if of.watched[side] else "not watched"


def side(of: Side) -> str:
    where = f"{of.dbms} {of.dbms_version}".strip()
    return ", ".join(
        one for one in (of.run, where, of.backend, f"begun {of.started_at[:16].replace('T', ' ')}") if one
    )
