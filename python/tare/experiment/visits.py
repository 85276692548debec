"""Visits a run's Q@Cs: looks at the plan of each, times it if the scenario does, and records QE by QE."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from tare.dbms.base import Plan
from tare.errors import AnswerChanged, BadStatement, PlanChanged, QueryTimeout, StatementFailed, TareError
from tare.experiment.lab_keeper import LabKeeper
from tare.experiment.scenario.base import Scenario
from tare.experiment.trial import conduct_trial
from tare.experiment.walk import Observer, QatC, QueryWalk
from tare.experiment.work import Trial, Work
from tare.lab.states import QatCState
from tare.measure.answer import FirstAnswer
from tare.measure.qatc import QatCEngine, Subject, TimeQE
from tare.measure.records import QE, Outcome
from tare.measure.rig import Rig


@dataclass(kw_only=True)
class Visited(Subject):
    """Q@C of an experiment: a trial of its work for each QE."""

    work: Work
    dbms: str
    walk: QueryWalk
    progress: QatC

    @property
    def has_worked(self) -> bool:
        return self.walk.has_worked

    def sql(self, turn: int) -> str:
        return self._trial(turn).sql

    def execute(self, rig: Rig, turn: int, time_qe: TimeQE) -> QE:
        return conduct_trial(lambda: rig.session, self._trial(turn), time_qe)

    def _trial(self, turn: int) -> Trial:
        return self.work.trial(self.walk.name, self.walk.sql, self.dbms, self.progress.cardinality, turn)


class LabSink:
    """Keeps QEs in the lab: each is durable before the next one starts."""

    def __init__(self, lab: LabKeeper, observer: Observer) -> None:
        self._lab = lab
        self._observer = observer

    def record(self, subject: Visited, number: int | None, qe: QE, changed: str | None = None) -> None:
        qatc = subject.progress
        if changed is not None:
            qe = dataclasses.replace(qe, outcome=Outcome.FAILED, error=changed)
        qe_id = self._lab.write(lambda recorder: recorder.record(qatc.id, qatc.attempt, number, qe))
        self._observer.recorded(subject.walk, qatc, number, qe, qe_id)

    def restart(self, subject: Visited, plan: Plan) -> int:
        return self._lab.write(lambda recorder: recorder.restart(subject.progress.id, plan))

    def say(self, subject: Visited, what: str) -> None:
        self._observer.say(f"{subject.label}: {what}")


class Visits:
    """Visits Q@Cs one by one. Errors of a query or a Q@C are recorded, and the run continues.

    Raises ServerLost, WrongAnswer, CacheNotCleared, LabError and Interrupted: then the run pauses."""

    def __init__(
        self,
        work: Work,
        dbms: str,
        scenario: Scenario,
        engine: QatCEngine[Visited],
        lab: LabKeeper,
        observer: Observer,
    ) -> None:
        self._work = work
        self._dbms = dbms
        self._scenario = scenario
        self._engine = engine
        self._lab = lab
        self._observer = observer

    def miss_lacking(self, walks: Sequence[QueryWalk]) -> None:
        """Lists as missing the queries that this DBMS cannot run at all."""
        for walk in walks:
            why = self._work.lacking(walk.name, self._dbms)
            if why is not None and walk.error is None:
                self._miss(walk, why)
                self._observer.visited(walk)

    def visit(self, walk: QueryWalk, cardinality: int) -> None:
        """The next visit of a walk; the variable table has this cardinality."""
        try:
            self._visit(walk, cardinality)
        except (PlanChanged, AnswerChanged, QueryTimeout) as error:
            self._fail(walk, error)
        except (BadStatement, StatementFailed) as error:
            if walk.has_worked and walk.pending is None:
                raise  # no plan at one cardinality of many: the server is at fault
            self._fail(walk, error)
            if not walk.has_worked:
                self._miss(walk, error.what)
        self._observer.visited(walk)

    def _visit(self, walk: QueryWalk, cardinality: int) -> None:
        first = self._work.trial(walk.name, walk.sql, self._dbms, cardinality, turn=1)
        plan = self._engine.plan(first.sql)
        qatc = walk.pending or self._enter(walk, cardinality, plan)
        subject = Visited(
            label=f"{walk.name} at {cardinality:,}",
            query_index=walk.number,
            progress=qatc,
            work=self._work,
            dbms=self._dbms,
            walk=walk,
            first_answer=FirstAnswer(recorded=qatc.answer) if self._work.one_answer else None,
        )
        if qatc.plan_fingerprint != plan.fingerprint:
            self._engine.restart(subject, plan)
        if qatc.timed:
            self._engine.complete(subject)
            self._lab.write(lambda recorder: recorder.timed(qatc.id))
            qatc.state = QatCState.TIMED

    def _enter(self, walk: QueryWalk, cardinality: int, plan: Plan) -> QatC:
        """Adds a Q@C to the walk, in the lab too."""
        timed = self._scenario.is_timed(plan.fingerprint, walk.seen())
        visit = len(walk.visits)
        qatc_id = self._lab.write(lambda recorder: recorder.visit(walk.id, visit, cardinality, plan, timed))
        state = QatCState.PENDING if timed else QatCState.SAME_PLAN
        qatc = QatC(qatc_id, visit, cardinality, state, plan_fingerprint=plan.fingerprint)
        walk.visits.append(qatc)
        return qatc

    def _miss(self, walk: QueryWalk, why: str) -> None:
        self._lab.write(lambda recorder: recorder.fail_query(walk.id, why))
        walk.error = why

    def _fail(self, walk: QueryWalk, error: TareError) -> None:
        pending = walk.pending
        if pending is not None:
            self._lab.write(lambda recorder: recorder.fail_qatc(pending.id, error.what))
            pending.state = QatCState.FAILED
