"""The rig: all that is set up before the first QE and taken down whatever happens."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING

from tare._probe import (
    ExitListener,
    Follower,
    Instructions,
    Probe,
    Timeline,
    count_instructions,
    delay_accounting,
)
from tare.dbms.base import Leader, Plan, Prepared, Role, Session
from tare.errors import PrivilegeMissing, UsageError, cause_and_step
from tare.measure.choices import Tier
from tare.measure.differences import Life
from tare.measure.helpers import Helpers
from tare.measure.namespace import check_namespace
from tare.measure.server_log import ServerLog
from tare.measure.settle import settle

if TYPE_CHECKING:
    from tare.measure.audit import Auditor

TRACE_PATIENCE_S = 0.005


def open_probe(tier: Tier | None = None) -> Probe:
    """The best tier that works, or the one asked for.

    Raises PrivilegeMissing if that does not work, and UsageError where /proc is of another PID namespace."""
    check_namespace()
    try:
        return Probe(tier)
    except OSError as error:
        what, step = cause_and_step(error)
        raise PrivilegeMissing(
            f"the kernel cannot be read here: {what}",
            f"{step + '; or ' if step else ''}leave --tier out; `tare doctor` says what each tier needs",
        ) from error


class Rig:
    """A probe, a session, and the instruments attached to the session's leader.

    `connect` opens the session; it is called again after a server was lost. `twins` are relations that
    are alike, and what either is called in a plan: then a query that goes from one to the other keeps its plan.
    """

    def __init__(
        self,
        connect: Callable[[], Session],
        tier: Tier | None = None,
        twins: Mapping[str, str] | None = None,
    ) -> None:
        self.probe = open_probe(tier)
        self.no_trace = self.no_listener = self.no_instructions = ""
        self.auditor: Auditor | None = None  # see tare.measure.audit
        self.renewed: Callable[[Session], None] = lambda session: None
        """Called with each further session, before it is used: what was set in the earlier one is gone."""
        self.helpers = Helpers()
        self.server_log: ServerLog | None = None  # None for an engine in a process of ours
        self._connect = connect
        self._twins = twins or {}
        self._listener: ExitListener | None = None
        self._follower: Follower | None = None
        self._instructions: Instructions | None = None
        self._prepared: dict[str, Prepared] = {}
        self._session: Session | None = None
        try:
            self._session = connect()
            self._generation = self._session.generation
            self.attach()
        except BaseException:
            self.close()
            raise

    # What the readings are taken with ---------------------------------------
    @property
    def session(self) -> Session:
        assert self._session is not None
        return self._session

    @property
    def leader(self) -> Leader:
        return self._leader

    @property
    def listener(self) -> ExitListener | None:
        return self._listener

    @property
    def no_delay(self) -> str:
        """Why block-I/O delay is unknown; empty where the kernel keeps it."""
        state = delay_accounting()
        if state is None:
            return "this kernel has no delay accounting"
        return "" if state else "kernel.task_delayacct is 0 (root may set it; `tare doctor` tells more)"

    def settle(self) -> None:
        """Waits until the leader rests. A thread that has announced its sleep in /proc may still be on its
        way off the CPU: the trace knows when it is off, if it has not lost track."""
        settle(self._leader.pid, self._leader.tid)
        self.helpers.settle()
        until = time.monotonic() + TRACE_PATIENCE_S
        while (line := self.timeline()) and line.state != "sleep" and time.monotonic() < until:
            time.sleep(TRACE_PATIENCE_S / 50)

    def timeline(self) -> Timeline | None:
        return self._follower.read()[0] if self._follower else None

    def mend_trace(self) -> None:
        """Follows the leader anew if the trace has lost an event: what it adds up may be off for good."""
        if (line := self.timeline()) is not None and not line.trusted:
            self._let_go_of_leader()
            self.attach()

    def instructions(self) -> int | None:
        return self._instructions.read() if self._instructions else None

    def prepared(self, sql: str) -> Prepared:
        """Return the prepared statement of a Q@C, held until the session is another (TTPv2 §3.2.3)."""
        if sql not in self._prepared:
            self._prepared[sql] = self.session.prepare(sql)
        return self._prepared[sql]

    def plan(self, sql: str) -> Plan:
        """The plan that the prepared statement of `sql` runs."""
        return self.session.plan_of(self.prepared(sql), sql).renamed(self._twins)

    def role(self, life: Life) -> Role:
        """Return a process's role in this QE. Descendants of Tare that are not the DBMS's are executors."""
        process = life.latest
        found = None
        if life.before is None and life.after is None:
            found = next((r for e in life.exits if (r := self.session.exit_role(e, self._leader))), None)
        if found is None:
            found = self.session.role(process, self._leader)
        if found is not None:
            return found
        own = os.getpid()
        return Role.EXECUTOR if own in (process.tgid, process.ppid) else Role.DAEMON

    # Instruments on and off ----------------------------------------------------------
    def attach(self) -> None:
        """Puts the instruments on the session's leader. Raises UsageError if it is not known."""
        if self._listener is None:
            self._listen()
        leader = self.session.leader()
        if leader is None and self.session.no_leader:
            raise UsageError(
                f"the thread that answers for this connection is not known: {self.session.no_leader}",
                "connect to the server's own socket or port, and run Tare while the server has less to do",
            )
        if leader is None:
            raise UsageError(
                f"the processes of {self.session.server.url} are not on this machine",
                "run Tare on the server's machine: it weighs processes, which it must see",
            )
        self._leader = leader
        self.server_log = None if leader.whole_process else ServerLog(leader.pid)
        try:
            self._follower = self.probe.follow([leader.tid])
        except OSError as error:
            self.no_trace = cause_and_step(error)[0]
        try:
            self._instructions = count_instructions([leader.pid], self.session.worker_parents(leader))
        except OSError as error:
            self.no_instructions = cause_and_step(error)[0]

    def detach(self) -> None:
        """Takes every instrument off; what was prepared stays prepared."""
        self._let_go_of_leader()
        if self._listener is not None:
            self._listener.stop()
            self._listener = None

    def reattach(self) -> None:
        """Call after the session's leader may have changed (cleared buffers)."""
        self._forget_prepared()
        self._let_go_of_leader()
        self._renew()
        self.attach()

    def reconnect(self) -> None:
        """Opens a new session after a server was lost. Raises what `connect` raises."""
        self._forget_prepared()
        self._let_go_of_leader()
        with suppress(Exception):
            self.session.close()
        self._session = self._connect()
        self._generation = -1
        self._renew()
        self.attach()

    def close(self) -> None:
        self._forget_prepared()
        self.detach()
        if self._session is not None:
            with suppress(Exception):  # a lost server cannot be said goodbye to
                self._session.close()
        self.probe.close()

    def __enter__(self) -> Rig:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # Inside ----------------------------------------------------------------------
    def _listen(self) -> None:
        try:
            self._listener = self.probe.listen()
        except OSError as error:
            self.no_listener = cause_and_step(error)[0]

    def _renew(self) -> None:
        if self.session.generation != self._generation:
            self._generation = self.session.generation
            self.renewed(self.session)

    def _forget_prepared(self) -> None:
        for prepared in self._prepared.values():
            with suppress(Exception):
                prepared.close()
        self._prepared.clear()

    def _let_go_of_leader(self) -> None:
        if self._follower is not None:
            self._follower.stop()
            self._follower = None
        if self._instructions is not None:
            self._instructions.close()
            self._instructions = None
