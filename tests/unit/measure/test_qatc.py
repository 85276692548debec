"""The engine's decisions (TTPv2 §3.2.3), the same whether a Q@C is kept in memory or in a lab."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tare.dbms.base import Plan
from tare.dbms.registry import find
from tare.errors import AnswerChanged, PlanChanged, QueryTimeout, ServerLost, StatementFailed, TareError
from tare.experiment.lab_keeper import LabKeeper
from tare.experiment.visits import LabSink, Visited
from tare.experiment.walk import QatC, QueryWalk
from tare.experiment.work import Work
from tare.interruption import Interrupts
from tare.lab.hold import held
from tare.lab.progress import progress
from tare.lab.states import QatCState
from tare.lab.store import open_lab
from tare.measure.arms import Arm
from tare.measure.backoff import Patience
from tare.measure.phases import Phases
from tare.measure.qatc import MAX_RESTARTS, QatCEngine, Terms, TimeQE
from tare.measure.query import Query
from tare.measure.records import QE, Outcome
from tare.measure.rig import Rig
from tare.measure.rig_keeper import RigKeeper
from tare.measure.weigh import MemorySink, Weighed
from tests.unit.lab.filling import begun
from tests.unit.lab.raw import raw
from tests.unit.protocol.qe_records import qe

SQL = {"A": "SELECT count(*) FROM numbers", "B": "SELECT grp, count(*) FROM numbers GROUP BY grp"}
"""Two statements with different plans, in the place of one whose plan changes."""


@dataclass(frozen=True)
class Execution:
    """How an execution of the script ends. `kills`: the engine's process is gone after it."""

    plan: str = "A"
    answer: str = "5f1e"
    outcome: Outcome = Outcome.OK
    kills: bool = False
    raises: str | None = None
    is_lost: bool = False  # the session is gone before anything ran


OK = Execution()
OTHER = Execution(plan="B")
LATE = Execution(outcome=Outcome.TIMEOUT)
FAILED = Execution(outcome=Outcome.FAILED)
KILLED = Execution(outcome=Outcome.FAILED, kills=True)
LOST = Execution(is_lost=True)
REFUSED = Execution(raises="no such function")


@dataclass
class Script:
    executions: Sequence[Execution]
    done: list[Execution] = field(default_factory=list)

    def sql(self) -> str:
        """The statement whose plan the last execution showed."""
        return SQL[self.done[-1].plan if self.done else "A"]

    def execute(self, rig: Rig, time_qe: Any, subject: Any) -> QE:
        now = self.executions[len(self.done)]
        self.done.append(now)
        if now.kills:
            os.kill(rig.leader.pid, signal.SIGKILL)
        if now.raises:
            raise StatementFailed(now.raises)
        if now.is_lost:
            raise ServerLost("the server is gone")
        reading, record = raw(len(self.done))
        answered = now.outcome is Outcome.OK
        return qe(
            len(self.done) - 1,
            **{
                **record,
                "raw": reading,
                "outcome": now.outcome,
                "error": None if answered else "it did not end well",
                "answer_hash": now.answer if answered else None,
                "plan_fingerprint": rig.plan(SQL[now.plan]).fingerprint if not now.kills else None,
            },
        )


class InMemory(Weighed):
    script: Script

    def sql(self, turn: int) -> str:
        return self.script.sql()

    def execute(self, rig: Rig, turn: int, time_qe: TimeQE) -> QE:
        return self.script.execute(rig, time_qe, self)


class InLab(Visited):
    script: Script

    def sql(self, turn: int) -> str:
        return self.script.sql()

    def execute(self, rig: Rig, turn: int, time_qe: TimeQE) -> QE:
        return self.script.execute(rig, time_qe, self)


class Silent:
    def say(self, what: str) -> None: ...
    def done(self, query: Query, qe: QE) -> None: ...
    def recorded(self, *words: object) -> None: ...
    def visited(self, walk: QueryWalk) -> None: ...


class Spy:
    """A sink that also notes attempt, number and outcome of each QE, and what is said."""

    def __init__(self, inner: Any) -> None:
        self.inner, self.kept, self.said = inner, [], []  # type: ignore[var-annotated]

    def record(self, subject: Any, number: int | None, qe: QE, changed: str | None = None) -> None:
        self.inner.record(subject, number, qe, changed)
        self.kept.append((subject.progress.attempt, number, qe.outcome.value))

    def restart(self, subject: Any, plan: Plan) -> int:
        attempt = self.inner.restart(subject, plan)
        assert isinstance(attempt, int)
        return attempt

    def say(self, subject: Any, what: str) -> None:
        self.said.append(what)


@dataclass
class Bench:
    engine: QatCEngine[Any]
    subject: Any
    sink: Spy
    pauses: list[str]


@contextmanager
def bench(kind: str, url: str, folder: Path, terms: Terms, script: Script) -> Iterator[Bench]:
    pauses: list[str] = []
    patience = Patience(Interrupts(), pauses.append, 0.0001)
    with RigKeeper(lambda: find(url).connect(url), patience) as rigs:
        plan = rigs.open().plan(SQL["A"])
        if kind == "memory":
            subject: Any = InMemory(
                label="q", query_index=0, query=Query("q", "unused"), phases=Phases(), arm=Arm("A", rigs)
            )
            subject.progress.plan_fingerprint, subject.plan = plan.fingerprint, plan
            context: Any = nullcontext(MemorySink(Silent()))
        else:
            context = lab_sink(folder, patience, plan)
            subject = None
        with context as made:
            sink = Spy(made if subject is not None else made[0])
            subject = subject if subject is not None else made[1]
            subject.script = script
            yield Bench(
                QatCEngine(terms, rigs, sink, lambda qes: len(qes) == 2, patience), subject, sink, pauses
            )


@contextmanager
def lab_sink(folder: Path, patience: Patience, plan: Plan) -> Iterator[tuple[LabSink, InLab]]:
    with open_lab(str(folder / "lab.db"), create=True) as lab:
        recorder, run_id, qatc_id = begun(lab)
        recorder.restart(qatc_id, plan)  # no QE yet: its first attempt
        found = progress(lab, run_id).queries[0]
        qatc = QatC(qatc_id, 0, 100, QatCState.PENDING, plan_fingerprint=plan.fingerprint)
        walk = QueryWalk(found.id, 0, found.name, found.sql, visits=[qatc])
        work: Any = Work
        with held(lab, run_id) as hold:
            yield (
                LabSink(LabKeeper(recorder, hold, patience), Silent()),
                InLab(label="q at 100", query_index=0, progress=qatc, work=work, dbms="it", walk=walk),
            )


COLD = Terms(runs=3, warmup=0)
WARM = Terms(runs=2)


@pytest.mark.parametrize("kind", ["memory", "lab"])
@pytest.mark.parametrize(
    ("terms", "executions", "kept"),
    [
        pytest.param(COLD, [OK] * 3, "1:1=ok 1:2=ok 1:3=ok", id="in quick order"),
        pytest.param(
            WARM, [OK] * 4, "1:-=ok 1:-=ok 1:1=ok 1:2=ok", id="warmed up until the times are steady"
        ),
        pytest.param(
            WARM, [LATE, OK, OK], "1:-=timeout 1:1=ok 1:2=ok", id="a warm-up that does not end is the last"
        ),
        pytest.param(
            WARM,
            [OK, OK, OK, OTHER, *[OTHER] * 4],
            "1:-=ok 1:-=ok 1:1=ok 1:-=plan-changed 2:-=ok 2:-=ok 2:1=ok 2:2=ok",
            id="another plan restarts the Q@C, warm-up and all",
        ),
        pytest.param(
            WARM,
            [OTHER] * 5,
            "1:-=plan-changed 2:-=ok 2:-=ok 2:1=ok 2:2=ok",
            id="another plan in the warm-up restarts it too",
        ),
        pytest.param(
            COLD,
            [OK, LATE, LATE, LATE, *[OK] * 2],
            "1:1=ok 1:2=timeout 1:3=timeout",
            id="time-outs count where the query has ended once",
        ),
        pytest.param(
            COLD, [OK, FAILED, OK, OK], "1:1=ok 1:-=failed 1:2=ok 1:3=ok", id="what has worked is tried again"
        ),
        pytest.param(
            WARM,
            [OK, OK, OK, KILLED, OK, OK, OK],
            "1:-=ok 1:-=ok 1:1=ok 1:-=failed 1:-=ok 1:-=ok 1:2=ok",
            id="a killed engine is opened again, and its caches are warmed",
        ),
        pytest.param(
            WARM,
            [OK, OK, OK, LOST, OK, OK, OK, OK],
            "1:-=ok 1:-=ok 1:1=ok 1:-=ok 1:-=ok 1:-=ok 1:2=ok",
            id="what runs first in the session after a lost one is a warm-up",
        ),
        pytest.param(COLD, [KILLED, OK, OK, OK], "1:-=failed 1:1=ok 1:2=ok 1:3=ok", id="killed at once"),
    ],
)
def test_what_counts_and_what_is_run_again(
    kind: str,
    terms: Terms,
    executions: Sequence[Execution],
    kept: str,
    sqlite_url: str,
    tmp_path: Path,
) -> None:
    with bench(kind, sqlite_url, tmp_path, terms, Script(executions)) as it:
        it.engine.complete(it.subject)
    assert " ".join(f"{a}:{number or '-'}={outcome}" for a, number, outcome in it.sink.kept) == kept


def test_a_session_in_place_of_a_closed_one_is_warmed_before_it_is_timed(
    sqlite_url: str, tmp_path: Path
) -> None:
    with bench("memory", sqlite_url, tmp_path, WARM, Script([OK] * 6)) as it:
        it.engine.advance(it.subject)
        it.subject.rigs.close()
        it.engine.advance(it.subject)
    assert [number for _, number, _ in it.sink.kept] == [None, None, 1, None, None, 2]


@pytest.mark.parametrize("kind", ["memory", "lab"])
@pytest.mark.parametrize(
    ("executions", "error", "said", "kept"),
    [
        pytest.param([LATE] * 3, QueryTimeout, "timed out 3 times", 3, id="it never ends in time"),
        pytest.param([FAILED], StatementFailed, "did not end well", 1, id="it has never worked"),
        pytest.param([REFUSED], StatementFailed, "no such function", 0, id="it is refused"),
        pytest.param(
            [OK, *[FAILED] * 10], StatementFailed, "did not end well", 11, id="ten failures in a row"
        ),
        pytest.param(
            [OK, *[REFUSED] * 10], StatementFailed, "no such function", 1, id="ten refusals in a row"
        ),
        pytest.param([KILLED] * 10, ServerLost, "went away 10 times in a row", 10, id="it kills the server"),
        pytest.param(
            [OTHER, OK] * MAX_RESTARTS, PlanChanged, "changed 4 times", 4, id="its plan keeps changing"
        ),
        pytest.param(
            [OK, Execution(answer="b")], AnswerChanged, r"\(hash b\) after 1 rows", 2, id="another answer"
        ),
    ],
)
def test_what_a_qatc_is_given_up_for(
    kind: str,
    executions: Sequence[Execution],
    error: type[TareError],
    said: str,
    kept: int,
    sqlite_url: str,
    tmp_path: Path,
) -> None:
    with (
        bench(kind, sqlite_url, tmp_path, COLD, Script(executions)) as it,
        pytest.raises(error, match=said),
    ):
        it.engine.complete(it.subject)
    assert len(it.sink.kept) == kept


def test_each_pause_doubles_and_is_announced(sqlite_url: str, tmp_path: Path) -> None:
    script = Script([OK, *[FAILED] * 3, OK, OK])
    with bench("memory", sqlite_url, tmp_path, COLD, script) as it:
        it.engine.complete(it.subject)
    assert [said.partition("; ")[2] for said in it.pauses] == [
        "try 2 in 0.0001 s",
        "try 3 in 0.0002 s",
        "try 4 in 0.0004 s",
    ]


def test_a_restart_strikes_what_was_kept_in_memory(sqlite_url: str, tmp_path: Path) -> None:
    with bench("memory", sqlite_url, tmp_path, COLD, Script([OK, *[OTHER] * 4])) as it:
        it.engine.complete(it.subject)
        outcomes = [qe.outcome.value for qe in it.sink.inner.qes]
    assert outcomes == ["plan-changed", "plan-changed", "ok", "ok", "ok"]
