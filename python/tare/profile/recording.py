"""A recorder, the windows that it records, and waiting in them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from tare.errors import TareError
from tare.profile.activity import Counters
from tare.profile.background import foreground
from tare.profile.costs import STEP, TEXT
from tare.profile.functions import Functions, Target
from tare.profile.transactions import Probe, Transactions
from tare.profile.windows import AFTER, BARE, COUNTING, GLIMPSED, MARKERS, PROBED, RESTING
from tare.protocol.profile.loss import Activity

_LOOK_S = 0.1
"""Between two looks whether the server still runs."""


class ServerEnded(TareError):
    """The server ended in mid-run. What was recorded until then is analysed."""

    def __init__(self) -> None:
        super().__init__("the server ended", "look at its log")


class Recorder(Protocol):
    """`tare._probe.ProfileRecorder`."""

    says: str
    name: str

    def set(
        self,
        targets: list[Target],
        probes: list[Probe],
        mode: str,
        purpose: str,
        round: int,
    ) -> list[tuple[int, str]]: ...
    def stepped(self, targets: list[Target]) -> list[tuple[int, bool, bool]]: ...
    def calls(self) -> dict[int, int]: ...
    def watching(self) -> dict[str, int]: ...
    def alive(self) -> bool: ...
    def stop(self) -> None: ...


class Recording:
    """Windows are numbered from 0, as the recording numbers them."""

    def __init__(
        self,
        recorder: Recorder,
        functions: Functions,
        transactions: Transactions,
        *,
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], None] = time.sleep,
        healthy: Callable[[], bool] = lambda: True,
        counters: Callable[[], Counters] = lambda: Counters({}, {}),
        own_cpu_s: Callable[[], float] = time.process_time,
        step: float = STEP,
    ) -> None:
        """`healthy`: whether no process of the server died of a signal, as far as is known. `counters`: the kernel's,
        of the server. `own_cpu_s`: CPU time of Tare so far. `step`: as `Price.step`."""
        self.recorder = recorder
        self.clock = clock
        self._healthy = healthy
        self._counters = counters
        self._step = step
        self._own_cpu_s = own_cpu_s
        self.activity: dict[int, Activity] = {}  # by window
        self.between: dict[int, Activity] = {}  # from the end of the window that was read before, by window
        self.own_cpu_s = 0.0  # that Tare took in `between`
        self._read = clock(), counters(), own_cpu_s()  # at the end of the last window that was read
        self._first = self._read[:2]  # at the beginning of the window that is read
        self._pause = pause
        self._functions = functions
        self._transactions = transactions
        self._windows = 0
        self.refused: dict[int, str] = {}
        self._steps: dict[int, tuple[bool, bool]] = {}  # of functions: where they are entered, and left
        self.ways: dict[str, int] = {}  # functions of the last probed window, by how they were watched
        self.change_s = 0.0  # that the last change of probes took
        self.timed: tuple[int, ...] = ()  # functions, without markers, whose probes are on or were last
        self.last_round = 0  # of the last window

    @property
    def last_window(self) -> int:
        return self._windows - 1

    def probe(self, watched: Sequence[int], round_: int) -> None:
        """A window in which these functions are timed."""
        self._set(watched, PROBED, round_, "timing", entry_only=False)

    def mark(self, round_: int) -> None:
        """Begin a window with the transactions' markers alone."""
        self._set((), MARKERS, round_, "timing", entry_only=False)

    def bare(self, round_: int) -> None:
        """Begin a window without probes."""
        self._set((), BARE, round_, "timing", entry_only=False, markers=False)

    def rest(self, round_: int) -> None:
        """Begin a window without probes that no figure uses: Tare computes on the same machine in it."""
        self._set((), RESTING, round_, "timing", entry_only=False, markers=False)

    def after(self, round_: int) -> None:
        """The last one, with the markers alone."""
        self._set((), AFTER, round_, "timing", entry_only=False)

    def glimpse(self, watched: Sequence[int], round_: int) -> None:
        """Time these functions for the places they are called from alone: no figure is made of the window."""
        self._set(watched, GLIMPSED, round_, "timing", entry_only=False)

    def count(self, watched: Sequence[int], round_: int) -> None:
        """Begin a window in which their entries are counted, and nothing is timed."""
        self._set(watched, COUNTING, round_, "counting", entry_only=True, markers=False)

    def count_markers(self, round_: int) -> None:
        """The same of the transactions' markers."""
        self.count(sorted(self._transactions.marking), round_)

    def calls(self) -> dict[int, int]:
        return self.recorder.calls()

    def cpu_s(self) -> float:
        """CPU time of Tare since it was started."""
        return self._own_cpu_s()

    def weight(self, number: int) -> float:
        """A function's probes in usual pairs: `Costs.weight`."""
        return 1 + self._step * sum(self._stepped(number))

    def entry_weight(self, number: int) -> float:
        """The same of the probe on its entry alone."""
        return 0.5 + self._step * self._stepped(number)[0]

    def _stepped(self, number: int) -> tuple[bool, bool]:
        """Whether the kernel steps over an instruction where the function is entered, and where it leaves."""
        if number not in self._steps:
            targets = [one.target() for one in self._functions.known() if one.id not in self._steps]
            self._steps |= dict.fromkeys((one[0] for one in targets), (False, False))
            self._steps |= {one: (entered, left) for one, entered, left in self.recorder.stepped(targets)}
        return self._steps.get(number, (False, False))

    def markers_weight(self, entries: Mapping[int, float]) -> float:
        """Usual pairs that the transactions' markers cost, entered so often; `entries`: by function."""
        return sum(
            entries.get(one, 0.0)
            * ((self.entry_weight(one) if entry_only else self.weight(one)) + TEXT * ("text" in detail))
            for one, detail, _, entry_only in self._transactions.markers
        )

    def forget(self) -> None:
        """Forget what the kernel has counted so far, and Tare's own CPU time."""
        self.activity.clear()
        self.between.clear()
        self.own_cpu_s = 0.0

    def last(self, seconds: float) -> float:
        """Waits so long, and says how long it was. Raises ServerEnded."""
        begun, before = self.clock(), self._counters()
        if self.last_window not in self.activity:
            ended, at_end, own_s = self._read
            self.between[self.last_window] = before.since(at_end, begun - ended)
            self.own_cpu_s += self._own_cpu_s() - own_s
            self._first = begun, before
        while (left := seconds - (self.clock() - begun)) > 0:
            if not (self.recorder.alive() and self._healthy()):
                raise ServerEnded
            self._pause(min(_LOOK_S, left))
        ended, after = self.clock(), self._counters()
        since, at_first = self._first
        self.activity[self.last_window] = after.since(at_first, ended - since)
        self._read = ended, after, self._own_cpu_s()
        return ended - begun

    def _set(
        self,
        watched: Sequence[int],
        purpose: str,
        round_: int,
        mode: str,
        *,
        entry_only: bool,
        markers: bool = True,
    ) -> None:
        from tare._probe import ProbeError

        if purpose != AFTER and not (self.recorder.alive() and self._healthy()):
            raise ServerEnded
        marked = self._transactions.markers if markers else ()
        marking = {probe[0] for probe in marked}
        able = [number for number in watched if number not in marking and number not in self.refused]
        probes = [*marked, *((number, "site", False, entry_only) for number in able)]
        targets = [self._functions[number].target() for number in (*sorted(marking), *able)]
        begun = self.clock()
        try:
            with foreground():
                self.refused |= dict(self.recorder.set(targets, probes, mode, purpose, round_))
        except ProbeError as error:
            if self.recorder.alive():
                raise
            raise ServerEnded from error
        self.change_s = self.clock() - begun
        if purpose == PROBED:
            self.ways = self.recorder.watching()
        self._windows += 1
        self.timed = tuple(
            one for one in able if one not in self.refused | dict.fromkeys(self._transactions.marking)
        )
        self.last_round = round_
