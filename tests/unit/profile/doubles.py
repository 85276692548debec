"""Stand-ins for what a session drives, so that the order of what it does and its arithmetic can be looked at: no clock
runs, no probe is set. Real servers are in `tests/profile`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from tare._probe import ProbeError
from tare.errors import TooFewTransactions
from tare.profile.ending import Ending
from tare.profile.functions import Known, Target
from tare.profile.reader import Pace
from tare.profile.recording import Recording
from tare.profile.refine import Count, Step
from tare.profile.transactions import Probe, Transactions
from tare.protocol.profile.found import Estimate, Findings, MarkersLoss, Overhead
from tare.protocol.profile.loss import Activity
from tare.protocol.profile.overhead import Turn
from tare.protocol.profile.refinement import Costs

MARKER = 1
MARKERS: tuple[Probe, ...] = ((MARKER, "site", True, False),)
MEAN_NS = 10e6
RATE = 100.0


@dataclass(frozen=True)
class Set:
    """A call of a recorder's `set`."""

    at: float
    watched: tuple[int, ...]  # without the marker
    mode: str
    purpose: str
    round: int


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def pause(self, seconds: float) -> None:
        self.now += max(seconds, 1e-6)  # a clock goes on


class NoRecorder:
    """Remembers what it was told; a function is called so many times a transaction as `calls` says."""

    says = "a stand-in"
    name = "attach"

    def __init__(self, clock: Clock, calls: Mapping[int, float], refused: Mapping[int, str]) -> None:
        self._clock = clock
        self._calls = calls
        self._refused = refused
        self.sets: list[Set] = []
        self.stepped_over: dict[int, tuple[bool, bool]] = {}  # where they are entered, and left
        self.ends_at = float("inf")
        self.refuses_at = float("inf")
        self.stopped = 0
        self.set_s = 0.0  # that a change of probes takes

    def set(
        self,
        targets: list[Target],
        probes: list[Probe],
        mode: str,
        purpose: str,
        round: int,
    ) -> list[tuple[int, str]]:
        assert {probe[0] for probe in probes} <= {target[0] for target in targets}
        if purpose in ("bare", "resting"):
            assert not probes
        elif purpose != "counting":
            assert probes[0] == MARKERS[0], "markers are on wherever something is timed"
        watched = tuple(probe[0] for probe in probes if probe[0] != MARKER)
        assert all(probe[3] == (mode == "counting") for probe in probes if probe[0] != MARKER)
        self._clock.now += self.set_s
        if self._clock.now >= self.refuses_at:
            raise ProbeError(f"the kernel refused {len(probes)} probes\n  next: run as root")
        self.sets.append(Set(self._clock.now, watched, mode, purpose, round))
        return [(one, self._refused[one]) for one in watched if one in self._refused]

    def stepped(self, targets: list[Target]) -> list[tuple[int, bool, bool]]:
        known = {target[0] for target in targets}
        return [(one, *ends) for one, ends in self.stepped_over.items() if one in known]

    def calls(self) -> dict[int, int]:
        last = self.sets[-1]
        transactions = RATE * (self._clock.now - last.at)
        watched = last.watched or (MARKER,)  # no others: the markers are counted
        return {one: round(self._calls.get(one, float(one == MARKER)) * transactions) for one in watched}

    def watching(self) -> dict[str, int]:
        watched = [one for one in self.sets[-1].watched if one not in self._refused]
        return {"exit sites": len(watched)}

    def alive(self) -> bool:
        return self._clock.now < self.ends_at

    def stop(self) -> None:
        self.stopped += 1


class NoFunctions:
    """Any number is a function, and each is called by the two before it."""

    def callers(self, number: int) -> list[Known]:
        return [self[number + 7], self[number + 8]]

    def __getitem__(self, number: int) -> Known:
        return Known(number, f"f{number}", "/program", 0x1000 * number, 64, False, True)

    def known(self) -> list[Known]:
        return [self[number] for number in range(1, 10)]


@dataclass
class NoReader:
    """Every window has RATE transactions a second, of MEAN_NS; with probes on, transactions take `slowed` times as
    long, by what is watched."""

    recorder: NoRecorder
    clock: Clock
    latency: Estimate | None = None
    looked: int = 0
    none_until: float = 0.0  # before it, no transaction
    ramps_until: float | None = None  # before it, a tenth of the rate
    swings: bool = False  # every other look has ten times the rate
    few_until: float = 0.0  # before it, rounds hold too few transactions
    slowed: Callable[[tuple[int, ...]], float] = lambda watched: 1.0
    stalls_at: float = float("inf")  # after it, no transaction ends
    megabytes: float = 1.0
    markers: MarkersLoss | Callable[[int], MarkersLoss] | None = None  # by how many windows have no probe
    mean_ns: float = MEAN_NS
    busy: float = 0.0  # CPUs

    def look(self) -> None:
        assert self.recorder.sets[-1].purpose == "resting", "we work only when no figure is made"
        self.looked += 1

    def glance(self, since: int) -> list[Turn]:
        assert self.recorder.sets[-1].purpose == "resting", "we work only when no figure is made"
        found = []
        for window, one in enumerate(self.recorder.sets[since:-1], since):
            if one.purpose in ("probed", "markers"):
                seconds = self.recorder.sets[window + 1].at - one.at
                slowed = self.slowed(one.watched) if one.watched else 1.0
                count = 0 if one.at >= self.stalls_at else round(RATE * seconds / slowed)
                found.append(Turn(one.purpose == "probed", count, MEAN_NS * slowed, seconds))
        return found

    def open_threads(self) -> frozenset[int]:
        return frozenset()

    def ended_since(self, window: int) -> int:
        one = self.recorder.sets[window]
        assert one.purpose == "after"
        return 0 if one.at >= self.stalls_at else round(RATE * (self.clock.now - one.at))

    def pace(self, activity: Mapping[int, Activity], since: int = 0) -> Pace:
        if self.clock.now < self.none_until:
            return Pace(0, 1.0, 0.0)
        if self.swings:
            return Pace(round(RATE * 10 ** (self.looked % 2)), 1.0, MEAN_NS)
        ramps = self.ramps_until is not None and self.recorder.sets[since].at < self.ramps_until
        return Pace(round(RATE / 10 if ramps else RATE), 1.0, self.mean_ns, cpus=2, busy=self.busy)

    def markers_loss(self, activity: Mapping[int, Activity]) -> MarkersLoss | None:
        bare = {number for number, one in enumerate(self.recorder.sets) if one.purpose == "bare"}
        kept = {one for one in bare if one >= min(activity)}  # those before are forgotten
        assert kept
        assert kept <= set(activity), "the kernel's counters are read in each window"
        return self.markers(len(kept)) if callable(self.markers) else self.markers

    def findings(self, round_: int) -> Findings:
        if self.clock.now < self.few_until:
            raise TooFewTransactions("the profile holds no valid transaction", "record longer")
        return findings()

    def overhead(self, round_: int, pairs: float, pair_ns: float) -> Overhead | None:
        return Overhead(4, self.latency, None, 0.0, pairs, pair_ns, 0.0)


@dataclass
class Script:
    """A strategy that goes through steps as they are written down. `cpu_s`: CPU time that each takes."""

    steps: list[Step] = field(default_factory=list)
    cpu_s: float = 0.0
    spent_s: float = 0.0
    learnt: int = 0
    forgot: int = 0
    costs: list[Costs] = field(default_factory=list)

    def first(self, count: Count) -> Step:
        step = self.steps.pop(0)
        self.spent_s += self.cpu_s
        self.costs.append(count(step.watch))
        return step

    def next(self, findings: Findings, watched: Sequence[int], count: Count) -> Step:
        self.spent_s += self.cpu_s
        assert self.learnt, "what was found is learnt from before the next step is asked for"
        step = (
            self.steps.pop(0)
            if self.steps
            else Step(tuple(watched), "nothing is left", ending=Ending.REFINED)
        )
        self.costs.append(count(step.watch))
        return step

    def learn(self, findings: Findings) -> None:
        self.learnt += 1

    def forget(self) -> None:
        self.forgot += 1

    def has_news(self) -> bool:
        return bool(self.steps)


def findings(**more: object) -> Findings:
    given: dict[str, object] = {
        "transactions": 100,
        "invalid": {},
        "records": 0,
        "lost": 0,
        "mean_ns": MEAN_NS,
        "sd_ns": 1.0,
        "p50_ns": 1.0,
        "p99_ns": 1.0,
        "max_ns": 1.0,
        "between_types": 0.0,
        "on_cpu": None,
        "waiting": 0.0,
        "call_graph_height": 9,
        "nodes": (),
        "pairs": (),
        "factors": (),
        "tail": (),
        "kinds": (),
        "enough": None,
        "reservations": (),
    }
    return Findings(**{**given, **more})  # type: ignore[arg-type]


def transactions() -> Transactions:
    return Transactions(
        txn="function:f1",
        says="each call of f1",
        rules={"rule": "function", "root": MARKER},
        markers=MARKERS,
        tops=(MARKER,),
        seeds=(),
    )


def recording(recorder: NoRecorder, clock: Clock, own_cpu_s: Callable[[], float] = lambda: 0.0) -> Recording:
    return Recording(
        recorder,
        NoFunctions(),  # type: ignore[arg-type]
        transactions(),
        clock=clock,
        pause=clock.pause,
        own_cpu_s=own_cpu_s,
    )
