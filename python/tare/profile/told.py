"""Events of a profiling session, for whoever watches."""

from __future__ import annotations

from dataclasses import dataclass

from tare.protocol.profile.found import Findings, Overhead
from tare.protocol.profile.overhead import Excess


@dataclass(frozen=True, slots=True)
class Watching:
    """Probes are on, or can be."""

    backend: str
    says: str
    transaction: str  # what one is
    seconds: float  # from the first transaction on, without the end of the session


@dataclass(frozen=True, slots=True)
class Waiting:
    """No transaction has come yet."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Counting:
    """Calls are counted, a batch of functions at a time."""

    batch: int
    of: int
    functions: int


@dataclass(frozen=True, slots=True)
class Counted:
    functions: int  # that are called at all
    left_out: tuple[str, ...]  # too hot for the budget
    rate: float  # transactions a second
    mean_ns: float


@dataclass(frozen=True, slots=True)
class Window:
    """A window begins."""

    round: int
    number: int  # within the round, from 1
    of: int
    purpose: str
    seconds: float
    functions: int
    left_s: float  # of all the time


@dataclass(frozen=True, slots=True)
class RoundDone:
    round: int
    rate: float  # transactions a second, without probes
    findings: Findings
    overhead: Overhead | None


@dataclass(frozen=True, slots=True)
class Shed:
    """Probes were taken off in mid-round, since they took more than the budget."""

    round: int
    functions: tuple[str, ...]  # the dearest first
    left: int  # functions that stay watched
    excess: Excess


@dataclass(frozen=True, slots=True)
class Detached:
    """No probe is on any more; for a moment the server is looked at."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Analysing:
    """A recording is put together, which may take a while."""

    megabytes: float


@dataclass(frozen=True, slots=True)
class Noted:
    """Something that a user should know."""

    text: str


Told = Watching | Waiting | Counting | Counted | Window | Shed | RoundDone | Detached | Analysing | Noted
