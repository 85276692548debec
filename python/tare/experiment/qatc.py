"""A Q@C, from its plan to its last QE: in quick order, each durable before the next begins (TTPv2 §3.2.3)."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from tare.dbms.base import Fetched, Plan
from tare.errors import (
    AnswerChanged,
    BadStatement,
    PlanChanged,
    QueryTimeout,
    ServerLost,
    StatementFailed,
    TareError,
    WrongAnswer,
)
from tare.experiment.interrupts import Interrupts
from tare.experiment.keepers import FIRST_PAUSE_S, LabKeeper, RigKeeper
from tare.experiment.scenario.base import Scenario
from tare.experiment.trial import conducted
from tare.experiment.walk import Answer, Observer, QatC, QueryWalk
from tare.experiment.work import Trial, Work
from tare.lab.states import QatCState
from tare.measure.answers import AnswerCheck, Answers, plain_check
from tare.measure.audit import Auditor
from tare.measure.backoff import MAX_TRIES, pause_s
from tare.measure.choices import CacheState
from tare.measure.qe import time_single_qe
from tare.measure.query import Query
from tare.measure.records import QE, Outcome
from tare.measure.rig import Rig
from tare.measure.weigh import MAX_RESTARTS, MAX_TIMEOUTS, most_warmup


@dataclass(frozen=True, slots=True)
class Terms:
    """Terms of every Q@C of a run."""

    work: Work
    dbms: str
    scenario: Scenario
    qes: int  # per Q@C
    cache: CacheState
    timeout_s: float | None
    steady: Callable[[Sequence[QE]], bool]  # whether warming up may end
    audit: frozenset[int] = frozenset()  # numbers of the QEs that a kernel trace audits


class QatCs:
    """Goes through Q@Cs one by one. Of what is wrong with a query or a Q@C nothing is raised: it is recorded
    and the run goes on. Raises ServerLost, CacheNotCleared, LabError and Interrupted: then the run pauses."""

    def __init__(
        self,
        terms: Terms,
        rigs: RigKeeper,
        lab: LabKeeper,
        interrupts: Interrupts,
        observer: Observer,
        next_run_order: int,
    ) -> None:
        self._terms = terms
        self._rigs = rigs
        self._lab = lab
        self._interrupts = interrupts
        self._observer = observer
        self._next_run_order = next_run_order
        self._auditor = Auditor()
        self._answers: tuple[int, Answers] | None = None  # of the Q@C that is timed
        self._warm: tuple[int, int, int] | None = (
            None  # the Q@C, attempt and rig that the caches are warm for
        )

    def miss_lacking(self, walks: Sequence[QueryWalk]) -> None:
        """Lists as missing the queries that this DBMS cannot run at all."""
        for walk in walks:
            why = self._terms.work.lacking(walk.name, self._terms.dbms)
            if why is not None and walk.error is None:
                self._miss(walk, why)
                self._observer.visited(walk)

    def come_to(self, walk: QueryWalk, cardinality: int) -> None:
        """The next visit of a walk; the variable table has this cardinality."""
        try:
            qatc = self._entered(walk, cardinality)
            if qatc.timed:
                self._complete(walk, qatc)
        except (PlanChanged, AnswerChanged, QueryTimeout) as error:
            self._fail(walk, error)
        except (BadStatement, StatementFailed) as error:
            if walk.has_worked and walk.pending is None:
                raise  # its plan cannot be had, at one cardinality of many: the server's trouble
            self._fail(walk, error)
            if not walk.has_worked:
                self._miss(walk, error.what)
        self._observer.visited(walk)

    def _entered(self, walk: QueryWalk, cardinality: int) -> QatC:
        plan = self._plan(walk, cardinality)
        if (pending := walk.pending) is not None:
            if pending.plan_fingerprint != plan.fingerprint:
                self._restart(walk, pending, plan)
            return pending
        timed = self._terms.scenario.is_timed(plan.fingerprint, walk.seen())
        visit = len(walk.visits)
        qatc_id = self._lab.write(lambda recorder: recorder.visit(walk.id, visit, cardinality, plan, timed))
        state = QatCState.PENDING if timed else QatCState.SAME_PLAN
        qatc = QatC(qatc_id, visit, cardinality, plan.fingerprint, state)
        walk.visits.append(qatc)
        return qatc

    def _complete(self, walk: QueryWalk, qatc: QatC) -> None:
        timeouts = 0
        while (number := qatc.next_number(self._terms.qes)) is not None:
            if not self._warmed_up(walk, qatc):
                continue
            qe = self._weigh(walk, qatc, number, number)
            if qe.outcome is Outcome.PLAN_CHANGED:
                self._restart(walk, qatc, self._plan(walk, qatc.cardinality))
                timeouts = 0
                continue
            qatc.done.add(number)
            timeouts += qe.outcome is Outcome.TIMEOUT
            if timeouts == MAX_TIMEOUTS and qatc.answer is None:
                raise QueryTimeout(f"timed out {timeouts} times, and never ended: {qe.error}")
        self._lab.write(lambda recorder: recorder.timed(qatc.id))
        qatc.state = QatCState.TIMED

    def _warmed_up(self, walk: QueryWalk, qatc: QatC) -> bool:
        """False if the plan changed meanwhile: the Q@C has begun anew."""
        done: list[QE] = []
        while len(done) < most_warmup(self._terms.cache) and self._warm != self._warmth(qatc):
            self._observer.say(f"{walk.name} at {qatc.cardinality:,}: warm-up")
            qe = self._weigh(walk, qatc, None, len(done) + 1)
            if qe.outcome is Outcome.PLAN_CHANGED:
                self._restart(walk, qatc, self._plan(walk, qatc.cardinality))
                return False
            done.append(qe)
            if qe.outcome is not Outcome.OK or self._terms.steady(done):
                break
        self._warm = self._warmth(qatc)
        return True

    def _warmth(self, qatc: QatC) -> tuple[int, int, int]:
        return (qatc.id, qatc.attempt, self._rigs.opened)

    # One QE ------------------------------------------------------------------------
    def _weigh(self, walk: QueryWalk, qatc: QatC, number: int | None, turn: int) -> QE:
        """Make a QE until one ends, durable; again where server or statement failed. No number: a warm-up.

        Raises AnswerChanged and WrongAnswer; StatementFailed if it has never worked, or failed ten times in a row."""
        for failures in itertools.count(1):
            self._interrupts.check()
            opened = self._rigs.opened
            try:
                qe = self._rigs.with_rig(lambda rig: self._time(rig, walk, qatc, number, turn))
            except StatementFailed as error:
                failure: TareError = error
            else:
                qe = self._recorded(walk, qatc, number, qe)
                if qe.outcome is not Outcome.FAILED:
                    return qe
                next_step = qe.failure.next_step if qe.failure else ""
                failure = StatementFailed(qe.error or "the statement failed", next_step)
                self._rigs.with_rig(lambda rig: rig.session.explain("SELECT 1"))  # does the server answer?
            lost = self._rigs.opened != opened
            if failures == MAX_TRIES and lost:
                raise ServerLost(
                    f"{walk.name}: the server went away {MAX_TRIES} times in a row: {failure.what}",
                    "see the end of the server's log for what this query does to it",
                )
            if failures == MAX_TRIES or not (lost or walk.has_worked):
                raise failure
            self._observer.say(f"{walk.name}: {failure.what.splitlines()[0]}; try {failures + 1}")
            self._interrupts.sleep(pause_s(failures, FIRST_PAUSE_S))
        raise AssertionError("unreachable")

    def _time(self, rig: Rig, walk: QueryWalk, qatc: QatC, number: int | None, turn: int) -> QE:
        """The one place where an experiment's query is executed. An audit that cannot be had is recorded as
        refused, with the reason: it is beside the counters, and the QE stands without it."""
        rig.auditor = self._auditor if number in self._terms.audit else None
        try:
            return conducted(
                lambda: rig.session,
                self._trial(walk, qatc.cardinality, turn),
                lambda sql: time_single_qe(
                    rig,
                    Query(walk.name, sql),
                    index=self._next_run_order,
                    query_index=walk.number,
                    warmup=number is None,
                    cache=self._terms.cache,
                    timeout_s=self._terms.timeout_s,
                    check_answer=self._check_answer(qatc),
                ),
            )
        finally:
            rig.auditor = None

    def _check_answer(self, qatc: QatC) -> Callable[[Fetched], AnswerCheck]:
        """By the values of the first answer since the run began or was resumed; its hash is compared with the one
        in the lab, if there is one."""
        if not self._terms.work.one_answer:
            return plain_check
        if self._answers is None or self._answers[0] != qatc.id:
            self._answers = (qatc.id, Answers())
        return partial(self._answers[1].check, qatc.id)

    def _trial(self, walk: QueryWalk, cardinality: int, turn: int) -> Trial:
        return self._terms.work.trial(walk.name, walk.sql, self._terms.dbms, cardinality, turn)

    def _recorded(self, walk: QueryWalk, qatc: QatC, number: int | None, qe: QE) -> QE:
        """The QE as it is in the lab: one under another plan, or with another answer, does not count.

        Raises AnswerChanged or WrongAnswer, after it was recorded."""
        answer = (qe.row_count, qe.answer_hash)
        changed = None
        wrong = qe.error if qe.outcome is Outcome.FAILED and qe.answer_hash is not None else None
        if qe.outcome is Outcome.OK and qe.plan_fingerprint != qatc.plan_fingerprint:
            qe = dataclasses.replace(qe, outcome=Outcome.PLAN_CHANGED)
        elif qe.outcome is Outcome.OK and self._terms.work.one_answer and _differ(qatc.answer, answer):
            changed = (
                f"gave {qe.row_count} rows (hash {qe.answer_hash}) after "
                + " rows (hash ".join(map(str, qatc.answer or ()))
                + ")"
            )
            qe = dataclasses.replace(qe, outcome=Outcome.FAILED, error=changed)
        counts = number if qe.outcome in (Outcome.OK, Outcome.TIMEOUT) else None
        qe_id = self._lab.write(lambda recorder: recorder.record(qatc.id, qatc.attempt, counts, qe))
        self._next_run_order += 1
        if qe.outcome is Outcome.OK:
            qatc.answer = answer
        self._observer.recorded(walk, qatc, counts, qe, qe_id)
        if changed is not None:
            raise AnswerChanged(f"{walk.name} {changed}")
        if wrong is not None:
            raise WrongAnswer(
                f"{walk.name} at {qatc.cardinality:,} {wrong}",
                "see the DBMS's list of known errors: its answer is not the query's",
            )
        return qe

    # What goes wrong with it -----------------------------------------------------------
    def _plan(self, walk: QueryWalk, cardinality: int) -> Plan:
        self._interrupts.check()
        sql = self._trial(walk, cardinality, turn=1).sql
        return self._rigs.with_rig(lambda rig: rig.plan(sql))

    def _restart(self, walk: QueryWalk, qatc: QatC, plan: Plan) -> None:
        if qatc.attempt > MAX_RESTARTS:
            raise PlanChanged(f"its plan has changed {qatc.attempt} times (now {plan.fingerprint})")
        self._observer.say(f"{walk.name} at {qatc.cardinality:,}: the plan has changed: its QEs begin anew")
        qatc.attempt = self._lab.write(lambda recorder: recorder.restart(qatc.id, plan))
        qatc.plan_fingerprint = plan.fingerprint
        qatc.done.clear()

    def _miss(self, walk: QueryWalk, why: str) -> None:
        self._lab.write(lambda recorder: recorder.fail_query(walk.id, why))
        walk.error = why

    def _fail(self, walk: QueryWalk, error: TareError) -> None:
        pending = walk.pending
        if pending is not None:
            self._lab.write(lambda recorder: recorder.fail_qatc(pending.id, error.what))
            pending.state = QatCState.FAILED


def _differ(a: Answer | None, b: Answer) -> bool:
    """Whether both could be read and are two answers."""
    return a is not None and a != b and a[1] is not None and b[1] is not None
