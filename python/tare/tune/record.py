"""Record of a tuning run, as its folder keeps it: enough to report it again and to add blocks."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from tare.records import TolerantRecord
from tare.tune.specification import TuneSpecification
from tare.tune.verdicts import Objective
from tare.workload.oltp.verdict import Invalid


class DroppedArm(TolerantRecord):
    """An arm that was not measured."""

    name: str
    reason: str


class WindowRecord(TolerantRecord):
    """A window with its figures; times in ms, instants in s of the run that it belongs to."""

    run: int  # from 0: `resume` adds runs
    block: int  # from 0, over all runs
    arm: str
    begins_s: float
    from_s: float
    to_s: float
    switch_ms: float
    offered: int
    finished: int
    backlog: int
    throughput: float
    mean: float | None
    variance: float | None
    sd: float | None
    p50: float | None
    p99: float | None
    p99_9: float | None
    norm: float | None
    others: float | None  # CPUs that neither server, driver nor Tare used
    is_carried_over: bool


class RunRecord(TolerantRecord):
    """An open-loop run of the load."""

    uuid: str
    started_at: str
    seed: int
    windows: int
    is_over: bool
    changed_regime: bool
    is_stopped: bool
    leaving: dict[str, int]  # windows after which a backlog was left, by arm
    invalid: tuple[Invalid, ...]  # why the whole run is not a valid one
    warmup_s: float | None = None  # of each window's new server; None: the server was running before
    is_steady: bool = True  # False: a new server still warmed up after that


class SearchRound(TolerantRecord):
    """A round of a search: one run of the load."""

    arms: tuple[str, ...]  # candidates that took turns with the baseline
    ended: tuple[DroppedArm, ...]  # those that went no further


class SearchRecord(TolerantRecord):
    """A search before the blocks that confirm it. `WindowRecord.run` is the number of the round, from 0."""

    objective: Objective
    budget_s: float
    took_s: float
    candidates: dict[str, dict[str, str]]  # by name
    rounds: tuple[SearchRound, ...]
    runs: tuple[RunRecord, ...]
    windows: tuple[WindowRecord, ...]


def warming_blocks(windows: Iterable[WindowRecord]) -> frozenset[int]:
    """Blocks that are not judged: the first of each run. There the server still fills caches and grows its log, and the
    first windows have often been the slowest of all."""
    firsts: dict[int, int] = {}
    for window in windows:
        firsts[window.run] = min(window.block, firsts.get(window.run, window.block))
    return frozenset(firsts.values())


def whole_blocks(windows: Collection[WindowRecord], arms: Collection[str]) -> list[dict[str, WindowRecord]]:
    """Judged blocks that hold a window of each of these arms."""
    warming = warming_blocks(windows)
    found: dict[int, dict[str, WindowRecord]] = {}
    for window in windows:
        if window.block not in warming and window.arm in arms:
            found.setdefault(window.block, {})[window.arm] = window
    return [block for _, block in sorted(found.items()) if len(block) == len(arms)]


class Tuning(TolerantRecord):
    """A tuning run. Of a search: the blocks that confirm what it ended with."""

    format: int = 1
    number: int
    specification: TuneSpecification
    url: str  # without its password
    dbms: str
    version: str
    online_cpus: int
    scale: float
    baseline: dict[str, str]  # values before the run, in the server's own units
    arms: dict[str, dict[str, str]]  # measured ones, by name, with the baseline and its copy
    dropped: tuple[DroppedArm, ...]
    runs: tuple[RunRecord, ...]
    windows: tuple[WindowRecord, ...]
    is_separate: bool = False  # each window is a run of its own, with new connections
    is_restarted: bool = False  # and on a server that was started for it
    search: SearchRecord | None = None

    @property
    def started_at(self) -> str:
        """Begin of the first run of the load."""
        return (*(self.search.runs if self.search else ()), *self.runs)[0].started_at

    @property
    def warming(self) -> frozenset[int]:
        return warming_blocks(self.windows)

    @property
    def blocks(self) -> list[dict[str, WindowRecord]]:
        """Whole blocks that are judged: the window of each arm."""
        return whole_blocks(self.windows, self.arms)

    @property
    def is_over(self) -> bool:
        """Whether a run's server did not keep up, so that no figure is a result."""
        return any(run.is_over or run.changed_regime for run in self.runs)
