"""Events that the driver reports while it works and at the end: a JSON document a line.

`crates/tare-load/src/oltp/events.rs` writes them; a test compares both sides field by field. Instants are ns of
CLOCK_MONOTONIC, durations ns.
"""

from __future__ import annotations

import json
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from tare.workload.oltp.counts import COUNTS, CountFields, Role
from tare.workload.oltp.distribution import Distribution


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


# Parts of events -----------------------------------------------------------------------
class LoadMarker(_Part):
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


class TableRows(_Part):
    table: str
    rows: int


class DriverCost(_Part):
    """The driver's cost, of its whole process."""

    cpu_ns: int
    peak_rss_bytes: int


class Counts(CountFields):
    """Counts of transactions by what became of them (`counts.COUNTS`)."""

    @classmethod
    def sparse(cls, **counts: int) -> Counts:
        """Build counts from those that are not 0."""
        return cls.model_validate(dict.fromkeys(cls.model_fields, 0) | counts)

    def __add__(self, other: Counts) -> Counts:
        mine, theirs = self.model_dump(), other.model_dump()
        return Counts(**{name: value + theirs[name] for name, value in mine.items()})

    def sum(self, role: Role) -> int:
        """Sum of the counts that play this part."""
        return sum(getattr(self, count.name) for count in COUNTS if count.role is role)

    @property
    def finished(self) -> int:
        """Transactions that ended as the workload's specification has it."""
        return self.sum(Role.FINISHED)

    @property
    def given_up(self) -> int:
        """Transactions that were sent and did not finish."""
        return self.sum(Role.FAILED)

    @property
    def retried(self) -> int:
        """Tries beyond the first."""
        return self.sum(Role.RETRY)


class Summary(_Part):
    """A distribution in short, ns."""

    mean: float
    p50: int
    p95: int
    p99: int
    max: int


class TypeResult(_Part):
    """Result of a type of transaction, or of all. Times are of those that ended as specified, also by a rollback."""

    name: str
    counts: Counts
    response: Distribution  # from the intended start (closed loop: the real one) to the end
    service: Distribution  # from the real start of the first try to the end
    lag: Distribution  # from the intended start to the real one; empty in a closed loop


# Events -------------------------------------------------------------------------------------
class MarkerRead(_Part):
    """The driver read what the database holds, before anything is done with it."""

    event: Literal["marker_read"] = "marker_read"
    loaded: LoadMarker | None


class LoadProgress(_Part):
    event: Literal["load_progress"] = "load_progress"
    rows: int
    expected_rows: int  # about, in all
    table: str  # last added to


class LoadDone(_Part):
    event: Literal["load_done"] = "load_done"
    loaded: LoadMarker
    tables: tuple[TableRows, ...]
    continued_rows: int  # left by an interrupted load and kept; the rows of all tables were then counted
    rows_ns: int  # rows alone
    all_ns: int  # with keys, indexes and statistics
    own: DriverCost


class CheckResult(_Part):
    """Result of checking one condition on the data."""

    event: Literal["check_result"] = "check_result"
    name: str  # as the workload numbers it
    says: str  # what must hold
    failing: int  # rows where it does not
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]  # the first failing ones
    took_ns: int


class ChecksDone(_Part):
    event: Literal["checks_done"] = "checks_done"
    took_ns: int


class TablesDropped(_Part):
    event: Literal["tables_dropped"] = "tables_dropped"


class ConnectionsOpened(_Part):
    """Every connection is open; warm-up begins."""

    event: Literal["connections_opened"] = "connections_opened"
    server: str
    isolation: str  # at work, in the DBMS's words
    encryption: str | None = None  # protocol and cipher of the connections; None: they are not encrypted


class MeasurementStarted(_Part):
    """The measured part begins."""

    event: Literal["measurement_started"] = "measurement_started"
    at_ns: int  # when its first arrival may be due


class Second(_Part):
    """A second is over. Warm-up has numbers below 0."""

    event: Literal["second"] = "second"
    number: int
    phase: int
    counts: Counts  # `offered` by when it was due, all else by when it happened
    backlog: int  # due and not started at its end
    running: int  # in the DBMS at its end
    response: Summary | None  # of those that ended in it, from the intended start
    service: Summary | None
    own_cpu_ns: int


class Trouble(_Part):
    """A connection was lost, or made again."""

    event: Literal["trouble"] = "trouble"
    at_ns: int  # since the start; negative: warm-up
    text: str


class Stall(_Part):
    """A stretch of the measured part in which transactions were due or running and none ended."""

    from_ns: int  # since the start
    to_ns: int
    waiting: int  # due or running at its end


class Outcome(_Part):
    """A run, whole: its last line."""

    event: Literal["run_done"] = "run_done"
    started_ns: int
    took_ns: int  # to the end of the last transaction
    intended_rate: float | None  # transactions a second; None: closed loop
    rate: float  # started in the schedule and ended as the workload has it, over the schedule's length
    invalid: tuple[str, ...]  # why; empty: valid
    types: tuple[TypeResult, ...]  # in numbering order
    all: TypeResult
    warmup_ns: int
    warmup: Counts
    reconnects: int
    own: DriverCost  # of the measured part
    mix: tuple[float, ...]  # as used
    samples: int  # rows of the samples' file
    stalls: tuple[Stall, ...] | None = None  # None: recorded before stalls were
    round_trips: int | None = (
        None  # requests to the DBMS whose answers transactions waited for; None: not counted
    )


class ActionFailed(_Part):
    """An action cannot go on. Its last line."""

    event: Literal["action_failed"] = "action_failed"
    what: str
    next: str
    usage: bool  # the request was at fault, not the run


Event = Annotated[
    MarkerRead
    | LoadProgress
    | LoadDone
    | CheckResult
    | ChecksDone
    | TablesDropped
    | ConnectionsOpened
    | MeasurementStarted
    | Second
    | Trouble
    | Outcome
    | ActionFailed,
    Field(discriminator="event"),
]
LAST = (LoadDone, ChecksDone, TablesDropped, Outcome, ActionFailed)
"""An action ends with one of these."""

_LINE: TypeAdapter[Event] = TypeAdapter(Event)


def read(line: str | bytes) -> Event:
    """Read an event. Raises ValueError for what is no line of the driver."""
    return _LINE.validate_json(line)
