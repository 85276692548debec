"""Cost of profiling for a server: the paper's Fig. 5 (left) on PostgreSQL 18, by the number of functions watched.

Two servers with the same data: one as it comes, one started with the agent in it. The load runs on one of them at a
time, in short windows: TPC-C, as in the paper, or pgbench's TPC-B-like transaction, which is so short that each call of
a function counts for more. What a window came to is told by what sends it. Each window of a case has one on the
untouched server beside it, now before it, now after it; cases come in an order by lot. Before each round the servers
are started anew, with each other's data. The case that the bar is about has more pairs than others. First unthrottled,
then, whatever can keep up, at half of the rate that the untouched server managed, in longer windows. Attaching to the
untouched server stands beside it as the curve of a tracer that traps (the paper's DTrace).

Servers, clients and Tare share one CPU, so that whatever Tare takes is taken from the load. On two, windows come out
in two ways, a third apart, by where the kernel has client and server wake each other.

Watched are, of all functions that each transaction calls, the ones called least, as a profile with a small budget
chooses; and, as a harder case, the ones called least of those that the preset names and of what these call. Markers of
transactions are watched too, and also by themselves.

Fig. 5 (right): how many nodes of the call tree a naive profiler has to break down.
"""

from __future__ import annotations

import math
import os
import random
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from benchmarks.common import Figure, arguments, quiet_and_busy
from benchmarks.page import publish
from benchmarks.profile_overhead.bed import BARE, COUNTS, UNTOUCHED, VERSION, Bed, Case, bed
from benchmarks.profile_overhead.choice import chosen, counted, near
from benchmarks.profile_overhead.loads import Load
from benchmarks.profile_overhead.measured import Measured, Pair, figures, page, throughput
from benchmarks.profile_overhead.upkeep import SAYS, keep_up
from benchmarks.profile_ways import MEMORY
from tare.profile.starting import targets_of

HALF = 0.5
SEED = 5
WARMUP_S = 2.0  # of a window, whose connections are new: each fills caches of its own, and prepares what is rare late
DISK = "disk"
STORAGES = {DISK: None, "tmpfs": MEMORY}
"""Folders of the servers' data: in memory nothing waits for a disk, so that the server computes all the time."""
SCALES = {"tpcc": 8, "tpcb": 20}
"""Warehouses, so many that rows are seldom contended; pgbench's unit of 100,000 accounts."""


@dataclass(frozen=True)
class Size:
    seconds: int
    half_seconds: int  # at half of the rate, where one pause of the server is more of a window's mean latency
    rounds: int
    at_bar: int  # pairs in a round of the case at the bar
    counts: Sequence[int]
    fills_s: int = 2  # after a start a server's buffers are empty
    is_whole: bool = True
    """Every case. Otherwise markers are not watched by themselves, functions near the preset by the agent alone, and at
    half of the rate the case at the bar alone is measured."""

    def often(self, case: Case, number: int) -> int:
        """Pairs in this round. One in two rounds of four gives each server either data in one of them."""
        if case.at_bar:
            return self.at_bar
        return 1 if not case.on else int(number % 4 < 2)


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
    counts = (0, *size.counts) if size.is_whole else size.counts
    for way in made.recorders:
        cases += [Case(way, tuple(watch[:count])) for count in counts]
        if size.is_whole or way == "agent":
            cases.append(Case(way, tuple(busier), near=True))
    rate = HALF * first.rate
    unthrottled = paired(made, size, cases, None)
    at_half = cases if size.is_whole else [case for case in cases if case.at_bar]
    able = [case for case in at_half if throughput(unthrottled[case]).value > HALF - 1]
    return [
        Measured(load, case, sum(calls[number] for number in case.watch), rounds.get(case, ()))
        for load, some, rounds in (
            ("unthrottled", cases, unthrottled),
            (f"{rate:.0f}/s", at_half, paired(made, size, able, rate)),
        )
        for case in some
    ], first


def paired(made: Bed, size: Size, cases: Sequence[Case], rate: float | None) -> dict[Case, list[list[Pair]]]:
    lot = random.Random(SEED)
    seconds = size.seconds if rate is None else size.half_seconds
    rounds: dict[Case, list[list[Pair]]] = defaultdict(list)
    if not cases:  # none can keep up
        return rounds
    for number in range(size.rounds):
        made.exchange()
        for way in (BARE, "agent"):
            made.load(way, size.fills_s)
        keep_up({made.urls[BARE], made.urls["agent"]})
        often = {case: size.often(case, number) for case in cases}
        order = lot.sample(list(often), sum(often.values()), counts=list(often.values()))
        done: dict[Case, list[Pair]] = defaultdict(list)
        for case in order:
            done[case].append(pair(made, seconds, case, rate, first=(number // 4 + len(done[case])) % 2 == 0))
        for case, pairs in done.items():
            rounds[case].append(pairs)
    return rounds


def pair(made: Bed, seconds: int, case: Case, rate: float | None, *, first: bool) -> Pair:
    order = (case, UNTOUCHED) if first else (UNTOUCHED, case)
    done = {one: made.window(one, seconds, rate) for one in order}
    return done[UNTOUCHED], done[case]


def naive(made: Bed) -> Iterator[Figure]:
    """The call tree beneath the functions that a statement of a client is."""
    image, tops = made.functions.program, [made.functions[number] for number in made.of.tops]
    for top in tops:
        nodes, leaves = image.naive_nodes(top.address)
        yield Figure(f"call tree beneath {top.name}: nodes to break down", nodes - leaves, "", math.inf)


def main() -> None:
    asked = arguments(
        __doc__ or "",
        files=("markdown",),
        load="tpcc",
        scale=0,
        seconds=1,
        half_seconds=3,
        rounds=12,
        at_bar=2,
        storage=DISK,
    )
    if asked.storage not in STORAGES:
        raise SystemExit(f"--storage is {' or '.join(STORAGES)}")
    if asked.load not in SCALES:
        raise SystemExit(f"--load is {' or '.join(SCALES)}")
    scale, warmup_s = asked.scale or SCALES[asked.load], WARMUP_S
    size = Size(asked.seconds, asked.half_seconds, asked.rounds, asked.at_bar, COUNTS)
    if asked.small:
        scale, warmup_s, size = 1, 0.3, Size(1, 1, 1, 1, COUNTS[-1:], fills_s=1, is_whole=False)
    load_before, cpu = os.getloadavg()[0], quiet_and_busy()[0]
    os.sched_setaffinity(0, {cpu})  # for all that is started from here on
    with ExitStack() as stack:
        folder, data = (
            Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tare-overhead-", dir=place)))
            for place in (None, STORAGES[asked.storage])
        )
        for one in (folder, data):
            one.chmod(0o755)  # root's servers run as an ordinary user
        with bed(asked.load, scale, warmup_s, folder, data) as made:
            every, bare = measure(made, size)
            beside, load = list(naive(made)), made.sender.says
    words = (
        f"PostgreSQL {VERSION}, data on {asked.storage}, {SAYS}; {load}; "
        f"all on CPU {cpu}; windows of {size.seconds} s, at half of the rate "
        f"{size.half_seconds} s; the untouched server {bare.rate:.0f}/s, "
        f"{bare.mean_ms:.2f} ms; load average before {load_before:.2f}."
    )
    made_page = page(every, words)
    publish(asked, made_page, [*figures(every), *beside], f"{asked.load} on {asked.storage}")


if __name__ == "__main__":
    main()
