"""about.json of a profile's folder: how it was recorded, and the names of what is in the recording.

Version 2 added what became of the server (`failure`, `rates`), functions that were let go (`shed`), and rounds whose
transactions go together (`alike`). A file of version 1 is read as one that has none of them. A file written when
`attach` still used return probes holds `hazards` in `watching`, which are ignored.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError, field_validator, model_validator

from tare.dbms.url import redacted
from tare.errors import NoSuchProfile, ProfileDamaged, ProfileTooNew
from tare.files import read_named, write
from tare.protocol.profile.measured import Function, Measure
from tare.records import Record

FORMAT: Literal["tare profile"] = "tare profile"
VERSION = 2
ABOUT = "about.json"

_MOST_BYTES = 64 << 20


class State(StrEnum):
    """How far a profile came."""

    RECORDING = "recording"
    COMPLETE = "complete"
    INTERRUPTED = "interrupted"
    SERVER_ENDED = "server ended"
    SERVER_HANGS = "server hangs"


class Named(Record):
    """A function of the recording, as `measured.Function`."""

    id: int
    name: str
    object: str = ""
    address: int = 0
    size: int = 0
    inferred: bool = False
    height: int | None = None

    def function(self) -> Function:
        return Function(self.id, self.name, self.inferred, self.height, self.object, self.address, self.size)


class Round(Record):
    """A round of refinement."""

    number: int
    functions: tuple[int, ...]  # with a probe on
    reason: str
    added: tuple[int, ...] = ()
    dropped: tuple[int, ...] = ()
    predicted: float | None = None  # overhead, share of the time that a transaction has
    seconds: float | None = None


class FailureKind(StrEnum):
    """Kind of failure of the watched server."""

    SERVER_ENDED = "server ended"
    PROCESS_ENDED = "process ended"  # of a server that goes on, by a signal
    SERVER_HANGS = "server hangs"


class Probes(StrEnum):
    """Probes of ours that were on when the server ended, or when the transaction began that hangs."""

    FUNCTIONS = "functions"
    MARKERS = "markers"  # of transactions, and no others
    NONE = "none"


class Failure(Record):
    """The server ended or hangs."""

    kind: FailureKind
    process: int
    process_name: str = ""
    signal: int | None = None  # None: none, or not known
    exit_status: int | None = None  # None: a signal, or not known
    thread: int | None = None  # that the signal hit, or one of those that hang; None: not known
    thread_name: str = ""
    function: int | None = None  # that the recording saw this thread in last; None: not known
    threads: int = 0  # that hang
    probes: Probes = Probes.NONE
    functions: int = 0  # watched at that time


class Rates(Record):
    """Transactions a second; None: not known."""

    before: float | None = None  # with the markers alone, before any function was watched
    during: float | None = None  # in the last window with all probes
    after: float | None = None  # in the last window, with the markers alone; 0 where the server has ended


class Shed(Record):
    """Functions that were let go in mid-round, since probes took more than the budget."""

    round: int
    functions: tuple[int, ...]  # the dearest first
    predicted: tuple[float, ...]  # what each was predicted to cost, share of the time that a transaction has
    measure: Measure  # of the overhead that was above the budget
    value: float  # of this overhead, with its 95% interval
    low: float
    high: float
    pairs: int  # of windows
    allowed: float | None = None  # of the overhead, while all probes are on; None: the budget
    left: int  # functions that stayed watched


class Watching(Record):
    """How the last round's functions were watched."""

    ways: dict[str, int] = Field(default_factory=dict)  # functions by `tare.report.profile.conditions.Way`

    @model_validator(mode="before")
    @classmethod
    def _without_hazards(cls, stored: Any) -> Any:
        """Leave out `hazards`: why an earlier Tare did not use return probes everywhere."""
        if isinstance(stored, dict):
            return {key: value for key, value in stored.items() if key != "hazards"}
        return stored


class Activity(Record):
    """Counters of the server in a window."""

    seconds: float
    user_s: float  # CPU time in user mode
    waits: int  # voluntary context switches
    busy_s: float  # CPU time of the whole machine


class Prices(Record):
    """Prices of a pair of an entry and an exit, ns, on a process of Tare's own on this machine
    (`tare.profile.prices`)."""

    emulated_ns: float  # the kernel emulates the instructions at both ends
    stepped_ns: float  # it steps over both


class Machine(Record):
    """`tare.measure.environment.MachineFacts`."""

    cpu_model: str
    online_cpus: int
    usable_cpus: int
    memory_bytes: int
    hypervisor: str | None
    kernel: str
    operating_system: str
    python: str
    tare: str


class About(Record):
    """Written when a recording begins, and anew as it goes on: what is there can always be analysed."""

    format: Literal["tare profile"] = FORMAT
    version: int = VERSION
    tare: str  # that wrote it
    name: str
    when: str  # ISO 8601, with its offset
    state: State = State.RECORDING
    command: tuple[str, ...] = ()  # without passwords
    server: str = ""  # what was watched: its URL without a password, or its process
    dbms: str = ""  # "postgresql", …; empty: not known
    dbms_version: str = ""
    backend: str = ""  # "attach", "agent", "xray", "annotation"
    says: str = ""  # what the backend says of itself
    preset: str = ""
    transaction: str = ""  # what one is, in words
    waiting: str = "[waiting for the client]"  # what time between its intervals is called
    rules: dict[str, Any]  # tare_profile::rules::Rules
    markers: tuple[int, ...] = ()  # functions that tell transactions apart
    functions: tuple[Named, ...] = ()
    call_graph_height: int = 0
    server_time: bool = False  # what varies is looked for without waiting for the client
    budget: float | None = None  # share of the throughput, over the whole profile
    peak: float | None = None  # the same while all probes are on; None: no window is without any probe
    prices: Prices | None = None  # None: not measured
    pair_ns: float | None = None  # cost of an entry and exit
    pair_measured: bool = False  # on this machine, in this run
    marker_pairs: float = 1.0  # usual pairs that the markers cost in each interval of a transaction
    of_cycle: float = (
        1.0  # the time that a transaction has, as a share of that in which the machine makes one
    )
    counting_s: float = 0.0  # seconds of throughput that counting calls took, predicted
    activity: dict[int, Activity] = Field(default_factory=dict)  # by window
    between: dict[int, Activity] = Field(default_factory=dict)  # since the window that was read before
    own_s: float = 0.0  # seconds of throughput that Tare's own work between windows took, predicted
    calls: dict[int, float] = Field(
        default_factory=dict
    )  # per transaction, of the functions that were counted
    rounds: tuple[Round, ...] = ()
    ended: str = ""  # why there was no further round
    failure: Failure | None = None  # None: the server lives
    rates: Rates = Rates()
    shed: tuple[Shed, ...] = ()
    alike: tuple[int, ...] = ()  # rounds whose transactions go together: they watched the same under one load
    refused: dict[int, str] = Field(default_factory=dict)  # functions that no probe could be put on, and why
    left_out: tuple[int, ...] = ()  # too hot for the budget
    undivided: dict[int, tuple[int, ...]] = Field(
        default_factory=dict
    )  # callees too hot or refused, by the function (-1: the transaction) that has no other left to watch
    watching: Watching = Watching()
    notes: tuple[str, ...] = ()
    machine: Machine | None = None

    @field_validator("command", mode="after")
    @classmethod
    def _without_passwords(cls, command: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(redacted(word) for word in command)

    @field_validator("server", mode="after")
    @classmethod
    def _without_password(cls, server: str) -> str:
        return redacted(server)


def write_about(folder: Path, about: About) -> None:
    """Whole, or as it was before. Raises ExportFailed."""
    write(folder / ABOUT, about.model_dump_json(indent=1) + "\n")


def read_about(folder: Path) -> About:
    """Raises NoSuchProfile, ProfileDamaged, or ProfileTooNew."""
    file = folder / ABOUT
    try:
        said = read_named(file, FORMAT, _MOST_BYTES)
        _refuse_newer(folder, said)
        return About.model_validate(said)
    except FileNotFoundError as error:
        raise NoSuchProfile(
            f"{folder} holds no profile: it has no {ABOUT}", "name a folder that `tare profile` wrote"
        ) from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(one) for one in first["loc"])
        raise ProfileDamaged(
            f"{file} is damaged: {place}: {first['msg']}", "record the profile again"
        ) from error
    except (OSError, ValueError, RecursionError) as error:
        said_ = (str(error).splitlines() or [type(error).__name__])[0]
        raise ProfileDamaged(f"{file} cannot be read: {said_}", "record the profile again") from error


def _refuse_newer(folder: Path, said: dict[str, Any]) -> None:
    version = said.get("version")
    if isinstance(version, int) and version > VERSION:
        raise ProfileTooNew(
            f"the profile {folder} is of a later Tare ({said.get('tare')}): format {version}; "
            f"this Tare knows {VERSION}",
            "update Tare (pip install --upgrade tare-db)",
        )
