"""From queries to QEs: warm-up, order of runs, restarts and retries (TTPv2 §3.2.3)."""

from __future__ import annotations

import dataclasses
import math
import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from tare.dbms.base import Plan, Session
from tare.errors import (
    AnswerChanged,
    BadStatement,
    ConnectionFailed,
    PlanChanged,
    QueryTimeout,
    ServerLost,
    StatementFailed,
    StillWaiting,
    TareError,
)
from tare.interruption import deferred
from tare.measure.answers import Answers
from tare.measure.arms import Arm
from tare.measure.backoff import MAX_TRIES, pause_s
from tare.measure.caches import CLEARS_OS, check_state
from tare.measure.choices import AnswerRule, Blocks, CacheState, Clocked
from tare.measure.phases import Phases, run_phase
from tare.measure.qe import time_single_qe
from tare.measure.query import Query
from tare.measure.query_files import QueryFiles, find_files
from tare.measure.records import QE, Outcome
from tare.measure.rig import Rig

MAX_RESTARTS = 3
"""Restarts of a Q@C whose plan keeps changing, before the run is given up."""

MAX_TIMEOUTS = 3
"""Time-outs in a row after which a query's remaining QEs are not tried."""

MAX_WARMUP = 10

RENEWED_WARMUP_S = 0.5
"""Longest warm-up of a query in a later session, unless one QE takes longer: the server's caches are warm by then."""

FAILURES_OF_A_QUERY = (AnswerChanged, BadStatement, PlanChanged, StatementFailed)
"""Errors that leave the server able to run the next query."""

MAX_SEARCHES = 3
"""Untimed executions that look for the files of a query, where some opens were by processes gone too soon."""

Steady = Callable[[Sequence[QE]], bool]


def most_warmup(cache: CacheState) -> int:
    """Untimed QEs before the first timed one, at most. Where one cache is emptied before each run, the other
    one is filled by a first run; where both are, there is nothing to warm."""
    return {CacheState.WARM: MAX_WARMUP, CacheState.COLD: 0}.get(cache, 1)


class Observer(Protocol):
    """Told of progress; never between the clocks."""

    def phase(self, query: Query, what: str) -> None: ...
    def done(self, query: Query, qe: QE) -> None: ...


@dataclass(frozen=True, slots=True)
class Conditions:
    """How the QEs are run. Times in seconds."""

    runs: int = 10
    cache: CacheState = CacheState.WARM
    timeout_s: float | None = None
    phases: Phases = field(default_factory=Phases)
    warmup: int | None = None  # None: until `steady` says so, at most `most_warmup`
    seed: int = 0
    clocked: Clocked = Clocked.EXECUTION
    answer: AnswerRule = AnswerRule.CLOSE
    keeps_going: bool = False  # whether the next query runs after one that failed


class Weigher:
    """Runs QEs and keeps every one of them, in run order, in `qes`."""

    def __init__(
        self,
        arms: Sequence[Arm],
        queries: Sequence[Query],
        conditions: Conditions,
        steady: Steady,
        observer: Observer,
    ) -> None:
        """`arms`: where each query runs, by `Query.arm`."""
        self.qes: list[QE] = []
        self.plans: dict[int, Plan] = {}  # of each query, as its timed QEs ran
        self.failures: dict[int, TareError] = {}
        """Errors that ended a query's runs early, where the run continues (`Conditions.keeps_going`)."""
        self.block_starts: list[int] = []
        """Index of the first QE of each block of an interleaved run."""
        self._arms = arms
        self._queries = queries
        self._conditions = conditions
        self._steady = steady
        self._observer = observer
        self._at = 0  # the query that is being weighed
        for arm in arms:
            arm.rig.renewed = partial(self._renew, arm)
            self._be_patient(arm.rig.session)
        self._files: dict[int, QueryFiles] = {}  # outside the database, of each query
        self._set_up: list[int] = []  # queries whose set-up is done and whose clean-up is not
        self._restarts = [0] * len(queries)
        self._answers = Answers(conditions.answer)
        self.keeps_results = False  # whether a cache of results was on after the set-up of any query
        self._planned: dict[int, Plan] = {}  # of each query, before its last QE
        self._first: dict[int, QE] = {}  # of each query that was judged

    def retained(self, query: int) -> list[QE]:
        """The timed QEs of a query that ended well, in run order."""
        return [qe for qe in self.qes if qe.query == query and not qe.warmup and qe.outcome is Outcome.OK]

    def all_retained(self) -> list[list[QE]]:
        """Retained QEs of each query."""
        return [self.retained(query) for query in range(len(self._queries))]

    def one_after_another(self) -> None:
        """Each query's QEs in quick order, as the protocols want them."""
        with self._cleaning_up():
            for query in range(len(self._queries)):
                try:
                    self._run_all(query)
                except FAILURES_OF_A_QUERY as error:
                    if not self._conditions.keeps_going:
                        raise
                    self.failures[query] = error
                except StillWaiting as error:
                    failure = StillWaiting(f"{self._queries[query].name}: {error.what}", error.next_step)
                    if not self._conditions.keeps_going:
                        raise failure from error
                    self.failures[query] = failure
                    self._rig(query).reconnect()  # an engine that did not heed the interrupt was ended
                if query in self._set_up:
                    self._close(query)

    def _run_all(self, query: int) -> None:
        self._open(query)
        timeouts = 0
        while len(self.retained(query)) + timeouts < self._conditions.runs:
            qe = self._one(query)
            if qe.outcome is Outcome.TIMEOUT:
                timeouts += 1
                if timeouts == MAX_TIMEOUTS and not self.retained(query):
                    break

    def interleaved(
        self,
        enough: Callable[[Sequence[Sequence[QE]]], bool],
        max_rounds: int,
        blocks: Blocks,
        block_rounds: int = 1,
    ) -> None:
        """Rounds in which each query runs once, in an order drawn again for each round. Each block has `block_rounds`.

        `enough` is asked after every round with the retained QEs of each query. Raises UsageError for blocks that need
        a restart of a server that Tare may not restart.
        """
        draw = random.Random(self._conditions.seed)
        order = list(range(len(self._queries)))
        if blocks is Blocks.RESTART:
            for arm in self._arms:
                arm.rig.session.check_restart()
        with self._cleaning_up():
            for query in order:
                self._open(query)
            for number in range(max_rounds):
                if number % block_rounds == 0:
                    if blocks is Blocks.RESTART or (number and blocks is Blocks.SESSION):
                        draw.shuffle(order)
                        self._renew_sessions(order, restarts=blocks is Blocks.RESTART)
                    self.block_starts.append(len(self.qes))
                draw.shuffle(order)
                for query in order:
                    self._one(query)
                if enough(self.all_retained()):
                    break
            for query in range(len(self._queries)):
                self._close(query)

    def check(self) -> None:
        """Prepares every query before any is timed: a mistake in the last one is found first.

        Where a set-up phase makes what the queries need, each is checked after it instead; so it is where the run
        continues after a query that failed.
        Raises BadStatement, and UsageError for a cache that cannot be emptied."""
        for arm in self._arms:
            check_state(arm.rig.session, self._conditions.cache)
        if not self._conditions.phases.setup and not self._conditions.keeps_going:
            with self._quoting_log():
                for query in range(len(self._queries)):
                    self._check(query)

    @contextmanager
    def _cleaning_up(self) -> Iterator[None]:
        """Block after which all that was set up is cleaned up, also if an error ends it, which is raised."""
        try:
            with self._quoting_log():
                yield
        except (TareError, KeyboardInterrupt):
            for query in self._set_up:
                with suppress(TareError):
                    run_phase(self._rig(query).session, "cleanup", self._conditions.phases.cleanup)
            raise

    @contextmanager
    def _quoting_log(self) -> Iterator[None]:
        """Adds to the loss of a server what it wrote into its log."""
        try:
            yield
        except ServerLost as error:
            log = self._rig(self._at).server_log
            if log is not None:
                log.quote(error)
            raise

    def _arm(self, query: int) -> Arm:
        return self._arms[self._queries[query].arm]

    def _rig(self, query: int) -> Rig:
        return self._arm(query).rig

    # One query's beginning and end -------------------------------------------------
    def _check(self, query: int) -> None:
        self._at = query
        rig, sql = self._rig(query), self._queries[query].sql
        self._arm(query).apply(rig.session)
        try:
            rig.prepared(sql)
            rig.plan(sql)  # some mistakes are found no earlier: a parameter left open
        except StatementFailed as error:
            raise self._queries[query].refused(error, rig.session.server.dbms) from error

    def _open(self, query: int) -> None:
        self._at = query
        session = self._rig(query).session
        self._arm(query).state.set_up(session)
        self._set_up.append(query)
        self.keeps_results |= session.keeps_results()
        self._check(query)
        if self._conditions.cache in CLEARS_OS:
            self._files[query] = self._find_files(query)
        self._warm_up(query)

    def _renew_sessions(self, order: Sequence[int], *, restarts: bool) -> None:
        """Begin a block: a fresh session for each arm, in which every query is warmed up before any is timed.

        `restarts`: each server is restarted before, and its queries are warmed up as in the first session.

        `order`: of the queries, drawn for each block, since the one that is warmed up last finds the caches of a CPU
        full of its own."""
        arms = [self._arms[place] for place in dict.fromkeys(self._queries[query].arm for query in order)]
        if restarts:
            self._observer.phase(self._queries[order[0]], "restarting the server")
            _restart_servers(arms)
        for arm in arms:
            with suppress(ConnectionFailed, ServerLost):  # the first QE finds it lost, and tries again
                arm.rig.reconnect()
        for query in order:
            self._warm_up(query, math.inf if restarts else RENEWED_WARMUP_S)

    def _warm_up(self, query: int, most_s: float = math.inf) -> None:
        asked = self._conditions
        done: list[QE] = []
        begin = time.monotonic()
        limit = asked.warmup if asked.warmup is not None else most_warmup(asked.cache)
        while len(done) < limit:
            self._observer.phase(self._queries[query], "warm-up")
            qe = self._one(query, warmup=True)
            done.append(qe)
            is_enough = self._steady(done) or time.monotonic() - begin > most_s
            if qe.outcome is not Outcome.OK or (asked.warmup is None and is_enough):
                break

    def _find_files(self, query: int) -> QueryFiles:
        """By untimed executions: another one while an open may have been missed that the kernel could report."""
        files = self._search(query)
        for _ in range(MAX_SEARCHES - 1):
            if files.complete or files.how != "fanotify":
                break
            files = files.joined(self._search(query))
        return files

    def _search(self, query: int) -> QueryFiles:
        """Execute a query between its phases. A time-out ends it, and the files are those opened until then."""
        asked, sql = self._conditions, self._queries[query]
        self._observer.phase(sql, "finding the files that it reads")
        rig = self._rig(query)
        prepared = rig.prepared(sql.sql)

        def execute() -> None:
            with suppress(QueryTimeout):
                prepared.limit(asked.timeout_s)
                prepared.plan_and_execute(asked.timeout_s)

        run_phase(rig.session, "prepare", asked.phases.prepare)
        try:
            files = find_files(rig.session, rig.leader, execute)
        except StatementFailed as error:
            raise sql.failed(error) from error
        run_phase(rig.session, "conclude", asked.phases.conclude)
        return files

    def _close(self, query: int) -> None:
        self._set_up.remove(query)
        run_phase(self._rig(query).session, "cleanup", self._conditions.phases.cleanup)

    def _be_patient(self, session: Session) -> None:
        """Report waits in the session, and limit them to the time that an execution may take."""
        session.limit_waits(
            self._conditions.timeout_s,
            lambda what: self._observer.phase(self._queries[self._at], what),
        )

    def _renew(self, arm: Arm, session: Session) -> None:
        self._be_patient(session)
        if any(self._arm(query) is arm for query in self._set_up):
            arm.state.renew(session)
        arm.apply(session)

    # One QE, with its restarts and retries ------------------------------------------
    def _one(self, query: int, warmup: bool = False) -> QE:
        for attempt in range(1, MAX_TRIES + 1):
            try:
                qe = self._attempt(query, warmup)
            except (ServerLost, ConnectionFailed) as error:
                self._mend(query, attempt, error)
                continue
            if qe.outcome is not Outcome.FAILED:
                self._judge(query, qe)
                return qe
            failure = self._failure(query, qe)
            if not self.retained(query) or (isinstance(failure, StatementFailed) and not failure.may_pass):
                raise failure  # it has never worked, or does not work again: no use in another try
            self._mend(query, attempt, failure)
        raise ServerLost(
            f"{self._queries[query].name}: gave up after {MAX_TRIES} tries",
            "see the server's log; the QEs so far are kept",
        )

    def _failure(self, query: int, qe: QE) -> TareError:
        """Return the DBMS's error, with the query's name and the place of its mistake."""
        error = qe.failure
        if isinstance(error, StatementFailed):
            return self._queries[query].failed(error)
        if isinstance(error, ServerLost):
            return ServerLost(f"{self._queries[query].name}: {error.what}", error.next_step, code=error.code)
        return TareError(f"{self._queries[query].name}: {qe.error}", error.next_step if error else "")

    def _attempt(self, query: int, warmup: bool) -> QE:
        asked, sql, rig = self._conditions, self._queries[query], self._rig(query)
        self._at = query
        run_phase(rig.session, "prepare", asked.phases.prepare)
        met = rig.session.extent()
        qe = time_single_qe(
            rig,
            sql,
            index=len(self.qes),
            query_index=query,
            warmup=warmup,
            cache=asked.cache,
            timeout_s=asked.timeout_s,
            clocked=asked.clocked,
            check_answer=partial(self._answers.check, query),
            planned=partial(self._planned.__setitem__, query),
            files=self._files.get(query),
        )
        qe = dataclasses.replace(qe, met=met)
        self.qes.append(qe)
        self._observer.done(sql, qe)
        if qe.outcome is not Outcome.FAILED:
            run_phase(rig.session, "conclude", asked.phases.conclude)
        return qe

    def _mend(self, query: int, attempt: int, error: TareError) -> None:
        """Waits, doubling each time, and connects anew. The last failure is raised."""
        if attempt == MAX_TRIES:
            raise error
        pause = pause_s(attempt)
        self._observer.phase(
            self._queries[query], f"{error.what.splitlines()[0]}; try {attempt + 1} in {pause:.2g} s"
        )
        time.sleep(pause)
        try:
            self._rig(query).reconnect()
        except (ConnectionFailed, ServerLost) as refused:
            if attempt + 1 == MAX_TRIES:
                raise ServerLost(
                    f"the server went away and did not come back in {MAX_TRIES} tries: {refused.what}",
                    "start the server again; the QEs so far are kept",
                ) from refused

    def _judge(self, query: int, qe: QE) -> None:
        """The plan and the answer must be those of the Q@C's other QEs."""
        if qe.outcome is Outcome.TIMEOUT:
            return
        if query not in self.plans:
            self.plans[query] = self._planned[query]
        if qe.outcome is Outcome.PLAN_CHANGED or self.plans[query].fingerprint != qe.plan_fingerprint:
            self._restart(query, qe)
            return
        first = self._first.setdefault(query, qe)
        if qe.answer_hash is None or first.answer_hash is None:
            return
        if (first.row_count, first.answer_hash) != (qe.row_count, qe.answer_hash):
            difference = qe.answer.difference if qe.answer else None
            by = "" if difference is None else f"; a floating-point value differs by {difference:.1e} of it"
            raise AnswerChanged(
                f"{self._queries[query].name} gave {_rows(qe)} after {_rows(first)}{by}",
                self._one_answer(may_write=qe.met is not None),
            )

    def _one_answer(self, *, may_write: bool) -> str:
        """Return the next step for a statement whose runs give several answers."""
        bits = "weigh without --answer exact if only last bits differ; "
        back = "put back what a run changes with --prepare or --conclude, or give --runs 1; "
        is_exact = self._conditions.answer is AnswerRule.EXACT
        return (
            f"{bits if is_exact else ''}{back if may_write else ''}give --answer any if the statement has no single "
            "answer: random(), now(), a sample, EXPLAIN ANALYZE, LIMIT without ORDER BY; else see who changes the data "
            "meanwhile"
        )

    def _restart(self, query: int, qe: QE) -> None:
        self._restarts[query] += 1
        name = self._queries[query].name
        if self._restarts[query] > MAX_RESTARTS:
            raise PlanChanged(
                f"{name}: its plan has changed {self._restarts[query]} times (now {qe.plan_fingerprint})",
                "refresh the statistics (ANALYZE), or see what changes the data, then weigh again",
            )
        self._observer.phase(self._queries[query], "the plan has changed: its QEs begin anew")
        is_new = qe.outcome is Outcome.PLAN_CHANGED  # since this QE began
        self.plans[query] = (
            self._rig(query).plan(self._queries[query].sql) if is_new else self._planned[query]
        )
        for position, old in enumerate(self.qes):
            if old.query == query and old.outcome is Outcome.OK and old is not qe:
                self.qes[position] = dataclasses.replace(old, outcome=Outcome.PLAN_CHANGED)


def _restart_servers(arms: Sequence[Arm]) -> None:
    """Restart the server of each arm, once where arms share it. A signal waits until it is back."""
    sessions = [arm.rig.session for arm in arms]
    servers = {session.server.data_directory or session.server.url: session for session in sessions}
    for session in servers.values():
        with deferred():
            session.restart()


def _rows(qe: QE) -> str:
    return f"{qe.row_count} row{'' if qe.row_count == 1 else 's'} (hash {qe.answer_hash})"
