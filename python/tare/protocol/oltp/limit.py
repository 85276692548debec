"""The highest rate at which a figure of response times stays below a budget, by a bracketing search.

Each step at a rate gives a verdict: its interval lies below the budget, above it, or holds it. The bracket is read
from all steps at once and conservatively: its lower end is the highest rate with steps below the budget and none
above it at this or any lower rate; its upper end mirrors that. So steps that contradict each other, as when the tables
grow or the server falls into another regime, widen the bracket.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from tare.protocol.oltp.capacity import Capacity, Judged, judge
from tare.protocol.oltp.precision import Figures, pooled, precision
from tare.workload.oltp.distribution import MS, merge
from tare.workload.oltp.run import OltpRun

VOTES = 2
"""Steps that must agree at either end of the final bracket."""

MOST_STEPS = 3
"""Steps at one rate, at most."""

GROWTH = 2.0
"""Factor between rates until the budget is exceeded."""

WIDER = 1.25
"""Factor by which an end moves outwards that its steps leave undecided."""

MOST_RATES = 30
"""Rates that a search tries, at most."""


class Side(StrEnum):
    """Side of the limit on which a figure's interval lies."""

    BELOW = "below"
    ABOVE = "above"
    LEANS_BELOW = "leans below"  # the figure lies below; its interval holds the budget, or there is none
    LEANS_ABOVE = "leans above"
    UNDECIDED = "undecided"  # there is no figure

    @property
    def firm(self) -> Side:
        """The verdict without leanings."""
        return self if self in (Side.BELOW, Side.ABOVE) else Side.UNDECIDED

    @property
    def opposite(self) -> Side:
        """The other verdict; of one that is not firm: undecided."""
        return {Side.BELOW: Side.ABOVE, Side.ABOVE: Side.BELOW}.get(self, Side.UNDECIDED)


@dataclass(frozen=True, slots=True)
class Limit:
    """Budget for a figure of response time."""

    figure: str  # "mean", or a percentile: "p99"
    ms: float

    @property
    def share(self) -> float | None:
        """Share of the percentile; None: the mean."""
        return None if self.figure == "mean" else round(float(self.figure[1:]) / 100, 6)

    def side(self, run: OltpRun, judged: Judged | None = None) -> Side:
        """Side of the budget on which a run lies. A run over capacity lies above it, whatever its figure; one that
        failed decides nothing."""
        capacity = (judged or judge(run)).capacity
        if capacity is Capacity.FAILED:
            return Side.UNDECIDED
        if not capacity.is_result:
            return Side.ABOVE
        return self._side(*self.bounds(run), self.value(run))

    def _side(self, low: float | None, high: float | None, value: float | None) -> Side:
        if high is not None and high < self.ms:
            return Side.BELOW
        if low is not None and low > self.ms:
            return Side.ABOVE
        if value is None:
            return Side.UNDECIDED
        return Side.LEANS_BELOW if value < self.ms else Side.LEANS_ABOVE

    def votes(self, runs: Sequence[OltpRun]) -> list[Side]:
        """Verdicts of the steps at one rate. Steps that decide nothing by themselves take the verdict of all steps
        together, unless one of them lies on the other side."""
        judged = [judge(run) for run in runs]
        sides = [self.side(run, one) for run, one in zip(runs, judged, strict=True)]
        results = [run for run, one in zip(runs, judged, strict=True) if one.capacity.is_result]
        if len(results) < 2 or Side.UNDECIDED not in {side.firm for side in sides}:
            return sides
        response = merge(run.outcome.all.response for run in results)
        together = self._side(*self._bounds(Figures(response, pooled(results, "response"))), None)
        if together.firm is Side.UNDECIDED or together.opposite in sides:
            return sides
        return [
            together if side.firm is Side.UNDECIDED and one.capacity.is_result else side
            for side, one in zip(sides, judged, strict=True)
        ]

    def bounds(self, run: OltpRun) -> tuple[float | None, float | None]:
        """95% interval of the figure in ms; either end may be missing."""
        return self._bounds(Figures(run.outcome.all.response, precision(run, "response")))

    def _bounds(self, figures: Figures) -> tuple[float | None, float | None]:
        if self.share is not None:
            return figures.quantile_bounds(self.share)
        mean = figures.mean
        return (None, None) if mean is None else (mean.low, mean.high)

    def value(self, run: OltpRun) -> float | None:
        """The figure itself, ms."""
        response = run.outcome.all.response
        if self.share is None:
            return response.mean / MS if response.count else None
        found = response.quantile(self.share)
        return None if found is None else found / MS


class Ended(StrEnum):
    """How a search stands."""

    CLOSED = "closed"  # both ends are confirmed, and no rate between them can be decided
    NOT_REACHED = "not reached"  # the highest rate lies below the budget
    ALWAYS_ABOVE = "always above"  # the lowest rate lies above the budget
    UNDECIDED = "undecided"  # no more steps would help, and an end is missing or not confirmed
    UNFINISHED = "unfinished"  # more steps are needed


@dataclass(frozen=True, slots=True)
class Bracket:
    """Ends of the interval that holds the highest rate within the budget, as places in the candidate rates."""

    low: int | None  # None: no rate is known to lie below the budget
    high: int | None


Sides = Mapping[int, Sequence[Side]]
"""Verdicts of the steps so far, by the place of their rate among the candidates."""


def bracket(sides: Sides) -> Bracket:
    """Read the bracket from all steps."""
    above = [place for place, votes in sides.items() if Side.ABOVE in votes]
    below = [place for place, votes in sides.items() if Side.BELOW in votes]
    low = max((place for place in below if all(place < other for other in above)), default=None)
    high = min((place for place in above if all(place > other for other in below)), default=None)
    return Bracket(low, high)


def next_place(rates: Sequence[float], sides: Sides, start: int) -> int | None:
    """Place of the rate that the next step takes; None: no step is left that would help.

    Leanings guide the search: it grows from `start` by GROWTH until the budget is exceeded, then halves the bracket.
    Then it repeats the ends until each has VOTES, and moves an end outwards that stays undecided."""
    if not sides:
        return start
    guess = _guess(sides)
    if guess.high is None and max(sides) < len(rates) - 1:
        return _moved(rates, max(sides), GROWTH)
    if guess.low is None and min(sides) > 0:
        return _moved(rates, min(sides), 1 / GROWTH)
    low = -1 if guess.low is None else guess.low
    high = len(rates) if guess.high is None else guess.high
    between = [place for place in range(low + 1, high) if place not in sides]
    if between:
        return between[(len(between) - 1) // 2]
    found = bracket(sides)
    silent = [place for place in sides if low < place < high]  # steps that failed
    ends = [end for end in (guess.low, guess.high, found.low, found.high, *silent) if end is not None]
    open_ = [end for end in ends if not _is_confirmed(sides[end]) and _may_be_decided(sides[end])]
    if open_:
        return min(open_, key=lambda end: len(sides[end]))
    tested = len(sides)
    if tested < MOST_RATES and found.low is None and min(sides) > 0:
        return _moved(rates, min(sides), 1 / WIDER)
    if tested < MOST_RATES and found.high is None and max(sides) < len(rates) - 1:
        return _moved(rates, max(sides), WIDER)
    return None


def _guess(sides: Sides) -> Bracket:
    """The bracket by the majority of each rate's steps, leanings included: the highest rate below the budget with none
    above it at a lower one, and the next above."""
    leaning = {place: _leaning(votes) for place, votes in sides.items()}
    high = min((place for place, side in leaning.items() if side is Side.ABOVE), default=None)
    below = [
        place for place, side in leaning.items() if side is Side.BELOW and (high is None or place < high)
    ]
    return Bracket(max(below, default=None), high)


def _leaning(votes: Sequence[Side]) -> Side:
    above = sum(vote in (Side.ABOVE, Side.LEANS_ABOVE) for vote in votes)
    below = sum(vote in (Side.BELOW, Side.LEANS_BELOW) for vote in votes)
    if above == below == 0:
        return Side.UNDECIDED
    return Side.ABOVE if above >= below else Side.BELOW


def ended(rates: Sequence[float], sides: Sides, start: int) -> Ended:
    """How the search stands."""
    if next_place(rates, sides, start) is not None:
        return Ended.UNFINISHED
    found = bracket(sides)
    if found.low is not None and found.high is not None:
        confirmed = _is_confirmed(sides[found.low]) and _is_confirmed(sides[found.high])
        return Ended.CLOSED if confirmed else Ended.UNDECIDED
    if found.low == len(rates) - 1:
        return Ended.NOT_REACHED
    return Ended.ALWAYS_ABOVE if found.high == 0 else Ended.UNDECIDED


def _is_confirmed(votes: Sequence[Side]) -> bool:
    return max(votes.count(Side.BELOW), votes.count(Side.ABOVE)) >= VOTES


def _may_be_decided(votes: Sequence[Side]) -> bool:
    """Whether another step may decide a rate: not one whose steps contradict each other."""
    return len(votes) < MOST_STEPS and not {Side.BELOW, Side.ABOVE} <= set(votes)


def _moved(rates: Sequence[float], place: int, factor: float) -> int:
    """Place of the nearest rate that is `factor` times as high, at least the next one in its direction."""
    goal = factor * rates[place]
    if factor > 1:
        return next((at for at in range(place + 1, len(rates)) if rates[at] >= goal), len(rates) - 1)
    return next((at for at in range(place - 1, -1, -1) if rates[at] <= goal), 0)
