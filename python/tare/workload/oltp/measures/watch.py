"""Watching a server during a run. That it cannot be measured, or is gone for a while, is told and ends no run."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from types import TracebackType

from tare._probe import Process
from tare.dbms.base import Leader, Session
from tare.dbms.registry import find
from tare.dbms.url import scheme_of
from tare.errors import QueryTimeout, TareError
from tare.measure.rig import open_probe
from tare.workload.oltp.measures import kernel, mariadb, others, postgresql
from tare.workload.oltp.measures.kernel import Crew, ServerProcesses
from tare.workload.oltp.measures.others import Others
from tare.workload.oltp.measures.reading import Ticker, measures
from tare.workload.oltp.measures.statistics import Statistics, View
from tare.workload.oltp.run import Measure

ANSWER_S = 1.0  # a view that takes longer is given up for this second
CONNECT_S = 2.0
_END_S = 2.0


class Watch:
    """Within its block readings are taken, once a second."""

    def __init__(self, url: str, driver_pid: int) -> None:
        self._url = url
        self._driver_pid = driver_pid
        self._probe = open_probe()
        self._processes = ServerProcesses()
        self._others = Others()
        self._elsewhere = False  # the server is on another machine
        self._crew: Crew | None = None
        self._session: Session | None = None
        self._statistics: Statistics | None = None
        self._missed = 0  # readings of the statistics
        self._why: dict[str, str] = {}
        self._tickers = [Ticker("tare-kernel", self._read_kernel)]
        if scheme_of(url) == "sqlite":
            self._crew = Crew(lambda process: process.tgid == driver_pid)
        else:
            self._tickers.append(Ticker("tare-statistics", self._read_statistics))

    def __enter__(self) -> Watch:
        for ticker in self._tickers:
            ticker.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        at_once = kind is not None and not issubclass(kind, Exception)  # a second Ctrl-C waits for no server
        ended = [ticker.stop(0 if at_once else _END_S) for ticker in self._tickers]
        if all(ended):  # else a thread is still at it, and ends with us
            self._leave()
            self._probe.close()

    def started(self, at_ns: int) -> None:
        """The measured part begins at `at_ns`."""
        for ticker in self._tickers:
            ticker.align(at_ns)

    # What was seen ------------------------------------------------------------------------
    def measures(self, started_ns: int) -> tuple[Measure, ...]:
        found = [one for ticker in self._tickers for one in measures(list(ticker.readings), started_ns)]
        return tuple(sorted(found, key=lambda one: (one.second, one.name)))

    @property
    def unmeasured(self) -> dict[str, str]:
        """Why something is missing, by the name of its measure or its source."""
        why = {**self._processes.unread, **self._why}
        if self._statistics is not None:
            why |= self._statistics.refused
        if self._missed:
            last = why.get("statistics", "")
            missing = "a reading is" if self._missed == 1 else f"{self._missed} readings are"
            why["statistics"] = f"{missing} missing" + (f": {last}" if last else "")
        return why

    # Sources --------------------------------------------------------------------------------
    def _read_kernel(self) -> dict[str, float] | None:
        crew = self._crew
        values: dict[str, float] = kernel.tare(crew)
        try:
            processes = self._probe.processes().processes()
            total = self._probe.machine().total
            values |= kernel.machine(total)
            if crew is not None:
                values |= self._processes.read(crew, processes)
            driver = next((one for one in processes if one.tgid == self._driver_pid), None)
            if driver is not None and not (crew and crew.belongs(driver)):
                values |= others.driver(driver)
            if crew is not None or self._elsewhere:
                values |= self._others.read(total, processes, lambda one: self._is_ours(one, crew))
        except (OSError, TareError) as error:
            self._why["kernel"] = str(error)
        return values

    def _is_ours(self, process: Process, crew: Crew | None) -> bool:
        if process.tgid in (self._driver_pid, os.getpid()):
            return True
        return crew is not None and (
            crew.belongs(process) or (crew.session is not None and process.tgid == crew.session[0])
        )

    def _read_statistics(self) -> dict[str, float] | None:
        try:
            if self._statistics is None:
                self._meet()
            assert self._statistics is not None
            return self._statistics.read()
        except QueryTimeout:
            self._miss(f"the server did not answer within {ANSWER_S:g} s")
        except TareError as error:
            self._miss(error.what)
            self._leave()
        return None

    def _miss(self, why: str) -> None:
        self._missed += 1
        self._why["statistics"] = " ".join(why.split())

    def _meet(self) -> None:
        session = find(self._url).connect(self._url, timeout_s=CONNECT_S)
        self._session = session
        statistics = Statistics(session, _views(session), ANSWER_S)
        leader = session.leader()
        if leader is None:
            self._why["server_processes"] = (
                "the server's processes are not on this machine, or not to be seen"
            )
            self._elsewhere = not session.server.local
            if not self._elsewhere:
                self._why["others_cpu"] = "the server's processes cannot be told from others"
        else:
            self._processes.forget()
            self._crew = _crew(session, leader)
        self._statistics = statistics

    def _leave(self) -> None:
        self._crew = self._crew if self._session is None else None
        self._statistics = None
        if self._session is not None:
            with suppress(TareError):
                self._session.close()
            self._session = None


def _crew(session: Session, leader: Leader) -> Crew:
    return Crew(lambda process: session.role(process, leader) is not None, (leader.pid, leader.tid))


def _views(session: Session) -> Sequence[View]:
    server = session.server
    if server.dbms == "postgresql":
        return postgresql.views(int(server.version.split(".")[0].split()[0]))
    return mariadb.views() if server.dbms in ("mariadb", "mysql") else ()
