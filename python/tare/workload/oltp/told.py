"""Messages of the driver while it works and at the end: a JSON document a line.

`crates/tare-load/src/oltp/told.rs` writes it. Instants are ns of CLOCK_MONOTONIC, durations ns.
"""

from __future__ import annotations

import json
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from tare.records import TolerantRecord
from tare.workload.oltp.distribution import Distribution
from tare.workload.oltp.verdict import Freeze, Invalid, NotJudged


# What events are made of ----------------------------------------------------------------
class Loaded(TolerantRecord):
    """The marker that a load leaves in the database, in a table `tare_oltp`."""

    workload: str
    scale: float
    seed: int  # of the data
    options: str  # that it was loaded with, and that a run takes where it is given none: JSON, name to text
    complete: bool  # the load came to its end

    @property
    def settings(self) -> dict[str, str]:
        """The options, read."""
        return {str(name): str(value) for name, value in json.loads(self.options or "{}").items()}


class TableLoaded(TolerantRecord):
    table: str
    rows: int


class Own(TolerantRecord):
    """The driver's cost, of its whole process."""

    cpu_ns: int
    peak_rss_bytes: int


class Counts(TolerantRecord):
    """Every arrival ends in exactly one of committed … unstarted; their sum is `offered`."""

    offered: int = 0  # were due; in a closed loop: were started
    started: int = 0  # of these, sent at least once (not a part of the sum)
    committed: int = 0
    rolled_back: int = 0  # as the workload's specification has it
    deadlocks: int = 0  # given up after the last try, by the last try's trouble
    serialization_failures: int = 0
    lock_timeouts: int = 0
    lost: int = 0  # the connection broke; whether it committed is not known
    errors: int = 0
    shed: int = 0  # not sent, for being too late
    unstarted: int = 0  # not sent by the end of the drain
    retried_deadlock: int = 0  # tries beyond the first, by their cause (not a part of the sum)
    retried_serialization: int = 0
    retried_lock_timeout: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(**{name: getattr(self, name) + getattr(other, name) for name in Counts.model_fields})

    @property
    def finished(self) -> int:
        """Ended as the workload's specification has it."""
        return self.committed + self.rolled_back

    @property
    def given_up(self) -> int:
        """Sent, and not brought to such an end."""
        return self.deadlocks + self.serialization_failures + self.lock_timeouts + self.lost + self.errors

    @property
    def retried(self) -> int:
        return self.retried_deadlock + self.retried_serialization + self.retried_lock_timeout


class Quick(TolerantRecord):
    """A distribution in short, ns."""

    mean: float
    p50: int
    p95: int
    p99: int
    max: int


class OfType(TolerantRecord):
    """Type of transaction, or all. Times are of those that were committed or rolled back as specified."""

    name: str
    counts: Counts
    response: Distribution  # from the intended start (closed loop: the real one) to the end
    service: Distribution  # from the real start of the first try to the end
    lag: Distribution  # from the intended start to the real one; empty in a closed loop


# Events -------------------------------------------------------------------------------------
class Found(TolerantRecord):
    """Content of the database, before anything is done with it."""

    event: Literal["found"] = "found"
    loaded: Loaded | None


class Loading(TolerantRecord):
    event: Literal["loading"] = "loading"
    rows: int
    of: int  # about
    table: str  # last added to


class LoadDone(TolerantRecord):
    event: Literal["load_done"] = "load_done"
    loaded: Loaded
    tables: tuple[TableLoaded, ...]
    rows_ns: int  # rows alone
    all_ns: int  # with keys, indexes and statistics
    own: Own


class Checked(TolerantRecord):
    """A condition and what it found."""

    event: Literal["checked"] = "checked"
    name: str  # as the workload numbers it
    says: str  # what must hold
    failing: int  # rows where it does not
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]  # the first failing ones
    took_ns: int


class CheckDone(TolerantRecord):
    event: Literal["check_done"] = "check_done"
    took_ns: int


class Dropped(TolerantRecord):
    event: Literal["dropped"] = "dropped"


class Connected(TolerantRecord):
    """Every connection is open; warm-up begins."""

    event: Literal["connected"] = "connected"
    server: str
    isolation: str  # at work, in the DBMS's words


class Started(TolerantRecord):
    """The measured part begins."""

    event: Literal["started"] = "started"
    at_ns: int  # when its first arrival may be due


class Second(TolerantRecord):
    """A second is over. Warm-up has numbers below 0."""

    event: Literal["second"] = "second"
    number: int
    phase: int
    counts: Counts  # `offered` by when it was due, all else by when it happened
    backlog: int  # due and not started at its end
    running: int  # in the DBMS at its end
    response: Quick | None  # of those that ended in it, from the intended start
    service: Quick | None
    own_cpu_ns: int


class Trouble(TolerantRecord):
    """A connection was lost, or made again."""

    event: Literal["trouble"] = "trouble"
    at_ns: int  # since the start; negative: warm-up
    text: str


class Outcome(TolerantRecord):
    """A run, whole: its last line."""

    event: Literal["run_done"] = "run_done"
    started_ns: int
    took_ns: int  # to the end of the last transaction
    intended_rate: float | None  # transactions a second; None: closed loop
    rate: float  # started over the schedule's length
    sustained_rate: float | None = None  # of these, successful; None: an earlier version did not count them
    invalid: tuple[Invalid, ...]  # why the run is not valid
    not_judged: tuple[NotJudged, ...] = ()  # what it is too short to show
    freezes: tuple[Freeze, ...] | None = None  # in order; None: an earlier version did not look for them
    types: tuple[OfType, ...]  # in numbering order
    all: OfType
    warmup_ns: int
    warmup: Counts
    reconnects: int
    own: Own  # of the measured part
    mix: tuple[float, ...]  # as used
    samples: int  # rows of the samples' file


class Failed(TolerantRecord):
    """The last line of whatever cannot go on."""

    event: Literal["failed"] = "failed"
    what: str
    next: str
    usage: bool  # the request was at fault, not the run


Told = Annotated[
    Found
    | Loading
    | LoadDone
    | Checked
    | CheckDone
    | Dropped
    | Connected
    | Started
    | Second
    | Trouble
    | Outcome
    | Failed,
    Field(discriminator="event"),
]
LAST = (LoadDone, CheckDone, Dropped, Outcome, Failed)
"""Nothing is told after one of these."""

_LINE: TypeAdapter[Told] = TypeAdapter(Told)


def read(line: str | bytes) -> Told:
    """Raises ValueError for what is no line of the driver."""
    return _LINE.validate_json(line)
