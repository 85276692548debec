"""Cost of an entry and exit of a function under each backend, ns, and for comparison under a compiler's
-finstrument-functions and under bpftrace.

An almost empty function is called in bursts, each short enough that what it records finds room; the cost is a call's
time less that of a call in the same program, built and started without any profiler. Cases take turns. Functions
differ in the instructions that carry the probes of `attach`. The kernel emulates the first one of `push_first`, and
steps over that of `mov_first`; both leave at a ret, which it steps over. Of `jump_last` it emulates the first one, and
the jump that decides that the function leaves.

All callers stand on one CPU. Another guest's thread on the same core slows such code by up to a half and no counter
tells, so before and after each burst a millisecond of work that can use the whole core is timed there (`tare doctor`:
own core). A figure is of the bursts beside which that work took its least time, to 5%: when the core was alone. That of
all bursts stands beside it, and how many they were.
"""

from __future__ import annotations

import math
import os
import shutil
import subprocess
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles
from types import TracebackType

from benchmarks.common import Figure, arguments, report
from benchmarks.planted.build import COST, cost_with_hooks
from benchmarks.profile_ways import BACKENDS, Way, missing, recording, settle, targets, timed
from tare._probe import core_share

FUNCTIONS = {"push": "push_first", "mov": "mov_first", "jump": "jump_last"}
EMULATED = "jump"
"""Function of which the kernel emulates each instruction that a probe is on."""
BARS = {"agent": 60.0, "xray": 40.0, "attach": 2000.0}
PAUSE_S = 0.03  # between bursts: a recorder fetches every 50 ms or sooner, and a ring has room for three
BPFTRACE_READY_S = 20.0
CPU = min(os.sched_getaffinity(0))
ALONE = 1.05  # times the least that work beside a burst took
FEWEST = 5  # bursts with the core alone that make a figure


class Caller:
    """The cost program, which calls when it is told to."""

    def __init__(self, program: Path, environment: Mapping[str, str] | None = None) -> None:
        self.process = subprocess.Popen(
            [program], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        os.sched_setaffinity(self.process.pid, {CPU})

    def __enter__(self) -> Caller:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()

    def ns(self, first: str, calls: int) -> float:
        """Time of a call in one burst."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(first, calls, 1, 0, file=self.process.stdin, flush=True)
        return float(self.process.stdout.readline())

    def bursts(self, first: str, calls: int, count: int) -> list[Burst]:
        found = []
        for _ in range(count):
            time.sleep(PAUSE_S)
            before, ns, after = wide_ns(), self.ns(first, calls), wide_ns()
            found.append(Burst(ns, max(before, after)))
        return found


@dataclass(frozen=True)
class Burst:
    ns: float  # of a call
    wide_ns: int  # what the same work took beside it: the longer of before and after


def wide_ns() -> int:
    return core_share(CPU, 1)[0][1]


@dataclass(frozen=True)
class Case:
    name: str
    caller: Caller
    first: str
    calls: int  # in a burst
    before: Callable[[], None] = lambda: None
    after: Callable[[], None] = lambda: None
    bar: float = math.inf

    def bursts(self, count: int) -> list[Burst]:
        self.before()
        try:
            return self.caller.bursts(self.first, self.calls, count)
        finally:
            self.after()


@dataclass(frozen=True)
class Size:
    rounds: int
    bursts: int
    calls: int
    kernel_calls: int


def watched(stack: ExitStack, way: Way, size: Size) -> Iterator[Case]:
    program = way.program(COST)
    both = targets(program, list(FUNCTIONS.values()))
    way.prepare(program, both)
    caller = stack.enter_context(Caller(program, way.environment()))
    recorder = stack.enter_context(recording(way, caller.process.pid, way.folder / "recording.tare"))

    def on() -> None:
        refused = recorder.set(both, timed(both), "timing", "probed", 0)
        if refused:
            raise SystemExit(f"{way.name} refused {refused}")
        settle()

    def off() -> None:
        recorder.set([], [], "timing", "markers", 0)
        settle()

    kernel = way.name == "attach"
    calls = size.kernel_calls if kernel else size.calls
    for first, function in FUNCTIONS.items():
        bar = math.inf if kernel and first != EMULATED else BARS[way.name]
        yield Case(f"{way.name}, {function}", caller, first, calls, on, off, bar)
    yield Case(f"{way.name}, no probe on", caller, "push", size.calls)


@contextmanager
def bpftrace(program: Path, caller: Caller) -> Iterator[None]:
    """Sums a function's times by thread, as one would without Tare."""
    where = f"{program}:{FUNCTIONS['push']}"
    script = (
        f"uprobe:{where} {{ @began[tid] = nsecs; }} "
        f"uretprobe:{where} /@began[tid]/ {{ @sum = sum(nsecs - @began[tid]); delete(@began[tid]); }}"
    )
    with subprocess.Popen(["bpftrace", "-e", script], stdout=subprocess.PIPE, text=True) as process:
        try:
            before = caller.ns("push", 1000)
            until = time.monotonic() + BPFTRACE_READY_S
            while caller.ns("push", 1000) < 50 * before:
                if time.monotonic() > until or process.poll() is not None:
                    raise SystemExit("bpftrace did not come to trace")
                time.sleep(0.1)
            yield
        finally:
            process.terminate()


def beside(stack: ExitStack, folder: Path, size: Size) -> Iterator[Case]:
    hooks = stack.enter_context(Caller(cost_with_hooks()))
    yield Case("-finstrument-functions", hooks, "push", size.calls)
    why = (
        "it is not installed" if shutil.which("bpftrace") is None else "it needs root" if os.geteuid() else ""
    )
    if why:
        print(f"NOT MEASURED: bpftrace: {why}", flush=True)
        return
    program = Path(shutil.copy(COST.built(), folder / "cost-bpftrace"))
    caller = stack.enter_context(Caller(program))
    stack.enter_context(bpftrace(program, caller))
    yield Case("bpftrace, push_first", caller, "push", size.kernel_calls)


def measure(cases: Sequence[Case], plain: Caller, size: Size) -> dict[str, list[Burst]]:
    """By case, and by function called without any profiler."""
    found: dict[str, list[Burst]] = defaultdict(list)
    for turn in range(size.rounds):
        for first in FUNCTIONS:
            found[first] += plain.bursts(first, size.calls, size.bursts)
        for case in [*cases[turn % len(cases) :], *cases[: turn % len(cases)]]:
            found[case.name] += case.bursts(size.bursts)
    return found


def figure(name: str, some: Sequence[Burst], bare_ns: float, least_ns: int, bar: float) -> Figure:
    alone = [burst.ns - bare_ns for burst in some if burst.wide_ns <= ALONE * least_ns]
    every = [burst.ns - bare_ns for burst in some]
    if len(alone) < FEWEST:
        told = f"the core was alone in {len(alone)} of {len(some)} bursts, too few: of all"
        return Figure(name, median(every), "ns", bar, spread=f"{told}, {_quartiles(every)}")
    beside = f"{len(alone)} of {len(some)} bursts, {_quartiles(alone)}; of all {median(every):.4g}, {_quartiles(every)}"
    return Figure(name, median(alone), "ns", bar, spread=beside)


def main() -> None:
    asked = arguments(__doc__ or "", rounds=15, bursts=30)
    size = Size(asked.rounds, asked.bursts, 10_000, 400)
    if asked.small:
        size = Size(2, 2, 2_000, 400)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tare-cost-")))
        folders = {name: folder / name for name in BACKENDS}
        for one in folders.values():
            one.mkdir()
        absent = missing(BACKENDS, COST, folder)
        for name, why in absent.items():
            print(f"NOT MEASURED: {name}: {why}", flush=True)
        plain = stack.enter_context(Caller(COST.built()))
        cases = [
            case
            for name in BACKENDS
            if name not in absent
            for case in watched(stack, stack.enter_context(Way(name, folders[name])), size)
        ]
        cases += beside(stack, folder, size)
        found = measure(cases, plain, size)
    least = min(burst.wide_ns for some in found.values() for burst in some)
    calls = {
        first: figure(f"a call itself, {first}", found[first], 0.0, least, math.inf) for first in FUNCTIONS
    }
    report(
        [
            *(figure(one.name, found[one.name], calls[one.first].value, least, one.bar) for one in cases),
            calls["push"],
        ],
        asked.json,
    )


def _quartiles(some: Sequence[float]) -> str:
    low, _, high = quantiles(some, n=4)
    return f"quartiles {low:.4g}–{high:.4g}"


if __name__ == "__main__":
    main()
