"""A profiling session: look, count, then rounds of windows that take turns, each round chosen by the one before.

The requested time holds all of it: counting, windows, and the analysis in between. A round ends early where putting
probes on and off takes long.

The budget is kept: after each pair of windows, from a round's second on, the overhead so far is looked at while probes
are off. Where its whole interval is above the budget (`tare.protocol.profile.overhead.excess`), the dearest functions
are let go until the rest fits: what is predicted of it, times the ratio of measured to predicted overhead. The rest
begins a round of its own, since transactions under two sets of probes are not alike: they are never pooled. Such a
round is not among the requested ones.

A last window has the markers alone: it shows whether transactions still end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from time import monotonic
from typing import Protocol

from tare._probe import ProbeError
from tare.errors import TooFewTransactions, cause_and_step
from tare.profile import told
from tare.profile.costs import MOST_CHANGE, Price, weighed
from tare.profile.counting import BATCH, Counts
from tare.profile.ending import WORDS, Ending
from tare.profile.first_look import LOOKING, MOMENT_S, MOST_LOST, FirstLook, Look
from tare.profile.made import Made, Rates, Round, Shed
from tare.profile.reader import Pace, Reader
from tare.profile.recording import Recording, ServerEnded
from tare.profile.refine import Count, Step
from tare.profile.request import Asked
from tare.profile.spending import REPORT_CPU_S, Spending, lost_to
from tare.profile.windows import AFTER_S, BARE, LEAST_PAIRS, MARKERS, PROBED, Duty, Turn, turns
from tare.protocol.profile.found import Estimate, Findings, MarkersLoss, Overhead
from tare.protocol.profile.loss import share_of
from tare.protocol.profile.overhead import Excess, excess
from tare.protocol.profile.overhead import Turn as Measured
from tare.protocol.profile.paired import SIGNED_RANKS
from tare.protocol.profile.refinement import Costs

FIRST_ROUND = 1
FEWEST = 50
"""Transactions of a round, from which the next one is chosen."""

FEW = 20
"""Transactions from which on their number says something of the load."""

LONG_LOOK_S = 3.0
"""Seconds from which on the user hears of a look."""

GLANCING = 0.1
"""Share of the time at most that goes into looking at the overhead between two pairs."""

OTHER_LOAD = 3.0
"""Times as many transactions a second, or as few, as when calls were counted: what was counted says nothing then."""

MOST_ANEW = 2
"""Times that refinement begins again: a load that swings is what there is."""


class OverBudget(Exception):
    """Probes took more than the budget, with the whole interval of what they took."""

    def __init__(self, excess: Excess) -> None:
        super().__init__(excess)
        self.excess = excess


class HotMarkers(Exception):
    """Markers of transactions took more than is allowed while they are timed, with the whole interval of it."""

    def __init__(self, figure: Estimate) -> None:
        super().__init__(figure)
        self.figure = figure


class Stalled(Exception):
    """No transaction ended in a pair of windows, where many did before."""


class OtherLoad(Exception):
    """The load changed since calls were counted."""

    def __init__(self, since: int) -> None:
        super().__init__(since)
        self.since = since  # a window


class Choose(Protocol):
    """The strategy of refinement (`tare.profile.refine.Refinement`)."""

    def first(self, count: Count) -> Step: ...
    def next(self, findings: Findings, watched: Sequence[int], count: Count) -> Step: ...
    def learn(self, findings: Findings) -> None:
        """Learn from every round, also the last."""

    def forget(self) -> None:
        """Forget what was looked at: the load is another."""

    def has_news(self) -> bool:
        """Whether there are functions that were not there when the last step was chosen."""


class Session:
    """`batch`: of functions whose entries are counted at the same time; `compares`: whether windows without any probe
    are made."""

    def __init__(
        self,
        recording: Recording,
        asked: Asked,
        reader: Reader,
        first_look: FirstLook,
        choose: Choose,
        tell: Callable[[told.Told], None],
        *,
        price: Price,
        name_of: Callable[[int], str],
        weight_of: Callable[[int], float] = lambda _: 1.0,
        compares: bool = False,
        batch: int = BATCH,
    ) -> None:
        self._recording = recording
        self._first_look = first_look
        self._asked = asked
        self._reader = reader
        self._choose = choose
        self._tell = tell
        self._price = price
        self._held_up = (
            1.0  # times its price that a probe takes, where others wait for the thread that is in it
        )
        self._name_of = name_of
        self._weight_of = weight_of
        self._compares = compares
        self._batch = batch
        self._counts = Counts()
        self._spending = Spending(asked.budget, asked.duration_s)
        self._calls: dict[int, float] = {}
        self._draw = Random(asked.seed)
        self._own_ns = 0.0
        self._counted_at = Pace(0, 0.0, 0.0)
        self._markers: MarkersLoss | None = None
        self._marker_pairs_counted = 1.0
        self._counted_before: float | None = None  # transactions a second before any function was watched
        self._anews = 0
        self._since = 0  # the window from which on the load is what it is
        self._begun = recording.clock()
        self._after_s = min(AFTER_S, 0.05 * asked.duration_s)
        self._look_s = 0.0  # that the last look took
        self._glance_s = 0.0
        self._seen: list[Measured] = []  # windows of the round `_seen_in`
        self._seen_in = LOOKING
        self._era = 0  # rounds before the load became what it is
        self._during: float | None = None
        self.made = Made(price=price)

    def run(self, *, wait_s: float) -> Made:
        """`wait_s`: for the first transaction. Ctrl-C, the server's end and probes that cannot be set leave what was
        recorded until then; the recorder is stopped in any case. Raises as `FirstLook.take` does, and ProbeError where
        no round was analysed before."""
        made = self.made
        try:
            self._settle(self._first_look.take(wait_s))
            self._begun = self._recording.clock()  # the requested time is the load's, not its absence's
            self._rounds()
        except TooFewTransactions as few:
            made.notes.append(str(few))
            self._end(Ending.TOO_FEW, few.what)
        except HotMarkers as hot:
            made.notes.append(self._first_look.instead())
            self._end(Ending.HOT_MARKERS, self._hot_in_words(hot.figure))
        except Stalled:
            self._end(Ending.STALLED)
        except ServerEnded:
            made.probes_at_end = self._recording.timed
            self._end(Ending.SERVER_ENDED)
        except ProbeError as error:
            if made.findings is None:
                raise
            what, step = cause_and_step(error)
            made.notes.append(f"probes could not be set any more: {what}; {step or 'profile again'}")
            self._end(Ending.REFUSED, f"probes could not be set any more: {what}")
        except KeyboardInterrupt as interrupt:
            made.stopped_by = interrupt
            self._end(Ending.INTERRUPTED)
        finally:
            try:
                self._see_after()
            finally:
                self._recording.recorder.stop()
        self._sum_up()
        return made

    def _end(self, ending: Ending, words: str = "") -> None:
        self.made.ending, self.made.ended = ending, words or WORDS[ending]

    def _see_after(self) -> None:
        """The last window. Where the server ended as a whole there is none, and no transaction."""
        made, recording = self.made, self._recording
        after: float | None = None
        if made.rounds and made.ending is not None:
            try:
                recording.after(made.rounds[-1].number)
                window = recording.last_window
                lasted = recording.last(MOMENT_S if made.ending is Ending.HOT_MARKERS else self._after_s)
                recording.rest(made.rounds[-1].number)
                after = self._reader.ended_since(window) / lasted if lasted > 0 else None
            except ServerEnded:
                made.probes_at_end = made.probes_at_end or recording.timed
                self._end(Ending.SERVER_ENDED)
                after = 0.0
            except ProbeError:
                if made.ending is not Ending.REFUSED:
                    raise
        made.rates = Rates(self._counted_before, self._during, after)

    def _sum_up(self) -> None:
        made = self.made
        made.calls, made.refused = self._calls, dict(self._recording.refused)
        made.ways = dict(self._recording.ways)
        made.price, made.own_ns = self._price, self._own_ns
        if self._own_ns > 0:
            made.of_cycle = self._pace().of_cycle
            made.marker_pairs = self._marker_pairs()
            made.counting_s = self._counting_lost_s()
            made.own_s = self._own_lost_s()
        if made.rounds:
            last = set(made.rounds[-1].watched)
            made.alike = tuple(one.number for one in made.rounds[self._era :] if set(one.watched) == last)

    # Before the first round -----------------------------------------------------
    def _settle(self, look: Look) -> None:
        """Use the result of the first look until a window shows another."""
        self._own_ns, self._since, self._counted_at = look.pace.own_ns, look.since, look.pace
        self._counted_before = look.pace.rate
        self._markers, self._marker_pairs_counted = look.markers, look.marker_pairs

    def _count(self, functions: Sequence[int]) -> Costs:
        """With the calls of these functions counted."""
        if any(one not in self._counts for one in functions):
            round_ = self.made.rounds[-1].number if self.made.rounds else LOOKING
            seconds = self._asked.counting_s(first=not self.made.rounds)
            left = self._counts.take(
                self._recording,
                functions,
                seconds,
                round_,
                self._tell,
                self._batch,
                lambda one: self._price.pair_ns * self._recording.entry_weight(one),
            )
            if left:
                self.made.notes.append(
                    f"{left} functions were not counted for lack of time, and so not watched: profile for longer"
                )
            self._recording.rest(round_)
            self._counted_at = self._pace()
            without = 1 - min(self._markers_share(), MOST_LOST)
            self._calls = self._counts.per_transaction(self._counted_at.rate / without)
        return self._costs()

    def _pace(self) -> Pace:
        return self._reader.pace(self._recording.activity, self._since)

    def _costs(self) -> Costs:
        return Costs(self._calls, self._price.pair_ns * self._held_up, self._own_ns, self._weight_of)

    # Rounds ----------------------------------------------------------------------
    def _rounds(self) -> None:
        step = self._search(lambda: self._choose.first(self._count))
        self._tell_counted(step)
        watched: tuple[int, ...] = ()
        to_come = self._asked.rounds
        number = FIRST_ROUND - 1
        while True:
            self._pass_over(step)
            number += 1
            added = tuple(one for one in step.watch if one not in watched)
            lasts = self._asked.round_s(self._left(), to_come)
            self.made.rounds.append(Round(number, step.reason, step.watch, added, step.predicted, lasts))
            watched = step.watch
            try:
                findings = self._round(number, step.watch, lasts, last=to_come <= 1)
                to_come -= 1
                watched = tuple(one for one in step.watch if one not in self._recording.refused)
                following = self._next(findings, watched, rounds_left=to_come)
                while following.ending is not None:
                    self.made.settled = following.settled
                    self._pass_over(following)
                    self._end(following.ending, following.reason)
                    if (left := self._left()) < self._least_s():
                        return
                    # More of the same: its intervals become narrower.
                    awaits = following.ending is Ending.REFINED and to_come > 0
                    findings = self._windows(number, watched, left, last=True, awaits_news=awaits)
                    if not (awaits and self._choose.has_news()):
                        return
                    following = self._next(findings, watched, rounds_left=to_come)
                step = following
            except OtherLoad as other:
                to_come -= 1
                step, watched = self._anew(other.since), ()
            except OverBudget as over:
                lighter = self._lighter(number, watched, over.excess)
                if lighter is None:
                    return
                step, watched = lighter, lighter.watch
                to_come = max(to_come, 1)

    def _lighter(self, number: int, watched: Sequence[int], excess: Excess) -> Step | None:
        """Step with the dearest functions let go; None: none is left that is called, or no time."""
        costs = self._costs()
        predicted = costs.predicted(watched)
        scale = max(1.0, excess.added.value / predicted) if predicted > 0 else float("inf")
        kept = sorted(watched, key=lambda one: (-costs.of(one), one))
        let_go: list[int] = []
        while kept and costs.predicted(kept) * scale > self._asked.budget:
            let_go.append(kept.pop(0))
        if costs.predicted(kept) <= 0:
            let_go, kept = [*let_go, *kept], []
        shed = Shed(number, tuple(let_go), tuple(costs.of(one) for one in let_go), excess, len(kept))
        self.made.shed.append(shed)
        self._held_up = max(
            self._held_up, excess.added.low * self._held_up / predicted if predicted > 0 else 1.0
        )
        names = tuple(self._name_of(one) for one in let_go)
        self._tell(told.Shed(number, names, len(kept), excess))
        if not kept:
            self._end(Ending.BUDGET)
            return None
        if self._left() < self._least_s():
            self._end(Ending.TIME)
            return None
        stay = tuple(one for one in watched if one in kept)
        reason = f"goes on without {len(let_go)} of {len(watched)} functions, whose probes took more than the budget"
        return Step(stay, reason, predicted=self._costs().predicted(stay))

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

    def _windows(
        self,
        number: int,
        watch: Sequence[int],
        seconds: float,
        *,
        last: bool,
        awaits_news: bool = False,
    ) -> Findings:
        """Some of a round, and what the round has found with them. `last`: no other comes after it. `awaits_news`: ends
        early where there is something new to search for.

        Raises ServerEnded, TooFewTransactions, and OtherLoad where another round may come."""
        first = self._recording.last_window + 1
        duty = self._duty(watch, last=last)
        order = turns(max(1.0, seconds), self._draw, duty, change_s=self._recording.change_s, last=last)
        self._take_turns(number, watch, order, seconds, duty, awaits_news=awaits_news)
        self._look(number)
        if not last and self._is_another(self._reader.pace(self._recording.activity, first)):
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

    def _take_turns(
        self,
        number: int,
        watch: Sequence[int],
        order: Sequence[Turn],
        seconds: float,
        duty: Duty | None,
        *,
        awaits_news: bool,
    ) -> None:
        """Goes through windows, group after group, and looks at what the groups so far cost. No further group begins
        when the time is over. Raises OverBudget, Stalled, ServerEnded."""
        recording = self._recording
        shares = {} if duty is None else {PROBED: duty.on, MARKERS: duty.markers}
        until = recording.clock() + max(seconds, 1.0)
        if self._seen_in != number:
            self._seen, self._seen_in = [], number
        since = recording.last_window + 1
        glanced = recording.clock()
        kinds = len({turn.purpose for turn in order})
        for place, turn in enumerate(order, 1):
            self._tell(
                told.Window(number, place, len(order), turn.purpose, turn.seconds, len(watch), self._left())
            )
            if turn.purpose == PROBED:
                recording.probe(watch, number)
            elif turn.purpose == BARE:
                recording.bare(number)
            else:
                recording.mark(number)
            lasted = recording.last(turn.seconds)
            self._spending.window(lasted + recording.change_s, shares.get(turn.purpose, 0.0))
            groups, rest = divmod(place, kinds)
            if rest or groups < LEAST_PAIRS:
                continue
            over = place == len(order) or recording.clock() >= until
            over = over or (awaits_news and self._choose.has_news())
            if over or recording.clock() - glanced >= self._glance_s / GLANCING:
                self._seen += self._glance(number, since)
                since, glanced = recording.last_window + 1, recording.clock()
                self._judge(self._seen, watch, duty)
            if over:
                return

    def _glance(self, number: int, since: int) -> Sequence[Measured]:
        """Windows from `since` on, read while probes are off."""
        self._recording.rest(number)
        begun = monotonic()
        found = self._reader.glance(since)
        if self._markers is not None and self._markers.figure.high > self._asked.most_markers:
            self._reader.look()
            self._judge_markers()
        self._glance_s = monotonic() - begun
        return found

    def _judge_markers(self) -> None:
        """Judge them by all windows that were read so far: those of the first look are few and short. Raises
        HotMarkers."""
        found = self._markers = self._reader.markers_loss(self._recording.activity) or self._markers
        if found and found.pairs >= SIGNED_RANKS and found.figure.low > self._asked.most_markers:
            raise HotMarkers(found.figure)

    def _hot_in_words(self, figure: Estimate) -> str:
        return (
            f"to time what marks a transaction took {figure.value:.0%} of the throughput ({figure.low:.0%} to "
            f"{figure.high:.0%}); at most {self._asked.most_markers:.0%} is allowed while it is timed"
        )

    def _duty(self, watch: Sequence[int], *, last: bool) -> Duty | None:
        if not self._compares:
            return None
        markers = self._markers_share()
        budget = self._spending.share(self._elsewhere_s(), self._left(), last=last)
        return Duty(self._functions_share(watch) + markers, markers, budget)

    def _functions_share(self, watch: Sequence[int]) -> float:
        """Share of the throughput that probes on these functions take, predicted."""
        return share_of(self._costs().predicted(watch) * self._pace().of_cycle)

    def _elsewhere_s(self) -> float:
        """Seconds of throughput that all but windows took so far, and the report will take, predicted."""
        pace = self._pace()
        own_s = lost_to(self._recording.cpu_s() + REPORT_CPU_S, pace.busy, pace.cpus)
        return own_s + self._spending.before_s + self._counting_lost_s()

    def _counting_lost_s(self) -> float:
        pace = self._pace()
        return self._counts.lost_s(pace.rate * pace.cycle_ns)

    def _own_lost_s(self) -> float:
        """The part of it that Tare's own work between windows took."""
        pace = self._pace()
        return lost_to(self._recording.own_cpu_s, pace.busy, pace.cpus)

    def _markers_share(self) -> float:
        """Share of the throughput that the markers alone take, predicted."""
        pace = self._pace()
        return share_of(pace.intervals * self._marker_pairs() * self._price.pair_ns / pace.cycle_ns)

    def _marker_pairs(self) -> float:
        """Usual pairs that the markers of an interval cost, by what was counted and by what was measured."""
        pairs, pace = self._marker_pairs_counted, self._pace()
        usual = (
            pace.intervals * self._price.pair_ns / pace.cycle_ns
        )  # added by one usual pair in each interval
        if self._markers is None or usual <= 0:
            return pairs
        low, high = (
            share / (1 - min(share, 0.999)) / usual
            for share in (self._markers.figure.low, self._markers.figure.high)
        )
        return weighed(pairs, low, high)

    def _allowed(self, duty: Duty | None) -> float:
        """Share of the throughput that probes may take while all are on, without the markers."""
        if duty is None:
            return self._asked.budget
        return max(0.0, min(duty.allowed_on, self._asked.most_on - duty.markers))

    def _judge(self, seen: Sequence[Measured], watch: Sequence[int], duty: Duty | None) -> None:
        probed = [one for one in seen if one.probed and one.transactions]
        if probed:
            self._during = probed[-1].rate
        expected = self._counted_at.rate * sum(one.seconds for one in seen[-2:])
        if expected >= FEW and not any(one.transactions for one in seen[-2:]):
            raise Stalled
        if watch and (found := excess(seen, self._allowed(duty))) is not None:
            raise OverBudget(found)

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
        self._spending.before_s += self._counting_lost_s()
        self._counts, self.made.left_out = Counts(), []
        self._era = len(self.made.rounds)
        self._choose.forget()
        self._own_ns = self._pace().own_ns or self._own_ns
        step = self._choose.first(self._count)
        self.made.notes.append(
            f"the load changed from {before.rate:.3g} to {self._counted_at.rate:.3g} transactions a second: round "
            f"{self.made.rounds[-1].number + 1} begins anew"
        )
        self._tell_counted(step)
        return step

    def _next(self, findings: Findings, watched: tuple[int, ...], *, rounds_left: int) -> Step:
        if rounds_left <= 0:
            return Step(watched, WORDS[Ending.ROUNDS], ending=Ending.ROUNDS)
        if self._left() < self._least_s():
            return Step(watched, WORDS[Ending.TIME], ending=Ending.TIME)
        if self._compares and not self._spending.affords_search(self._elsewhere_s()):
            return Step(watched, WORDS[Ending.SPENT], ending=Ending.SPENT)
        return self._search(lambda: self._choose.next(findings, watched, self._count))

    def _search(self, choose: Callable[[], Step]) -> Step:
        """Choose a step, and remember what that took."""
        before_s = self._elsewhere_s()
        step = choose()
        self._spending.search_s = self._elsewhere_s() - before_s
        return step

    def _learn(self, overhead: Overhead | None, pairs: float) -> None:
        """Learn the time of transactions without probes, and the real cost of a probe here."""
        self._own_ns = self._pace().own_ns or self._own_ns
        if self._compares:
            self._judge_markers()
        if overhead is not None and overhead.latency is not None:
            latency = overhead.latency
            self._price = self._price.learnt(latency.low, latency.high, pairs, self._own_ns)
            if latency.high < self._held_up * pairs * self._price.pair_ns / self._own_ns:
                self._held_up = max(1.0, self._held_up / MOST_CHANGE)

    def _pass_over(self, step: Step) -> None:
        """Note functions that are too hot, without those that have found room since."""
        hot = dict.fromkeys((*self.made.left_out, *step.too_hot))
        watched = {one for round_ in self.made.rounds for one in round_.watched} | set(step.watch)
        self.made.left_out = [one for one in hot if one not in watched]

    def _look(self, round_: int) -> None:
        """Reads what was recorded so far. Probes are off: our own CPU time would be in their windows."""
        self._recording.rest(round_)
        if self._look_s > LONG_LOOK_S:
            self._tell(told.Analysing(self._reader.megabytes))
        begun = monotonic()
        self._reader.look()
        self._look_s = monotonic() - begun

    def _left(self) -> float:
        """Time for further windows: the look after them and the last window are still to come."""
        spent = self._recording.clock() - self._begun
        return max(0.0, self._asked.duration_s - spent - self._after_s - self._look_s)

    def _least_s(self) -> float:
        """Less is too little for a round: for the changes of probes in its fewest pairs and the looks after these."""
        return max(2.0, 0.06 * self._asked.duration_s) + 3 * LEAST_PAIRS * self._recording.change_s

    def _tell_counted(self, step: Step) -> None:
        pace = self._pace()
        called = sum(calls > 0 for calls in self._calls.values())
        hot = tuple(self._name_of(one) for one in step.too_hot)
        self._tell(told.Counted(called, hot, pace.rate, pace.mean_ns))
