"""Result of a profiling session: its rounds, what they cost and found, and why it ended."""

from __future__ import annotations

from dataclasses import dataclass, field

from tare.profile.costs import Price
from tare.profile.ending import Ending
from tare.protocol.profile.found import Findings
from tare.protocol.profile.overhead import Excess


@dataclass(frozen=True, slots=True)
class Shed:
    """Functions that were let go in one round, and why."""

    round: int
    functions: tuple[int, ...]  # the dearest first
    predicted: tuple[float, ...]  # what each cost, as a share of the time that a transaction has
    excess: Excess
    left: int  # functions that stayed watched


@dataclass(frozen=True, slots=True)
class Rates:
    """Transactions a second; None: there was no such window."""

    before: float | None = None  # with the markers alone, before any function was watched
    during: float | None = None  # in the last window with all probes
    after: float | None = None  # in the last window, with the markers alone


@dataclass(frozen=True, slots=True)
class Round:
    """A round of windows."""

    number: int
    reason: str
    watched: tuple[int, ...]
    added: tuple[int, ...]
    predicted: float  # share of the time that a transaction has (`Pace.own_ns`)
    seconds: float


@dataclass
class Made:
    """Result of a session. `rounds` is empty if it ended before a function was watched."""

    rounds: list[Round] = field(default_factory=list)
    calls: dict[int, float] = field(default_factory=dict)  # per transaction, of all that were counted
    left_out: list[int] = field(default_factory=list)  # too hot for the budget
    refused: dict[int, str] = field(default_factory=dict)
    ways: dict[str, int] = field(
        default_factory=dict
    )  # functions of the last round, by how they were watched
    price: Price | None = None
    own_ns: float = 0.0  # of a transaction without probes
    marker_pairs: float = 1.0  # usual pairs that the markers of an interval cost
    of_cycle: float = 1.0  # `own_ns`, as a share of the time in which the machine makes one
    counting_s: float = 0.0  # seconds of throughput that counting calls took, predicted
    own_s: float = 0.0  # the same of Tare's own work between windows
    notes: list[str] = field(default_factory=list)
    stopped_by: KeyboardInterrupt | None = None
    ending: Ending | None = None
    ended: str = ""  # `ending` in words
    settled: bool = False  # refinement had nothing more to divide
    shed: list[Shed] = field(default_factory=list)
    alike: tuple[int, ...] = ()  # rounds under one load that watched what the last one did
    rates: Rates = Rates()
    probes_at_end: tuple[int, ...] = ()  # functions whose probes were on when the server ended
    findings: Findings | None = None  # of the last round that was analysed
