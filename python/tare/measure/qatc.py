"""Engine that runs a Q@C to its last QE: warm-up, restart when its plan changes, retries, time-outs (TTPv2 §3.2.3).

The engine decides what is run next. A subject is a Q@C as its user runs it: it knows its statement and what surrounds
each QE. A sink keeps what was measured: in memory (`measure.weigh`) or in a lab (`experiment.visits`).

The paper restarts a Q@C when a QE shows another plan, and pauses the run after ten exceptions in a row. Beyond it: a
Q@C is given up after a few restarts or time-outs, and a statement that has never worked is not tried again.
"""

from __future__ import annotations

import dataclasses
import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from tare.dbms.base import Plan
from tare.errors import (
    AnswerChanged,
    PlanChanged,
    QueryTimeout,
    ServerLost,
    StatementFailed,
    TareError,
    WrongAnswer,
)
from tare.measure.answer import Change, FirstAnswer
from tare.measure.audit import Auditor
from tare.measure.backoff import MAX_TRIES, Patience
from tare.measure.choices import AnswerRule, CacheState
from tare.measure.qe import time_single_qe
from tare.measure.query import Query
from tare.measure.records import QE, Outcome, QatCProgress
from tare.measure.rig import Rig
from tare.measure.rig_keeper import RigKeeper

MAX_RESTARTS = 3
"""Restarts of a Q@C whose plan keeps changing, before it is given up."""

MAX_TIMEOUTS = 3
"""Time-outs after which a Q@C is given up if no QE of it has ever ended."""

MAX_WARMUP = 10

Steady = Callable[[Sequence[QE]], bool]
"""Whether warming up may end after these QEs."""

TimeQE = Callable[[str], QE]
"""Times one execution of a statement."""


def most_warmup(cache: CacheState) -> int:
    """Untimed QEs before the first timed one, at most. Where one cache is emptied before each run, the other
    one is filled by a first run; where both are, there is nothing to warm."""
    return {CacheState.WARM: MAX_WARMUP, CacheState.COLD: 0}.get(cache, 1)


@dataclass(frozen=True, slots=True)
class Terms:
    """Conditions of every Q@C of a run. Times in seconds."""

    runs: int = 10  # QEs of a Q@C
    cache: CacheState = CacheState.WARM
    timeout_s: float | None = None
    warmup: int | None = None  # None: until `Steady` says so, at most `most_warmup`
    answer: AnswerRule = AnswerRule.CLOSE  # how the answers of a Q@C's QEs are compared
    audit: frozenset[int] = frozenset()  # numbers of the QEs that a kernel trace audits


@dataclass(kw_only=True)
class Subject(ABC):
    """A Q@C to be measured."""

    label: str  # its name in messages
    query_index: int  # place of its query in the run, from 0
    progress: QatCProgress = field(default_factory=QatCProgress)
    first_answer: FirstAnswer | None = None  # with which those of its QEs are compared; None: not at all
    rigs: RigKeeper | None = None  # where it runs; None: where the engine's subjects do

    @property
    @abstractmethod
    def has_worked(self) -> bool:
        """Whether a QE of its query has ever ended here: then a failure is the server's, not the query's."""

    @abstractmethod
    def sql(self, turn: int) -> str:
        """The statement of the QE of this turn, from 1."""

    @abstractmethod
    def execute(self, rig: Rig, turn: int, time_qe: TimeQE) -> QE:
        """Runs one QE, and what surrounds it outside all clocks."""


S = TypeVar("S", bound=Subject)
S_contra = TypeVar("S_contra", bound=Subject, contravariant=True)


class Sink(Protocol[S_contra]):
    """Keeps what an engine measures."""

    def record(self, subject: S_contra, number: int | None, qe: QE, changed: str | None = None) -> None:
        """Keeps a QE; it is durable when this returns. No number: a warm-up, or a try that does not count.

        `changed`: how its answer differs from that of the Q@C, which ends with it."""

    def restart(self, subject: S_contra, plan: Plan) -> int:
        """Starts the Q@C again under another plan. Returns the number of its attempt from now on."""

    def say(self, subject: S_contra, what: str) -> None:
        """Receives progress. Never called while a clock is running."""


class QatCEngine(Generic[S]):
    """Measures Q@Cs, one QE at a time."""

    def __init__(
        self,
        terms: Terms,
        rigs: RigKeeper,
        sink: Sink[S],
        steady: Steady,
        patience: Patience,
        first_index: int = 0,
        between: Callable[[], None] = lambda: None,
    ) -> None:
        """`first_index`: place in the run of the next QE. `between`: called before each QE of `complete`, outside all
        clocks and ahead of its warm-up."""
        self._terms = terms
        self._rigs = rigs
        self._sink = sink
        self._steady = steady
        self._patience = patience
        self._next_index = first_index
        self._between = between
        self._auditor = Auditor()
        self._most_warmup = terms.warmup if terms.warmup is not None else most_warmup(terms.cache)

    def complete(self, subject: S) -> None:
        """Runs the QEs that the Q@C still lacks, in quick order.

        What is wrong with the Q@C: raises PlanChanged, AnswerChanged, QueryTimeout, BadStatement or StatementFailed.
        What ends the run: raises ServerLost, WrongAnswer, CacheNotCleared, Interrupted, and what the sink and
        `between` raise."""
        progress = subject.progress
        while progress.next_number(self._terms.runs) is not None:
            self._between()
            qe = self.advance(subject)
            if progress.timeouts == MAX_TIMEOUTS and progress.answer is None:
                raise QueryTimeout(f"timed out {MAX_TIMEOUTS} times, and never ended: {qe.error}")

    def advance(self, subject: S) -> QE:
        """Runs one QE more, warmed up. If it ran under another plan, the Q@C has been restarted."""
        progress = subject.progress
        for failures in itertools.count(1):
            self.warm_up(subject)
            number = progress.next_number(len(progress.done) + 1)
            assert number is not None
            qe = self._try(subject, number, number, failures)
            if qe is None:
                continue
            if qe.outcome is Outcome.PLAN_CHANGED:
                self.restart(subject, self.plan(subject.sql(1), subject))
            else:
                progress.done.add(number)
                progress.timeouts += qe.outcome is Outcome.TIMEOUT
            return qe
        raise AssertionError("unreachable")

    def warm_up(self, subject: S) -> None:
        """Runs untimed QEs, unless the caches are warm for this attempt and in this session."""
        progress = subject.progress
        runs: list[QE] = []
        failures = 1
        while len(runs) < self._most_warmup and progress.warm_for != self._warmth(subject):
            self._sink.say(subject, "warm-up")
            qe = self._try(subject, None, len(runs) + 1, failures)
            if qe is None:
                failures += 1
                continue
            failures = 1
            if qe.outcome is Outcome.PLAN_CHANGED:
                self.restart(subject, self.plan(subject.sql(1), subject))
                runs.clear()
                continue
            runs.append(qe)
            if qe.outcome is not Outcome.OK or (self._terms.warmup is None and self._steady(runs)):
                break
        progress.warm_for = self._warmth(subject)

    def plan(self, sql: str, subject: S | None = None) -> Plan:
        """The plan that the statement runs under now. No subject: where the engine's subjects run."""
        self._patience.interrupts.check()
        rigs = self._rigs if subject is None else self._rigs_of(subject)
        return rigs.with_rig(lambda rig: rig.plan(sql))

    def restart(self, subject: S, plan: Plan) -> None:
        """Starts the Q@C again under `plan`. Raises PlanChanged if it has been restarted too often."""
        progress = subject.progress
        if progress.attempt > MAX_RESTARTS:
            raise PlanChanged(
                f"its plan has changed {progress.attempt} times (now {plan.fingerprint})",
                "refresh the statistics (ANALYZE), or see what changes the data, then measure again",
            )
        self._sink.say(subject, "the plan has changed: its QEs start again")
        progress.attempt = self._sink.restart(subject, plan)
        progress.plan_fingerprint = plan.fingerprint
        progress.done.clear()
        progress.timeouts = 0

    def _warmth(self, subject: S) -> tuple[int, int]:
        return subject.progress.attempt, self._rigs_of(subject).session_number

    def _rigs_of(self, subject: S) -> RigKeeper:
        return subject.rigs or self._rigs

    # One QE ------------------------------------------------------------------------
    def _try(self, subject: S, number: int | None, turn: int, failures: int) -> QE | None:
        """Return an ended QE that was kept; None if it is to be tried again: after a pause, or since the session was
        lost before it and the new one is not warm, so that it was kept as a warm-up. No number: a warm-up.

        `failures`: how many there are in a row if this try fails. Raises StatementFailed if the query has never
        worked, or failed ten times in a row; ServerLost if it went away ten times in a row."""
        self._patience.interrupts.check()
        rigs = self._rigs_of(subject)
        opened, session = rigs.opened, rigs.session_number

        def kept_as() -> int | None:
            is_another = rigs.session_number != session
            return None if is_another and self._most_warmup else number

        try:
            qe = rigs.with_rig(lambda rig: self._time(rig, subject, kept_as(), turn))
        except StatementFailed as error:
            failure: TareError = error
        else:
            qe = self._keep(subject, kept_as(), qe)
            if qe.outcome is not Outcome.FAILED:
                return qe if kept_as() == number else None
            failure = StatementFailed(
                qe.error or "the statement failed",
                "run the statement by itself and correct what the DBMS names; what was measured is kept",
            )
            rigs.with_rig(lambda rig: rig.session.explain("SELECT 1"))  # does the server answer?
        lost = rigs.opened != opened
        if failures == MAX_TRIES and lost:
            raise ServerLost(
                f"{subject.label}: the server went away {MAX_TRIES} times in a row: {failure.what}",
                "see the end of the server's log for what this query does to it",
            )
        if failures == MAX_TRIES or not (lost or subject.has_worked):
            raise failure
        self._patience.wait(failures, f"{subject.label}: {failure.what}")
        return None

    def _time(self, rig: Rig, subject: S, number: int | None, turn: int) -> QE:
        """Run a QE and return it as it comes from the clock. An audit that cannot be made is recorded as refused, with
        the reason: the QE stands without it."""
        rig.auditor = self._auditor if number in self._terms.audit else None
        try:
            return subject.execute(
                rig,
                turn,
                lambda sql: time_single_qe(
                    rig,
                    Query(subject.label, sql),
                    index=self._next_index,
                    query_index=subject.query_index,
                    warmup=number is None,
                    cache=self._terms.cache,
                    timeout_s=self._terms.timeout_s,
                    first_answer=subject.first_answer,
                ),
            )
        finally:
            rig.auditor = None

    def _keep(self, subject: S, number: int | None, qe: QE) -> QE:
        """The QE as it was kept: one under another plan, or with another answer, does not count.

        Raises AnswerChanged or WrongAnswer, after it was kept."""
        progress = subject.progress
        changed = None
        wrong = qe.error if qe.outcome is Outcome.FAILED and qe.answer_hash is not None else None
        if qe.outcome is Outcome.OK and qe.plan_fingerprint != progress.plan_fingerprint:
            qe = dataclasses.replace(qe, outcome=Outcome.PLAN_CHANGED)
        elif qe.outcome is Outcome.OK:
            changed = self._changed_answer(progress, qe)
        counts = qe.outcome in (Outcome.OK, Outcome.TIMEOUT) and changed is None
        self._sink.record(subject, number if counts else None, qe, changed)
        self._next_index += 1
        if changed is not None:
            raise AnswerChanged(
                changed,
                "weigh a statement with one answer (no random(), now(), or LIMIT without ORDER BY), see who "
                "changes the data, or give --answer any to weigh it all the same",
            )
        if qe.outcome is Outcome.OK:
            progress.answer = (qe.row_count, qe.answer_hash)
        if wrong is not None:
            raise WrongAnswer(
                f"{subject.label} {wrong}",
                "see the DBMS's list of known errors: its answer is not the query's",
            )
        return qe

    def _changed_answer(self, progress: QatCProgress, qe: QE) -> str | None:
        """How the QE's answer differs from that of the Q@C; None if it does not."""
        if self._terms.answer is AnswerRule.ANY or progress.answer in (None, (qe.row_count, qe.answer_hash)):
            return None
        if qe.difference is not None and qe.difference.change is not Change.NOTHING:
            return f"gave another answer than before: {qe.difference.text}"
        rows, answer = progress.answer or (None, None)
        return f"gave {qe.row_count} rows (hash {qe.answer_hash}) after {rows} rows (hash {answer})"
