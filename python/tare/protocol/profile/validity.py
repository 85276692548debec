"""Reasons for which a profile is not valid, and what its windows say of the budget."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from tare.protocol.profile.found import Estimate, Invalidity, Overhead
from tare.protocol.profile.paired import SIGNED_RANKS

MOST_LEFT_OUT = 0.01
"""Share of the transactions, from which on those that are left may not stand for all."""

CUT = ("changed", "unfinished")
"""Transactions that our own windows cut, by the recording's word: nobody's fault."""


class Verdict(StrEnum):
    """Overhead, as the windows show it, against the budget."""

    MEASURED = "measured"  # its interval says something, and does not lie above the budget
    ABOVE = "above"  # with its whole interval
    TOO_WIDE = "too wide"  # an interval wider than the budget that lies on both sides of it
    TOO_FEW = "too few"  # pairs of windows, for any interval or for one that says something
    UNSTEADY = "unsteady"  # durations grew from window to window


def verdict(overhead: Overhead, budget: float | None) -> Verdict:
    """`budget`: None: there is none, and any interval will do."""
    if overhead.growth is not None:
        return Verdict.UNSTEADY
    if overhead.latency is None and overhead.throughput is None:
        return Verdict.TOO_FEW
    if budget is None:
        return Verdict.MEASURED
    figures = judged(overhead, budget)
    if any(one.is_above for one in figures):
        return Verdict.ABOVE
    if not any(one.says_nothing for one in figures):
        return Verdict.MEASURED
    return Verdict.TOO_FEW if overhead.windows < SIGNED_RANKS else Verdict.TOO_WIDE


@dataclass(frozen=True, slots=True)
class Judged:
    """A measured overhead and what is allowed of it."""

    what: str
    figure: Estimate
    allowed: float

    @property
    def is_above(self) -> bool:
        """Whether the whole interval lies above."""
        return self.figure.low > self.allowed

    @property
    def says_nothing(self) -> bool:
        """Whether the interval is wider than what is allowed and lies on both sides of it."""
        return (
            self.figure.high - self.figure.low > self.allowed
            and self.figure.low <= self.allowed < self.figure.high
        )


def judged(overhead: Overhead, budget: float) -> list[Judged]:
    """Figures that were measured, each with its limit. The budget is for the whole profile; in profiles whose windows
    do not show the loss over all of it (`Overhead.loss`), it is for the time while all probes are on."""
    loss = overhead.loss
    if loss is None:
        found = [
            ("longer transactions", overhead.latency, budget),
            ("throughput", overhead.throughput, budget),
        ]
    else:
        on = "while all probes were on"
        found = [
            ("throughput over the whole profile", loss.average, budget),
            (f"throughput {on}", loss.on, loss.allowed_on),
            (
                "longer transactions over the whole profile",
                _part(overhead.latency, loss.probed_share),
                budget,
            ),
            (f"longer transactions {on}", overhead.latency, loss.allowed_on),
        ]
    return [Judged(what, figure, allowed) for what, figure, allowed in found if figure is not None]


def _part(figure: Estimate | None, share: float) -> Estimate | None:
    return None if figure is None else Estimate(figure.value * share, figure.low * share, figure.high * share)


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
