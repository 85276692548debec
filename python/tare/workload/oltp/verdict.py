"""Why a run is not valid, and what it does not show: facts with their figures. `report/oltp` makes sentences of them.

`crates/tare-load/src/oltp/verdict.rs` writes those of the driver. Instants are ns since the start of the measured
part.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from tare.records import TolerantRecord


class Fact(TolerantRecord):
    """Fact of which `kind` is the name; its other fields are its figures."""

    kind: str


class Sentence(Fact):
    """A reason of a run that an earlier version recorded in words."""

    kind: Literal["sentence"] = "sentence"
    text: str


# Not valid ------------------------------------------------------------------------------
class ConnectionsBroke(Fact):
    """More than half of the connections that were open at an instant broke."""

    kind: Literal["connections_broke"] = "connections_broke"
    at_ns: int  # when the first of them was seen to be broken
    broken: int
    connections: int
    back_ns: int | None  # when the first connection was open again; None: none was


class CutShort(Fact):
    kind: Literal["cut_short"] = "cut_short"
    after_ns: int
    length_ns: int  # of the schedule
    failure: str | None  # what failed, in words of the system; None: the run was asked to stop


class RateMissed(Fact):
    kind: Literal["rate_missed"] = "rate_missed"
    rate: float  # started before the schedule's end, 1/s
    intended_rate: float


class BacklogGrew(Fact):
    """Least number of transactions due and not started in the schedule's third quarter and in its last."""

    kind: Literal["backlog_grew"] = "backlog_grew"
    third: int
    last: int


class Shed(Fact):
    kind: Literal["shed"] = "shed"
    count: int
    offered: int
    late_ns: int  # lateness that was allowed


class Unstarted(Fact):
    kind: Literal["unstarted"] = "unstarted"
    count: int
    offered: int
    drain_ns: int | None  # time given to them after the schedule's end; None: the run was cut short


class Abandoned(Fact):
    """Transactions that did not end while the driver waited, warm-up included. They are counted as lost."""

    kind: Literal["abandoned"] = "abandoned"
    count: int


class Unsuccessful(Fact):
    """More than 1% were sent and neither committed nor rolled back as the workload specifies."""

    kind: Literal["unsuccessful"] = "unsuccessful"
    offered: int
    deadlocks: int  # given up after the last try, by the last try's trouble
    serialization_failures: int
    lock_timeouts: int
    lost: int  # with their connection
    errors: int


class ServerRestarted(Fact):
    """The server, or the processes behind its sessions, are younger than the run."""

    kind: Literal["server_restarted"] = "server_restarted"


class ConditionFailed(Fact):
    kind: Literal["condition_failed"] = "condition_failed"
    name: str
    moment: Literal["before", "after"]  # the run
    failing: int  # rows


class ConditionsUnchecked(Fact):
    """The conditions held before the run and were not checked on the data after it."""

    kind: Literal["conditions_unchecked"] = "conditions_unchecked"


Invalid = Annotated[
    ConnectionsBroke
    | CutShort
    | RateMissed
    | BacklogGrew
    | Shed
    | Unstarted
    | Abandoned
    | Unsuccessful
    | ServerRestarted
    | ConditionFailed
    | ConditionsUnchecked
    | Sentence,
    Field(discriminator="kind"),
]


DERIVED = frozenset({"server_restarted", "condition_failed", "conditions_unchecked"})
"""Kinds that follow from the rest of a run; the driver reports the others."""


# Not judged -----------------------------------------------------------------------------
class RateLate(Fact):
    """Single delay of the driver that explains the rate that was missed."""

    kind: Literal["rate_late"] = "rate_late"
    late: int  # started after the schedule's end
    offered: int
    delay_ns: int
    length_ns: int  # of the schedule


class RateTooFew(Fact):
    """A difference of 1% is fewer than two transactions."""

    kind: Literal["rate_too_few"] = "rate_too_few"
    offered: int


class BacklogShort(Fact):
    """Single delay of the driver that explains why the backlog grew in the last quarter."""

    kind: Literal["backlog"] = "backlog"
    delay_ns: int
    length_ns: int


class Disturbed(Fact):
    """Others took CPU time that transactions waited for. Shares are means over the disturbed seconds."""

    kind: Literal["disturbed"] = "disturbed"
    seconds: int  # disturbed
    of_seconds: int  # of the schedule, that were measured
    others_ratio: float  # CPU time of other processes over that of all CPUs
    steal_ratio: float  # the same, taken by the hypervisor
    wait_ratio: float  # estimated wait for CPUs that others used, over the service time


class Unwatched(Fact):
    """The machine was read in fewer than half of the seconds: Tare itself had no CPU, and neighbours are not known."""

    kind: Literal["unwatched"] = "unwatched"
    seconds: int  # read
    of_seconds: int  # of the schedule


Neighbours = Annotated[Disturbed | Unwatched, Field(discriminator="kind")]
"""Causes that keep a run's figures from being the server's alone."""

NotJudged = Annotated[
    RateLate | RateTooFew | BacklogShort | Disturbed | Unwatched | Sentence, Field(discriminator="kind")
]


# Neither --------------------------------------------------------------------------------
class Freeze(TolerantRecord):
    """No transaction ended for a second or more, while some were due or running."""

    start_ns: int
    length_ns: int
    waiting: int  # due and not ended, at its end
