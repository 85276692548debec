"""Reasons for which a profile is not valid, and what its windows say of the budget."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from tare.protocol.profile.found import Estimate, Invalidity, Overhead

MOST_LEFT_OUT = 0.01
"""Share of the transactions, from which on those that are left may not stand for all."""

CUT = ("changed", "unfinished")
"""Transactions that our own windows cut, by the recording's word: nobody's fault."""


class Verdict(StrEnum):
    """Overhead, as the windows show it, against the budget."""

    MEASURED = "measured"  # its interval says something, and does not lie above the budget
    ABOVE = "above"  # with its whole interval
    TOO_WIDE = "too wide"  # an interval wider than the budget that lies on both sides of it
    TOO_FEW = "too few"  # windows, for any interval
    UNSTEADY = "unsteady"  # durations grew from window to window


def verdict(overhead: Overhead, budget: float | None) -> Verdict:
    """`budget`: None: there is none, and any interval will do."""
    if overhead.growth is not None:
        return Verdict.UNSTEADY
    figures = [one for one in (overhead.latency, overhead.throughput) if one is not None]
    if not figures:
        return Verdict.TOO_FEW
    if budget is None:
        return Verdict.MEASURED
    if any(one.low > budget for one in figures):
        return Verdict.ABOVE
    return Verdict.TOO_WIDE if any(says_nothing(one, budget) for one in figures) else Verdict.MEASURED


def says_nothing(figure: Estimate, budget: float) -> bool:
    """Whether an interval is wider than the budget and lies on both sides of it."""
    return figure.high - figure.low > budget and figure.low <= budget < figure.high


_OF_VERDICTS = {
    Verdict.ABOVE: Invalidity.OVER_BUDGET,
    Verdict.TOO_WIDE: Invalidity.NOT_MEASURABLE,
    Verdict.TOO_FEW: Invalidity.NOT_MEASURABLE,
    Verdict.UNSTEADY: Invalidity.NOT_STEADY,
}


def invalidities(
    transactions: int, invalid: Mapping[str, int], overhead: Overhead | None, budget: float | None
) -> tuple[Invalidity, ...]:
    """Reasons that the analysis sees, the gravest first. Without windows to compare there is no verdict, and so no
    reason: a profile of markers alone has none."""
    found = []
    if not transactions:
        found.append(Invalidity.NO_TRANSACTIONS)
    elif left_out_share(transactions, invalid) > MOST_LEFT_OUT:
        found.append(Invalidity.LEFT_OUT)
    if overhead is not None and overhead.events > 0 and (of := verdict(overhead, budget)) in _OF_VERDICTS:
        found.append(_OF_VERDICTS[of])
    return tuple(found)


def left_out_share(valid: int, invalid: Mapping[str, int]) -> float:
    """Share of the transactions that the windows did not cut."""
    spoilt = sum(count for why, count in invalid.items() if why not in CUT)
    return spoilt / (valid + spoilt) if spoilt else 0.0
