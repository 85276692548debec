"""Parts that the transactional benchmarks share: the driver as `tare bench oltp` calls it, and its events."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from tare.dbms.servers import start_mariadb, start_postgresql
from tare.experiment.target import make_file
from tare.workload.oltp.child import Driver
from tare.workload.oltp.conditions import LOOK_S, Conditions, carry_out, check, last_of
from tare.workload.oltp.measures import Watch
from tare.workload.oltp.request import (
    Check,
    Closed,
    Constant,
    Isolation,
    Load,
    Phase,
    Poisson,
    Request,
    Run,
)
from tare.workload.oltp.told import Connected, LoadDone, Outcome, Started, Told

CONNECTIONS = 4  # that load: what `tare bench oltp load` takes
DBMSES = ("postgresql", "mariadb", "sqlite")
NAMED = 100  # failing rows of a condition, at most

Hear = Callable[[int, Told | None], None]
"""Is called with the driver's process id and an event; with None when none has come for LOOK_S."""


@contextmanager
def empty(dbms: str) -> Iterator[str]:
    """The URL of a new database, gone afterwards. A server has the settings that Tare gives it for `--db NAME`."""
    if dbms == "sqlite":
        with TemporaryDirectory(prefix="tare-oltp-") as folder:
            file = Path(folder) / "data.db"
            make_file(file, "sqlite")
            yield f"sqlite:///{file}"
    else:
        with start_mariadb() if dbms == "mariadb" else start_postgresql() as server:
            yield server.url


def load(url: str, warehouses: int) -> LoadDone:
    events = carry_out(request(url, Load(connections=CONNECTIONS, replace=True), warehouses), lambda _: None)
    return last_of(events, LoadDone)


def conditions(url: str) -> Conditions:
    return check(request(url, Check(rows=NAMED)), lambda _: None)


def send(url: str, run: Run, hear: Hear = lambda _pid, _event: None) -> Outcome:
    """A run as a user has it: the server is watched, second by second."""
    with ExitStack() as stack:
        driver = stack.enter_context(Driver(request(url, run)))
        watch = Watch(url, driver.pid)
        for event in driver.told(LOOK_S):
            if isinstance(event, Connected):
                stack.enter_context(watch)
            elif isinstance(event, Started):
                watch.started(event.at_ns)
            hear(driver.pid, event)
            if isinstance(event, Outcome):
                return event
    raise SystemExit("the driver ended without a result")


def closed(connections: int, seconds: float, warmup_s: float, samples: Path | None = None) -> Run:
    phase = Phase(rate=None, duration_s=seconds)
    return _run(Closed(), phase, connections, warmup_s, samples)


def constant(
    rate: float, connections: int, seconds: float, warmup_s: float, samples: Path | None = None
) -> Run:
    return _run(Constant(), Phase(rate=rate, duration_s=seconds), connections, warmup_s, samples)


def poisson(rate: float, connections: int, seconds: float, warmup_s: float, samples: Path | None) -> Run:
    return _run(Poisson(), Phase(rate=rate, duration_s=seconds), connections, warmup_s, samples)


def _run(
    arrivals: Closed | Constant | Poisson,
    phase: Phase,
    connections: int,
    warmup_s: float,
    samples: Path | None,
) -> Run:
    return Run(
        connections=connections,
        arrivals=arrivals,
        phases=(phase,),
        warmup_s=warmup_s,
        drain_s=10.0,
        shed_after_s=None,
        mix={},
        isolation=Isolation.READ_COMMITTED,
        tries=3,
        think=0.0,
        norm=2.0,
        samples=str(samples) if samples else None,
    )


def request(url: str, action: Load | Check | Run, scale: float | None = None) -> Request:
    return Request(
        url=url, workload="tpcc", scale=scale, options={}, seed=1, connect_timeout_s=10.0, action=action
    )
