"""A profile made: look, count, then rounds of windows that take turns, each round chosen by what the last one found.

The time that was asked for holds all of it: counting, windows, and the analysis in between.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Protocol

from tare.errors import TareError, TooFewTransactions
from tare.profile import told
from tare.profile.costs import Price
from tare.profile.counting import BATCH, FEW, Counts
from tare.profile.recording import Recording, ServerEnded
from tare.profile.refine import Count, Step
from tare.profile.request import Asked
from tare.profile.transactions import Transactions
from tare.profile.windows import PROBED, turns
from tare.protocol.profile.found import Findings, Overhead
from tare.protocol.profile.overhead import own_ns
from tare.protocol.profile.refinement import Costs

FIRST_ROUND = 1
LOOKING = 0
"""The round number of windows before the first: looking for transactions, and counting."""


FEWEST = 50
"""Transactions of a round, from which the next one is chosen."""

OTHER_LOAD = 3.0
"""Times as many transactions a second, or as few, as when calls were counted: what was counted says nothing then."""

MOST_ANEW = 2
"""Times that refinement begins again: a load that swings is what there is."""


class NoTransactions(TareError):
    """None came while they were waited for."""


class OtherLoad(Exception):
    """It is not the one any more under which calls were counted."""

    def __init__(self, since: int) -> None:
        super().__init__(since)
        self.since = since  # a window


@dataclass(frozen=True, slots=True)
class Pace:
    """Of the transactions in some windows."""

    transactions: int  # that ended there; 0: none is whole
    seconds: float
    mean_ns: float
    cpus: int = 0  # that they share; 0: plenty

    @property
    def rate(self) -> float:
        return self.transactions / self.seconds if self.seconds > 0 else 0.0

    @property
    def own_ns(self) -> float:
        """What a budget is a share of."""
        return own_ns(self.mean_ns, self.rate, self.cpus)


class Reader(Protocol):
    """What has been recorded so far, put together and analysed."""

    def look(self) -> None:
        """Reads the recording anew."""

    def pace(self, since: int = 0) -> Pace:
        """Of windows with the markers alone, from this one on."""

    def transactions_in(self, window: int) -> int: ...

    def findings(self, round_: int) -> Findings: ...

    def overhead(self, round_: int, pairs: float, pair_ns: float) -> Overhead | None:
        """`pairs`: entries and exits in a transaction, of the functions that were watched."""


class Choose(Protocol):
    """The strategy of refinement (`tare.profile.refine.Refinement`)."""

    def first(self, count: Count) -> Step: ...
    def next(self, findings: Findings, watched: Sequence[int], count: Count) -> Step: ...
    def learn(self, findings: Findings) -> None:
        """Of every round, also the last."""

    def forget(self) -> None:
        """What was looked at: the load is another."""


@dataclass(frozen=True, slots=True)
class Round:
    """One that was made."""

    number: int
    reason: str
    watched: tuple[int, ...]
    added: tuple[int, ...]
    predicted: float  # share of the time that a transaction has (`Pace.own_ns`)
    seconds: float


@dataclass
class Made:
    """What a session leaves behind. `rounds` is empty if it ended before the first one had probed anything."""

    rounds: list[Round] = field(default_factory=list)
    calls: dict[int, float] = field(default_factory=dict)  # per transaction, of all that were counted
    left_out: list[int] = field(default_factory=list)  # too hot for the budget
    refused: dict[int, str] = field(default_factory=dict)
    price: Price | None = None
    own_ns: float = 0.0  # of a transaction without probes
    notes: list[str] = field(default_factory=list)
    stopped_by: KeyboardInterrupt | None = None
    ended: str = ""  # why there was no further round
    settled: bool = False  # because refinement had nothing more to divide
    findings: Findings | None = None  # of the last round that was analysed


class Session:
    """`batch`: of functions whose entries are counted at the same time."""

    def __init__(
        self,
        recording: Recording,
        transactions: Transactions,
        asked: Asked,
        reader: Reader,
        choose: Choose,
        tell: Callable[[told.Told], None],
        *,
        price: Price,
        name_of: Callable[[int], str],
        weight_of: Callable[[int], float] = lambda _: 1.0,
        batch: int = BATCH,
    ) -> None:
        self._recording = recording
        self._transactions = transactions
        self._asked = asked
        self._reader = reader
        self._choose = choose
        self._tell = tell
        self._price = price
        self._name_of = name_of
        self._weight_of = weight_of
        self._batch = batch
        self._counts = Counts()
        self._calls: dict[int, float] = {}
        self._draw = Random(asked.seed)
        self._own_ns = 0.0
        self._counted_at = Pace(0, 0.0, 0.0)
        self._anews = 0
        self._since = 0  # the window from which on the load is what it is
        self._begun = recording.clock()
        self.made = Made(price=price)

    def run(self, *, wait_s: float) -> Made:
        """`wait_s`: for the first transaction. Ctrl-C and the server's end leave what was made until then; the
        recorder is stopped in any case. Raises NoTransactions."""
        made = self.made
        try:
            self._settle(wait_s)
            self._begun = self._recording.clock()  # the time asked for is the load's, not its absence's
            self._rounds()
        except TooFewTransactions as few:
            made.notes.append(str(few))
            made.ended = few.what
        except ServerEnded as end:
            made.notes.append(f"{end.what} in mid-run: this is what was recorded until then")
            made.ended = "the server ended"
        except KeyboardInterrupt as interrupt:
            made.stopped_by = interrupt
            made.ended = "interrupted"
        finally:
            self._recording.recorder.stop()
        self._sum_up()
        return made

    def _sum_up(self) -> None:
        made = self.made
        made.calls, made.refused = self._calls, dict(self._recording.refused)
        made.price, made.own_ns = self._price, self._own_ns

    # Before the first round -----------------------------------------------------
    def _settle(self, wait_s: float) -> None:
        """Until transactions come, and then long enough to know how many and how long they are."""
        begun = self._recording.clock()
        while True:
            self._recording.mark(LOOKING)
            window = self._recording.last_window
            self._recording.last(self._asked.settling_s)
            self._look(LOOKING)
            pace = self._reader.pace(window)
            if pace.transactions:
                self._own_ns, self._since, self._counted_at = pace.own_ns, window, pace
                return
            waited = self._recording.clock() - begun
            if waited >= wait_s:
                raise NoTransactions(
                    f"no transaction ended in {waited:.0f} s ({self._transactions.says})",
                    "put a load on the server meanwhile, such as tare bench oltp run; "
                    "or tell transactions in another way: --txn function:NAME",
                )
            self._tell(told.Waiting(waited))

    def _count(self, functions: Sequence[int]) -> Costs:
        """With the calls of these functions counted."""
        if any(one not in self._counts for one in functions):
            round_ = self.made.rounds[-1].number if self.made.rounds else LOOKING
            seconds = self._asked.counting_s(first=not self.made.rounds)
            self._counts.take(self._recording, functions, seconds, round_, self._tell, self._batch)
            self._look(round_)
            self._counted_at = self._pace()
            self._calls = self._counts.per_transaction(self._reader.transactions_in, self._counted_at.rate)
        return self._costs()

    def _pace(self) -> Pace:
        return self._reader.pace(self._since)

    def _costs(self) -> Costs:
        return Costs(self._calls, self._price.pair_ns, self._own_ns, self._weight_of)

    # Rounds ----------------------------------------------------------------------
    def _rounds(self) -> None:
        step = self._choose.first(self._count)
        self._tell_counted(step)
        watched: tuple[int, ...] = ()
        last = FIRST_ROUND + self._asked.rounds - 1
        for number in range(FIRST_ROUND, last + 1):
            self._pass_over(step)
            added = tuple(one for one in step.watch if one not in watched)
            lasts = self._asked.round_s(self._left(), last - number + 1)
            self.made.rounds.append(Round(number, step.reason, step.watch, added, step.predicted, lasts))
            try:
                findings = self._round(number, step.watch, lasts, last=number == last)
            except OtherLoad as other:
                step, watched = self._anew(other.since), ()
                continue
            watched = tuple(one for one in step.watch if one not in self._recording.refused)
            step = self._next(findings, watched, rounds_left=last - number)
            if step.ends:
                break
        self.made.settled = step.settled
        self._pass_over(step)
        self.made.ended = step.reason
        if (left := self._left()) >= self._least_s():  # more of the same: its intervals become narrower
            self._windows(self.made.rounds[-1].number, watched, left, last=True)

    def _round(self, number: int, watch: Sequence[int], seconds: float, *, last: bool) -> Findings:
        """Its windows, and more of them while it holds too few transactions. Raises as `_windows` does."""
        while True:
            try:
                findings = self._windows(number, watch, seconds, last=last)
                if findings.transactions >= FEWEST or self._left() < self._least_s():
                    return findings
            except TooFewTransactions:
                if self._left() < self._least_s():
                    raise
            seconds = min(seconds, self._left())

    def _windows(self, number: int, watch: Sequence[int], seconds: float, *, last: bool) -> Findings:
        """Some of a round, and what the round has found with them. `last`: no other comes after it.

        Raises ServerEnded, TooFewTransactions, and OtherLoad where another round may come."""
        first = self._recording.last_window + 1
        order = turns(max(1.0, seconds), self._draw)
        for place, turn in enumerate(order, 1):
            self._tell(
                told.Window(number, place, len(order), turn.purpose, turn.seconds, len(watch), self._left())
            )
            if turn.purpose == PROBED:
                self._recording.probe(watch, number)
            else:
                self._recording.mark(number)
            self._recording.last(turn.seconds)
        self._look(number)
        if not last and self._is_another(self._reader.pace(first)):
            raise OtherLoad(first)
        findings = self._reader.findings(number)
        self.made.findings = findings
        self._choose.learn(findings)
        costs = self._costs()
        pairs = sum(costs.pairs(one) for one in watch if one not in self._recording.refused)
        overhead = self._reader.overhead(number, pairs, self._price.pair_ns)
        self._learn(overhead, pairs)
        self._sum_up()
        self._tell(told.RoundDone(number, self._pace().rate, findings, overhead))
        return findings

    def _is_another(self, now: Pace) -> bool:
        before = self._counted_at
        if (
            self._anews >= MOST_ANEW
            or not now.transactions
            or max(now.transactions, before.transactions) < FEW
        ):
            return False
        return not 1 / OTHER_LOAD < now.rate / before.rate < OTHER_LOAD

    def _anew(self, since: int) -> Step:
        """The first step again, with calls counted under the load of this window and those after it."""
        before, self._since = self._counted_at, since
        self._anews += 1
        self._counts, self.made.left_out = Counts(), []
        self._choose.forget()
        self._own_ns = self._pace().own_ns or self._own_ns
        step = self._choose.first(self._count)
        self.made.notes.append(
            f"the load became another one, of {self._counted_at.rate:.3g} transactions a second and not "
            f"{before.rate:.3g}: round {self.made.rounds[-1].number + 1} begins anew"
        )
        self._tell_counted(step)
        return step

    def _next(self, findings: Findings, watched: tuple[int, ...], *, rounds_left: int) -> Step:
        if rounds_left <= 0:
            return Step(watched, "the rounds that were asked for are made", ends=True)
        if self._left() < self._least_s():
            return Step(watched, "the time that was asked for is spent", ends=True)
        return self._choose.next(findings, watched, self._count)

    def _learn(self, overhead: Overhead | None, pairs: float) -> None:
        """What time transactions have without probes, and what a probe really costs here."""
        self._own_ns = self._pace().own_ns or self._own_ns
        if overhead is not None and overhead.latency is not None:
            latency = overhead.latency
            self._price = self._price.learnt(latency.low, latency.high, pairs, self._own_ns)

    def _pass_over(self, step: Step) -> None:
        """What was too hot may have found room since."""
        hot = dict.fromkeys((*self.made.left_out, *step.too_hot))
        watched = {one for round_ in self.made.rounds for one in round_.watched} | set(step.watch)
        self.made.left_out = [one for one in hot if one not in watched]

    def _look(self, round_: int) -> None:
        """What has been recorded so far. Meanwhile probes are off: our own CPU time would be in their windows."""
        self._recording.rest(round_)
        self._reader.look()

    def _left(self) -> float:
        return max(0.0, self._asked.duration_s - (self._recording.clock() - self._begun))

    def _least_s(self) -> float:
        """Less is too little for a round."""
        return max(2.0, 0.06 * self._asked.duration_s)

    def _tell_counted(self, step: Step) -> None:
        pace = self._pace()
        called = sum(calls > 0 for calls in self._calls.values())
        hot = tuple(self._name_of(one) for one in step.too_hot)
        self._tell(told.Counted(called, hot, pace.rate, pace.mean_ns))
