"""Twelve runs that nobody may rely on and twelve good ones beside a mild neighbour: every first line must be right.

A good run needs a machine that is otherwise at rest. If processes that this benchmark did not start used more than 5%
of the CPUs, the run is made again.
"""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.common import Figure, arguments, report
from tare._probe import read_process
from tare.dbms.registry import find
from tare.dbms.servers import RunningServer, restart, start_mariadb, start_postgresql
from tare.experiment.target import make_file
from tare.report.kit.blocks import Tone, Verdict
from tare.report.oltp.build import build
from tare.report.oltp.story import story
from tare.workload.oltp.conditions import carry_out
from tare.workload.oltp.conduct import Conductor
from tare.workload.oltp.request import Closed, Constant, Isolation, Load, Phase, Poisson, Request, Run
from tare.workload.oltp.run import OltpRun
from tare.workload.oltp.told import Started, Told
from tare.workload.oltp.verdict import ConnectionsBroke, Unsuccessful

SECONDS = 8
SCALE = 0.01
STRANGERS = 0.05  # of the CPUs: more spoils a good run
ATTEMPTS = 12
CALM_S = 25.0  # at most, before each attempt
HOG = "while True: pass"
MILD = """
import time
while True:
    until = time.perf_counter() + 0.02
    while time.perf_counter() < until:
        pass
    time.sleep(0.08)
"""
_S = 1e9


@dataclass(frozen=True)
class Case:
    """`happens` is called with the server when the measured part is `at_s` old; `is_told`: the finding is there."""

    name: str
    dbms: str
    rate: float | None  # None: closed loop
    is_told: Callable[[OltpRun], bool]
    happens: Callable[[RunningServer], None] | None = None
    at_s: float = 2.5
    neighbours: Sequence[str] = ()
    workload: str = "tatp"
    mix: Mapping[str, float] = field(default_factory=dict)
    connections: int = 4
    tries: int = 3
    isolation: Isolation = Isolation.READ_COMMITTED
    arrivals: type[Constant] | type[Poisson] = Constant
    is_good: bool = False


@dataclass(frozen=True)
class Made:
    case: Case
    text: str  # the first line
    tone: Tone
    is_right: bool
    strangers: float  # share of the CPUs that others than the planted neighbours used
    attempts: int

    @property
    def is_spoilt(self) -> bool:
        return self.case.is_good and self.strangers > STRANGERS


# What is planted ------------------------------------------------------------------------
def gave_up(run: OltpRun) -> bool:
    return any(isinstance(one, Unsuccessful) for one in run.invalid)


def broke(run: OltpRun) -> bool:
    return any(isinstance(one, ConnectionsBroke) for one in run.invalid) and bool(run.restarted)


def froze(run: OltpRun) -> bool:
    return any(one.length_ns >= 1e9 for one in run.freezes)


def was_disturbed(run: OltpRun) -> bool:
    return run.disturbed is not None


def is_clean(run: OltpRun) -> bool:
    return run.is_valid and not run.freezes


def kill_backend(server: RunningServer) -> None:
    """Kill a backend, as the kernel does when memory runs out: PostgreSQL ends all its sessions and recovers."""
    children = Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text().split()
    for child in children:
        if b"127.0.0.1" not in (line := Path(f"/proc/{child}/cmdline").read_bytes()) and b"[local]" in line:
            os.kill(int(child), signal.SIGKILL)
            return


def restart_postgresql(server: RunningServer) -> None:
    restart(server.record)


def kill_mariadb(server: RunningServer) -> None:
    os.kill(server.pid, signal.SIGKILL)
    while Path(f"/proc/{server.pid}").exists():
        time.sleep(0.01)
    start_mariadb(server.directory)


FAILS_IN_POSTGRESQL = (
    "CREATE OR REPLACE FUNCTION conflict() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF random() < 0.25 THEN "
    "RAISE serialization_failure USING MESSAGE = 'planted'; END IF; RETURN NEW; END $$; "
    "CREATE OR REPLACE TRIGGER conflict BEFORE UPDATE ON usertable FOR EACH ROW EXECUTE FUNCTION conflict()"
)
FAILS_IN_MARIADB = (
    "CREATE OR REPLACE TRIGGER conflict BEFORE UPDATE ON usertable FOR EACH ROW IF rand() < 0.25 THEN "
    "SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = 1213, MESSAGE_TEXT = 'planted'; END IF"
)


def conflict(server: RunningServer) -> None:
    """Let a fourth of the updates fail from now on, as conflicts do.

    At a fixed rate PostgreSQL meets none on an idle machine, where no two transactions overlap; InnoDB makes readers
    that will write wait."""
    session = find(server.url).connect(server.url, allow_writes=True)
    session.run(FAILS_IN_POSTGRESQL if server.record.kind == "postgresql" else FAILS_IN_MARIADB)
    session.close()


def freeze(seconds: float) -> Callable[[RunningServer], None]:
    """Stop all processes of the server for so long."""

    def stop(server: RunningServer) -> None:
        children = Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text().split()
        processes = [server.pid, *map(int, children)]
        for number in (signal.SIGSTOP, signal.SIGCONT):
            for process in processes:
                os.kill(process, number)
            if number is signal.SIGSTOP:
                time.sleep(seconds)

    return stop


CONFLICT = {  # ten records, each read and then written
    "workload": "ycsb",
    "mix": {"read_modify_write": 1.0},
    "connections": 16,
    "tries": 1,
    "isolation": Isolation.SERIALIZABLE,
    "is_told": gave_up,
}
HOGS = [HOG] * 2 * (os.cpu_count() or 1)


def bad() -> list[Case]:
    straddles = {"is_told": froze, "at_s": 2.5}
    return [
        Case("conflicts, closed loop", "postgresql", None, **CONFLICT),  # type: ignore[arg-type]
        Case("conflicts, closed loop", "mariadb", None, happens=conflict, **CONFLICT),  # type: ignore[arg-type]
        Case("conflicts, fixed rate", "postgresql", 150, happens=conflict, **CONFLICT),  # type: ignore[arg-type]
        Case("conflicts, fixed rate", "mariadb", 150, happens=conflict, **CONFLICT),  # type: ignore[arg-type]
        Case("a backend is killed", "postgresql", 100, broke, kill_backend),
        Case("restart", "postgresql", None, broke, restart_postgresql),
        Case("killed, started again", "mariadb", 100, broke, kill_mariadb),
        Case("frozen for 1.0 s over two seconds", "postgresql", 100, happens=freeze(1.0), **straddles),  # type: ignore[arg-type]
        Case("frozen for 1.0 s over two seconds", "mariadb", 100, happens=freeze(1.0), **straddles),  # type: ignore[arg-type]
        Case("frozen for 2 s, closed loop", "postgresql", None, froze, freeze(2.0)),
        Case("twice as many busy threads as CPUs", "postgresql", 100, was_disturbed, neighbours=HOGS),
        Case("twice as many busy threads as CPUs", "sqlite", None, was_disturbed, neighbours=HOGS),
    ]


def good() -> list[Case]:
    loads = [(50.0, Constant), (150.0, Constant), (50.0, Poisson), (150.0, Poisson)]
    return [
        Case(
            f"{rate:g}/s, {arrivals().kind}",
            dbms,
            rate,
            is_clean,
            arrivals=arrivals,
            neighbours=[MILD],
            is_good=True,
        )
        for dbms in ("postgresql", "mariadb", "sqlite")
        for rate, arrivals in loads
    ]


# Making them ----------------------------------------------------------------------------
@contextmanager
def server_of(dbms: str) -> Iterator[tuple[str, RunningServer | None]]:
    if dbms == "sqlite":
        with TemporaryDirectory(prefix="tare-verdicts-") as folder:
            file = Path(folder) / "data.db"
            make_file(file, "sqlite")
            yield f"sqlite:///{file}", None
    else:
        with start_mariadb() if dbms == "mariadb" else start_postgresql() as server:
            yield server.url, server


def all_of(cases: Sequence[Case], attempts: int, calm_s: float) -> Iterator[Made]:
    """Servers, one for each DBMS and workload: what a run does to its server is over before the next run."""
    for dbms, workload in dict.fromkeys((one.dbms, one.workload) for one in cases):
        with server_of(dbms) as (url, server):
            carry_out(request(url, Load(connections=2, replace=True), workload, SCALE), lambda _: None)
            for case in cases:
                if (case.dbms, case.workload) == (dbms, workload):
                    yield attempted(case, url, server, attempts, calm_s)


def attempted(case: Case, url: str, server: RunningServer | None, attempts: int, calm_s: float) -> Made:
    for number in range(1, attempts + 1):
        if case.is_good:
            wait_for_calm(calm_s)
        made = make(case, url, server, number)
        if not made.is_spoilt:
            break
    print(f"{'right' if made.is_right else 'WRONG'}: {case.dbms}, {case.name}: {made.text}", file=sys.stderr)
    return made


def make(case: Case, url: str, server: RunningServer | None, number: int) -> Made:
    action = Run(
        connections=case.connections,
        arrivals=Closed() if case.rate is None else case.arrivals(),
        phases=(Phase(rate=case.rate, duration_s=SECONDS),),
        warmup_s=1.0,
        drain_s=20.0,
        shed_after_s=None,
        mix=dict(case.mix),
        isolation=case.isolation,
        tries=case.tries,
        think=0.0,
        norm=2.0,
        samples=None,
    )
    seed = time.time_ns() % 2**31
    with ExitStack() as stack:
        planted = [stack.enter_context(neighbour(program)) for program in case.neighbours]
        before = [cpu_s(pid) for pid in planted]
        began = time.monotonic()
        happening = Happening(case, server)
        run = Conductor(request(url, action, case.workload, None, seed), happening.hear, checks=False).run()
        happening.join()
        used = sum(cpu_s(pid) - cpu for pid, cpu in zip(planted, before, strict=True)) / (
            time.monotonic() - began
        )
    verdict = story(build(run, number, lab="none")).blocks[0]
    assert isinstance(verdict, Verdict)
    is_right = case.is_told(run) and (verdict.tone is Tone.GOOD) is case.is_good
    others = [one.value for one in run.measures if one.name == "others_cpu" and 0 <= one.second < SECONDS - 1]
    mean = sum(others) / len(others) if others else math.nan
    return Made(case, verdict.text, verdict.tone, is_right, (mean - used) / run.machine.online_cpus, number)


class Happening:
    """Run what happens to the server in a thread of its own."""

    def __init__(self, case: Case, server: RunningServer | None) -> None:
        self._case, self._server = case, server
        self._thread: threading.Thread | None = None

    def hear(self, event: Told | None) -> None:
        if isinstance(event, Started) and self._case.happens is not None:
            self._thread = threading.Thread(target=self._happen, args=(event.at_ns,))
            self._thread.start()

    def _happen(self, started_ns: int) -> None:
        assert self._case.happens is not None
        assert self._server is not None
        time.sleep(max(0.0, started_ns / _S + self._case.at_s - time.monotonic()))
        self._case.happens(self._server)

    def join(self) -> None:
        if self._thread is not None:
            self._thread.join()


@contextmanager
def neighbour(program: str) -> Iterator[int]:
    process = subprocess.Popen([sys.executable, "-c", program], start_new_session=True)
    try:
        yield process.pid
    finally:
        process.kill()
        process.wait()


def cpu_s(pid: int) -> float:
    return (read_process(pid).run_ns or 0) / _S


def wait_for_calm(at_most_s: float) -> None:
    """Wait until all CPUs together were idle for 95% of a second."""
    until = time.monotonic() + at_most_s
    while time.monotonic() < until:
        before_s = busy_s()
        time.sleep(1)
        if busy_s() - before_s < STRANGERS * (os.cpu_count() or 1):
            return


def busy_s() -> float:
    fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    user, nice, system = (int(field) for field in fields[:3])
    return (user + nice + system) / os.sysconf("SC_CLK_TCK")


def request(url: str, action: Load | Run, workload: str, scale: float | None, seed: int = 1) -> Request:
    return Request(
        url=url, workload=workload, scale=scale, options={}, seed=seed, connect_timeout_s=10.0, action=action
    )


# What came of them ----------------------------------------------------------------------
def table(made: Sequence[Made]) -> str:
    rows = [
        f"| {one.case.dbms} | {one.case.name} | {'yes' if one.is_right else 'spoilt' if one.is_spoilt else '**no**'} "
        f"| {one.text} |"
        for one in made
    ]
    return "\n".join(("| DBMS | planted | verdict right | first line |", "|---|---|---|---|", *rows))


def figures(made: Sequence[Made]) -> list[Figure]:
    sides = {"runs nobody may rely on": False, "good runs beside a neighbour": True}
    found = []
    for name, is_good in sides.items():
        judged = [one for one in made if one.case.is_good is is_good and not one.is_spoilt]
        wrong = sum(not one.is_right for one in judged)
        found.append(Figure(f"wrong verdicts, {name}", wrong, "", 0, spread=f"of {len(judged)}"))
    spoilt = sum(one.is_spoilt for one in made)
    return [*found, Figure("good runs that strangers spoilt", spoilt, "", math.inf)]


def main() -> None:
    asked = arguments(__doc__ or "", files=("page",), attempts=ATTEMPTS)
    cases = [bad()[7], good()[9]] if asked.small else [*bad(), *good()]
    made = list(all_of(cases, 1 if asked.small else asked.attempts, 0 if asked.small else CALM_S))
    if asked.page:
        asked.page.write_text(table(made) + "\n")
    report(figures(made), asked.json)


if __name__ == "__main__":
    main()
