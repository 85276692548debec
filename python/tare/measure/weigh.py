"""Queries of `tare time` and `tare compare`: each a Q@C kept in memory, one after another or interleaved."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from tare.dbms.base import Plan, Session
from tare.dbms.script import WITHOUT_VALUE, parameters
from tare.errors import AnswerChanged, BadStatement, PlanChanged, QueryTimeout, StatementFailed, TareError
from tare.measure.answer import FirstAnswer
from tare.measure.arms import Arm
from tare.measure.backoff import Patience
from tare.measure.choices import Blocks
from tare.measure.phases import Phases, SessionState, run_phase
from tare.measure.qatc import QatCEngine, Steady, Subject, Terms, TimeQE
from tare.measure.query import Query
from tare.measure.records import QE, Outcome
from tare.measure.rig import Rig

FAILURES_OF_A_QUERY = (AnswerChanged, BadStatement, PlanChanged, StatementFailed)
"""Errors that leave the server able to run the next query."""


class Observer(Protocol):
    """Receives progress. Never called while a clock is running."""

    def say(self, what: str) -> None: ...
    def done(self, query: Query, qe: QE) -> None: ...


@dataclass(frozen=True, slots=True)
class Conditions(Terms):
    """Terms of every query, and what surrounds its QEs."""

    phases: Phases = field(default_factory=Phases)
    seed: int = 0  # of the order of runs in `interleaved`
    keeps_going: bool = False  # a query that fails does not end the run


@dataclass(kw_only=True)
class Weighed(Subject):
    """A query with its phases, and the plan that its QEs run under."""

    query: Query
    phases: Phases
    arm: Arm
    plan: Plan | None = None
    error: str | None = None  # why its runs were not all made

    def __post_init__(self) -> None:
        self.rigs = self.arm.rigs

    @property
    def has_worked(self) -> bool:
        return bool(self.progress.done)

    def sql(self, turn: int) -> str:
        return self.query.sql

    def execute(self, rig: Rig, turn: int, time_qe: TimeQE) -> QE:
        run_phase(rig.session, "prepare", self.phases.prepare)
        qe = time_qe(self.query.sql)
        if self.plan is None and qe.outcome is Outcome.OK:  # not sooner: preparations may change it
            self.plan = rig.plan(self.query.sql)
            self.progress.plan_fingerprint = self.plan.fingerprint
        if qe.outcome is not Outcome.FAILED:
            run_phase(rig.session, "conclude", self.phases.conclude)
        return qe


class MemorySink:
    """Keeps every QE in `qes`, in run order."""

    def __init__(self, observer: Observer) -> None:
        self.qes: list[QE] = []
        self._observer = observer

    def record(self, subject: Weighed, number: int | None, qe: QE, changed: str | None = None) -> None:
        self.qes.append(qe)
        self._observer.done(subject.query, qe)

    def restart(self, subject: Weighed, plan: Plan) -> int:
        subject.plan = plan
        for position, qe in enumerate(self.qes):
            if qe.query == subject.query_index and qe.outcome is Outcome.OK:
                self.qes[position] = dataclasses.replace(qe, outcome=Outcome.PLAN_CHANGED)
        return subject.progress.attempt + 1

    def say(self, subject: Weighed, what: str) -> None:
        self._observer.say(f"{subject.label}: {what}")


class Weigher:
    """Runs the queries' QEs, with set-up and clean-up around those of each query."""

    def __init__(
        self,
        arms: Sequence[Arm],
        queries: Sequence[Query],
        conditions: Conditions,
        steady: Steady,
        observer: Observer,
        patience: Patience,
    ) -> None:
        """`arms`: where each query runs, by `Query.arm`."""
        self._arms = arms
        self._conditions = conditions
        self._sink = MemorySink(observer)
        self._engine = QatCEngine(conditions, arms[0].rigs, self._sink, steady, patience)
        answers: list[FirstAnswer] = []
        self._subjects = []
        for place, query in enumerate(queries):
            answers.append(FirstAnswer(conditions.answer, answers))
            self._subjects.append(
                Weighed(
                    label=query.name,
                    query_index=place,
                    query=query,
                    phases=conditions.phases,
                    arm=arms[query.arm],
                    first_answer=answers[place],
                )
            )
        self._states = {arm.letter: SessionState(conditions.phases) for arm in arms}
        self._set_up: list[Weighed] = []  # those whose set-up is done and whose clean-up is not
        self.block_starts: list[int] = []
        """Index of the first QE of each block of an interleaved run."""
        for arm in arms:
            arm.rigs.renewed = partial(self._renew, arm)

    @property
    def qes(self) -> Sequence[QE]:
        """Every QE, in run order."""
        return self._sink.qes

    @property
    def plans(self) -> Sequence[Plan | None]:
        """The plan of each query, as its timed QEs ran; None where it is not known."""
        return [subject.plan for subject in self._subjects]

    @property
    def query_errors(self) -> Sequence[str | None]:
        """Error that ended each query's runs early; None where none did."""
        return [subject.error for subject in self._subjects]

    def check(self) -> None:
        """Prepares every query before any is timed: a mistake in the last one is found first.

        Where a set-up phase makes what the queries need, each is checked after it instead; so it is where a query
        that fails does not end the run. Raises BadStatement."""
        if not self._conditions.phases.setup and not self._conditions.keeps_going:
            for subject in self._subjects:
                self._check(subject)

    def one_after_another(self) -> None:
        """Each query's QEs in quick order, as the protocols want them."""
        with self._cleaning_up():
            for subject in self._subjects:
                self._begin(subject)
                try:
                    self._warm_up(subject)
                    with _named(subject):
                        self._engine.complete(subject)
                except QueryTimeout as error:  # the other queries may end in time
                    subject.error = error.what
                except FAILURES_OF_A_QUERY as error:
                    if not self._conditions.keeps_going:
                        raise
                    subject.error = _unnamed(error)
                self._close(subject)

    def interleaved(
        self,
        enough: Callable[[Sequence[Sequence[QE]]], bool],
        max_rounds: int,
        blocks: Blocks,
        block_rounds: int = 1,
    ) -> None:
        """Rounds in which each query runs once, in an order drawn again for each round. Each block has `block_rounds`.

        `enough` is asked after every round with the retained QEs of each query."""
        draw = random.Random(self._conditions.seed)
        order = list(self._subjects)
        with self._cleaning_up():
            for subject in self._subjects:
                self._begin(subject)
                self._warm_up(subject)
            for number in range(max_rounds):
                if number % block_rounds == 0:
                    if number:
                        self._end_block(blocks)
                        for subject in self._subjects:  # all of them before the first is timed
                            with _named(subject):
                                self._engine.warm_up(subject)
                    self.block_starts.append(len(self.qes))
                draw.shuffle(order)
                for subject in order:
                    with _named(subject):
                        self._engine.advance(subject)
                if enough([self._retained(subject) for subject in self._subjects]):
                    break
            for subject in self._subjects:
                self._close(subject)

    def _retained(self, subject: Weighed) -> list[QE]:
        """The timed QEs of a query that ended well, in run order."""
        return [
            qe
            for qe in self.qes
            if qe.query == subject.query_index and not qe.warmup and qe.outcome is Outcome.OK
        ]

    # One query's beginning and end -------------------------------------------------
    def _check(self, subject: Weighed) -> None:
        rig, query = subject.arm.rigs.open(), subject.query
        subject.arm.apply(rig.session)
        try:
            rig.prepared(query.sql)
            rig.plan(query.sql)  # some mistakes are found no earlier: a parameter left open
        except StatementFailed as error:
            open_ones = parameters(query.sql)
            next_step = f"{', '.join(open_ones)}: {WITHOUT_VALUE}" if open_ones else error.next_step
            raise BadStatement(f"{query.name}: {error.what}", next_step) from error

    def _begin(self, subject: Weighed) -> None:
        session = subject.arm.rigs.open().session
        self._states[subject.arm.letter].set_up(session)
        self._set_up.append(subject)
        subject.arm.apply(session)

    def _warm_up(self, subject: Weighed) -> None:
        self._check(subject)
        with _named(subject):
            self._engine.warm_up(subject)

    def _close(self, subject: Weighed) -> None:
        self._set_up.remove(subject)
        run_phase(subject.arm.rigs.open().session, "cleanup", self._conditions.phases.cleanup)

    def _end_block(self, blocks: Blocks) -> None:
        if blocks is Blocks.RESTART:
            sessions = [arm.rigs.open().session for arm in self._arms]
            for session in {session.server.url: session for session in sessions}.values():
                session.restart()
        if blocks is not Blocks.RUN:
            for arm in self._arms:
                arm.rigs.close()

    def _renew(self, arm: Arm, session: Session) -> None:
        if any(subject.arm is arm for subject in self._set_up):
            self._states[arm.letter].renew(session)
        arm.apply(session)

    @contextmanager
    def _cleaning_up(self) -> Iterator[None]:
        """Clean up at the end, also if the run is cut short; then raise what cut it short."""
        try:
            yield
        except (TareError, KeyboardInterrupt):
            for subject in self._set_up:
                if (rig := subject.arm.rigs.current) is not None:
                    with suppress(TareError):
                        run_phase(rig.session, "cleanup", self._conditions.phases.cleanup)
            raise


def _unnamed(error: TareError) -> str:
    """The DBMS's words, without the query's name that `_named` and `_check` add."""
    cause = error.__cause__
    return cause.what if isinstance(cause, TareError) else error.what


@contextmanager
def _named(subject: Weighed) -> Iterator[None]:
    """Block whose errors name the query: a Q@C's own do not."""
    try:
        yield
    except (AnswerChanged, PlanChanged, StatementFailed) as error:
        raise type(error)(f"{subject.label}: {error.what}", error.next_step) from error
