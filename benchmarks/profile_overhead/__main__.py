"""What profiling costs a server: the paper's Fig. 5 (left) on PostgreSQL 18, by the number of functions watched.

Two servers with the same data: one as it comes, one started with the agent in it. The load runs on one of them at a
time, in windows of a few seconds that take turns: TPC-C, as in the paper, or pgbench's TPC-B-like transaction, which is
so short that each call of a function counts for more. What a window came to is told by what sends it. A case is
compared with the window on the untouched server in the same round; intervals are Student's over rounds. First
unthrottled, then at a rate of half of what the untouched server managed. Attaching to the untouched server stands
beside it as the curve of a tracer that traps (the paper's DTrace).

Watched are, of all functions that each transaction calls, the ones called least, as a profile with a small budget
chooses; and, as a harder case, the ones called least of those that the preset names and of what these call. Markers of
transactions are watched too, and also by themselves.

Fig. 5 (right): how many nodes of the call tree a naive profiler has to break down.
"""

from __future__ import annotations

import math
import os
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.common import Figure, arguments, report
from benchmarks.page import put, table
from benchmarks.profile_overhead.choice import chosen, counted, near
from benchmarks.profile_overhead.loads import Load, Sender, TpcB, TpcC
from benchmarks.profile_overhead.pgbench import Pgbench
from benchmarks.profile_ways import MEMORY, Target, Way, owner_of, recording, settle
from tare._probe import ProfileRecorder
from tare.dbms.servers import RunningServer, record, restart, start_postgresql
from tare.profile.functions import Functions
from tare.profile.images import functions_of
from tare.profile.server import of_process
from tare.profile.starting import targets_of
from tare.profile.transactions import Transactions, transactions
from tare.protocol.profile.found import Estimate, Overhead
from tare.protocol.profile.overhead import Turn, overhead

VERSION = "18"
COUNTS = (1, 10, 50, 100)
PAPER = 0.06
BARE = "as it comes"
HALF = 0.5
DISK = "disk"
STORAGES = {DISK: None, "tmpfs": MEMORY}
"""Where the servers' data are: in memory nothing waits for a disk, so that the server computes all the time."""
SCALES = {"tpcc": 8, "tpcb": 20}
"""Warehouses, so many that rows are seldom contended; pgbench's unit of 100,000 accounts."""


@dataclass(frozen=True)
class Case:
    way: str  # BARE, or the backend's name
    watch: tuple[int, ...] = ()
    on: bool = (
        True  # the markers of transactions at least; else the agent is in the server, and no probe is on
    )
    near: bool = False  # the functions are the preset's and what these call

    def __str__(self) -> str:
        if self.way == BARE:
            return self.way
        number = len(self.watch)
        what = (
            f"{number} function{'s' * (number > 1)}"
            if number
            else "markers alone"
            if self.on
            else "nothing on"
        )
        return f"{self.way}, {what}{' near the preset' * self.near}"


UNTOUCHED = Case(BARE, on=False)


@dataclass(frozen=True)
class Bed:
    """Both servers, loaded alike. They run one binary, so that a function has one number in both."""

    sender: Sender
    urls: Mapping[str, str]  # by way
    recorders: Mapping[str, ProfileRecorder]
    programs: Mapping[str, str]  # by way: files of their own
    functions: Functions
    of: Transactions

    def load(self, way: str, seconds: int, rate: float | None = None) -> Load:
        return self.sender.window(self.urls[way], seconds, rate)

    def window(self, case: Case, seconds: int, rate: float | None) -> Load:
        if case.on:
            self._on(self.recorders[case.way], case.watch)
        try:
            return self.load(case.way, seconds, rate)
        finally:
            if case.on:
                self.recorders[case.way].set([], [], "timing", "resting", 1)
                settle()

    def target(self, way: str, number: int) -> Target:
        number, name, _, address, size = self.functions[number].target()
        return number, name, self.programs[way], address, size

    def _on(self, recorder: ProfileRecorder, watch: Sequence[int]) -> None:
        targets = [self.target(recorder.name, number) for number in (*sorted(self.of.marking), *watch)]
        probes = [*self.of.markers, *((number, "site", False, False) for number in watch)]
        refused = recorder.set(targets, probes, "timing", "probed", 1)
        if refused:
            raise SystemExit(f"{recorder.name} refused {refused}")
        settle()


@contextmanager
def bed(load: str, scale: int, folder: Path, data: Path) -> Iterator[Bed]:
    with ExitStack() as stack:
        bare = stack.enter_context(start_postgresql(data / "bare", version=VERSION))
        other = stack.enter_context(start_postgresql(data / "other", version=VERSION))
        sender = TpcC(scale) if load == "tpcc" else TpcB(Pgbench(bare.record.binaries), scale)
        for server in (bare, other):
            sender.prepare(server)
        functions = functions_of(of_process(bare.pid))
        of = transactions("commit", "postgresql", int(VERSION), functions)
        agent = stack.enter_context(Way("agent", folder))
        program = own_copy(other, folder) / "postgres"
        # those of `tare profile run`, not only the ones that will be watched
        targets = [
            (number, name, str(program), address, size)
            for number, name, _, address, size in targets_of(functions, "agent")
        ]
        agent.prepare(program, targets, of.triggers, owner_of(other.directory))
        with agent.in_children():
            restart(other.record)
        recorders = {"agent": stack.enter_context(recording(agent, other.pid, folder / "agent.tare"))}
        if os.geteuid() == 0:
            attach = stack.enter_context(Way("attach", folder))
            recorders["attach"] = stack.enter_context(recording(attach, bare.pid, folder / "attach.tare"))
        else:
            print("NOT MEASURED: attach: it needs root", flush=True)
        urls = {BARE: bare.url, "attach": bare.url, "agent": other.url}
        programs = {"agent": str(program), "attach": functions.program.path}
        yield Bed(sender, urls, recorders, programs, functions, of)


def own_copy(server: RunningServer, folder: Path) -> Path:
    """Lets a server run copied programs from its next start on. A uprobe is put on every process of a file, and what it
    puts back in the end is the file's first byte: not what the agent has made of it."""
    place = folder / "install"
    shutil.copytree(server.record.binaries.parent, place, symlinks=True)
    record.write(replace(server.record, binaries=place / "bin"))
    return place / "bin"


@dataclass(frozen=True)
class Size:
    seconds: int
    rounds: int
    counts: Sequence[int]


@dataclass(frozen=True)
class Measured:
    load: str  # "unthrottled", or the rate
    case: Case
    events: float  # pairs of entry and exit a transaction, markers left out
    found: Overhead

    def lines(self) -> list[str]:
        return [
            self.load,
            str(self.case),
            f"{self.events:.1f}",
            _share(self.found.throughput),
            _share(self.found.latency),
        ]


def measure(made: Bed, size: Size) -> tuple[list[Measured], Load]:
    every = [number for number, *_ in targets_of(made.functions, "agent") if number not in made.of.marking]
    made.load("agent", size.seconds)  # fills its buffers
    first = made.load(BARE, size.seconds)
    calls = counted(
        made.recorders["agent"],
        [made.target("agent", number) for number in every],
        lambda: made.load("agent", size.seconds).transactions,
    )
    watch, busier = (
        chosen({number: calls[number] for number in pool if number in calls}, max(size.counts))
        for pool in (every, near(made.functions, made.of))
    )
    for some in (watch, busier):
        if len(some) < max(size.counts):
            print(f"ONLY {len(some)} functions are called by each transaction", flush=True)
    cases = [Case("agent", on=False)]
    for way in made.recorders:
        cases += [Case(way, tuple(watch[:count])) for count in (0, *size.counts)]
        cases.append(Case(way, tuple(busier), near=True))
    found = []
    for load, rate in (("unthrottled", None), (f"{HALF * first.rate:.0f}/s", HALF * first.rate)):
        turns: dict[Case, list[Turn]] = defaultdict(list)
        for turn in range(size.rounds):
            bare = made.window(UNTOUCHED, size.seconds, rate)
            for case in [*cases[turn % len(cases) :], *cases[: turn % len(cases)]]:
                done = made.window(case, size.seconds, rate)
                turns[case] += [_turn(False, bare), _turn(True, done)]
        for case in cases:
            events = sum(calls[number] for number in case.watch)
            compared = overhead(turns[case], events=events, pair_ns=math.nan, marker_events=0)
            found.append(Measured(load, case, events, compared))
    return found, first


def _turn(probed: bool, load: Load) -> Turn:
    return Turn(probed, load.transactions, 1e6 * load.mean_ms, load.transactions / load.rate)


def figures(every: Sequence[Measured]) -> Iterator[Figure]:
    for one in every:
        at_bar = one.case.way == "agent" and len(one.case.watch) == max(COUNTS) and not one.case.near
        for what, found in (("throughput lost", one.found.throughput), ("latency added", one.found.latency)):
            if found is not None:
                yield Figure(
                    f"{one.load}: {one.case}: {what}",
                    100 * found.value,
                    "%",
                    100 * PAPER if at_bar else math.inf,
                    spread=f"{100 * found.low:.1f} to {100 * found.high:.1f}%, {one.events:.0f} calls a transaction",
                )


def naive(made: Bed) -> Iterator[Figure]:
    """The call tree beneath the functions that a statement of a client is."""
    image, tops = made.functions.program, [made.functions[number] for number in made.of.tops]
    for top in tops:
        nodes, leaves = image.naive_nodes(top.address)
        yield Figure(f"call tree beneath {top.name}: nodes to break down", nodes - leaves, "", math.inf)


def page(every: Sequence[Measured], words: str) -> str:
    header = ("load", "watched", "calls a transaction", "throughput lost", "latency added")
    return f"{words}\n\n{table(header, [one.lines() for one in every])}"


def main() -> None:
    asked = arguments(
        __doc__ or "", files=("markdown",), load="tpcc", scale=0, seconds=5, rounds=10, storage=DISK
    )
    if asked.storage not in STORAGES:
        raise SystemExit(f"--storage is {' or '.join(STORAGES)}")
    if asked.load not in SCALES:
        raise SystemExit(f"--load is {' or '.join(SCALES)}")
    scale, size = asked.scale or SCALES[asked.load], Size(asked.seconds, asked.rounds, COUNTS)
    if asked.small:
        scale, size = 1, Size(1, 2, COUNTS[-1:])
    load_before = os.getloadavg()[0]
    with ExitStack() as stack:
        folder, data = (
            Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tare-overhead-", dir=place)))
            for place in (None, STORAGES[asked.storage])
        )
        for one in (folder, data):
            one.chmod(0o755)  # root's servers run as an ordinary user
        with bed(asked.load, scale, folder, data) as made:
            every, bare = measure(made, size)
            beside, load = list(naive(made)), made.sender.says
    words = (
        f"PostgreSQL {VERSION}, data on {asked.storage}, {load}; "
        f"{size.rounds} rounds of {size.seconds} s for each case; the untouched server {bare.rate:.0f}/s, "
        f"{bare.mean_ms:.2f} ms; load average before {load_before:.2f}."
    )
    made_page = page(every, words)
    if asked.markdown:
        put(asked.markdown, made_page, f"{asked.load} on {asked.storage}")
    if not asked.json:
        print(made_page, end="\n\n")
    report([*figures(every), *beside], asked.json)


def _share(estimate: Estimate | None) -> str:
    if estimate is None:
        return "–"
    return f"{100 * estimate.value:.1f}% ({100 * estimate.low:.1f} to {100 * estimate.high:.1f})"


if __name__ == "__main__":
    main()
