"""Is the exact CPU time steady under noise? Warm CPU-bound queries of three seconds, ten QEs a case; and a short one.

Cases: nothing, a CPU hog on the query's CPU, an O_DIRECT reader, both. The
cases are interleaved round by round, so that a neighbour of this machine meets
them all alike. The query stands on the CPU that takes the fewest device interrupts, as `tare isolate`
would put it; then, to show what that is worth, on the one that takes the most. Beside the exact time
stand wall and TTPv2 times of the same QEs. Without any noise of ours the figure shows what the machine
itself does: a guest's CPU runs slower when its host is busy, and no counter of the guest tells.

Two kinds of work, since a busy sibling thread of the CPU does not take from both alike. Digests are one chain
of operations that wait for each other: what the sibling takes was idle, so that this query's CPU time varies
by what the meter and the case do to it. It has the bar. The product has many operations that could go at the
same time, as most queries have: its figures show what the host makes of such work.
"""

from __future__ import annotations

import math
import mmap
import os
import signal
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from multiprocessing import Process
from pathlib import Path

from benchmarks.common import Figure, arguments, postgresql, quiet_and_busy, report, rig, rsd, weigh_once
from tare.measure.query import Query
from tare.measure.records import QE, Elapsed
from tare.measure.rig import Rig


# All CPU and hardly any memory: a host that gives and takes a guest's pages has nothing to do here.
def digests(name: str, rows: int) -> Query:
    return Query(name, f"SELECT count(md5(repeat('x', 8000) || a)) FROM generate_series(1, {rows}) AS a")


def product(name: str, rows: int) -> Query:
    return Query(
        name, f"SELECT sum((a * b) % 7) FROM generate_series(1, 1000) AS a, generate_series(1, {rows}) AS b"
    )


CHAIN, SHORT_CHAIN = digests("digests of three seconds", 200_000), digests("short digests", 6_700)
WIDE, SHORT_WIDE = product("product of three seconds", 81_000), product("short product", 2_700)
CASES = ("none", "cpu hog", "O_DIRECT reader", "both")


def hog(cpu: int) -> None:
    os.sched_setaffinity(0, {cpu})
    parent = os.getppid()
    while os.getppid() == parent:  # noise must not outlive a benchmark that was killed
        for _ in range(10_000):
            pass


def reader(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECT)
    size, block = os.fstat(descriptor).st_size, 1 << 16
    buffer = mmap.mmap(-1, block)
    offset = 0  # 64 KiB at a time keeps the disk's interrupts coming, some 10,000 a second
    parent = os.getppid()
    while os.getppid() == parent:
        os.preadv(descriptor, [buffer], offset)
        offset = (offset + block) % (size - size % block)


@contextmanager
def running(target: object, argument: object) -> Iterator[None]:
    process = Process(target=target, args=(argument,), daemon=True)  # type: ignore[arg-type]
    process.start()
    try:
        yield
        assert process.is_alive(), "the noise ended by itself"
    finally:
        assert process.pid
        os.kill(process.pid, signal.SIGKILL)
        process.join()


def ttp2_ms(qe: QE) -> float:
    """The query process's user + system ticks: the query does no I/O."""
    query = [p for p in qe.processes if p.role == "query"]
    return float(sum(p.user_ticks + p.system_ticks for p in query) * 1000 / os.sysconf("SC_CLK_TCK"))


def weigh_cases(tare: Rig, query: Query, file: str, cpu: int, rounds: int) -> dict[str, list[QE]]:
    """The QEs of each case, on one CPU; two rounds before the first warm up."""
    os.sched_setaffinity(tare.leader.pid, {cpu})
    measured: dict[str, list[QE]] = {case: [] for case in CASES}
    for round_ in range(-2, rounds):
        for case in CASES:
            with ExitStack() as noise:
                if case in ("cpu hog", "both"):
                    noise.enter_context(running(hog, cpu))
                if case in ("O_DIRECT reader", "both"):
                    noise.enter_context(running(reader, file))
                qe = weigh_once(tare, query)
            if round_ >= 0:
                measured[case].append(qe)
    return measured


def await_calm(tare: Rig, query: Query, cpu: int, attempts: int) -> None:
    """Looks at the machine without any noise of ours until it is as steady as the bar asks, and prints each
    look. What a host does to its guest is no case of this benchmark, but it is in every figure."""
    os.sched_setaffinity(tare.leader.pid, {cpu})
    for attempt in range(1, attempts + 1):
        qes = [weigh_once(tare, query) for _ in range(12)]
        alone = rsd(cpu_of(qes[2:]))
        print(f"the machine by itself, look {attempt}: rsd of the exact CPU time {alone:.1f}%")
        if alone <= 3.0:
            return
        time.sleep(5)


def figures(measured: dict[str, list[QE]], where: str, barred: bool) -> Iterator[Figure]:
    """The bar is for digests of seconds on a CPU that does not serve the disk. Where it does, the scheduler books
    interrupts to whoever is on the CPU, and the remedy is another CPU, not another number."""
    calm = statistics.median(cpu_of(measured["none"]))
    for case, qes in measured.items():
        cpu_ms, wall_ms, ticks = (
            cpu_of(qes),
            [e.wall_ns / 1e6 for e in timelines(qes)],
            [ttp2_ms(qe) for qe in qes],
        )
        traced = [e.interrupt_ns / 1e6 for e in timelines(qes) if e.interrupt_ns is not None]
        interrupts = f"{statistics.median(traced):.2f} ms" if traced else "untold"
        beside = (
            f"median {statistics.median(cpu_ms):.1f} ms, of it {interrupts} in interrupts; "
            f"wall {statistics.median(wall_ms):.0f} ms, rsd {rsd(wall_ms):.1f}%; "
            f"TTPv2 {statistics.median(ticks):.0f} ms, rsd {rsd(ticks):.1f}%"
        )
        yield Figure(
            f"exact CPU, rsd, {case}, {where}", rsd(cpu_ms), "%", 3.0 if barred else math.inf, spread=beside
        )
        if case != "none":
            shift = 100 * abs(statistics.median(cpu_ms) / calm - 1)
            yield Figure(
                f"exact CPU, shift of the median, {case}, {where}", shift, "%", 10.0 if barred else math.inf
            )


def timelines(qes: Sequence[QE]) -> list[Elapsed]:
    return [qe.elapsed for qe in qes if qe.elapsed is not None]


def cpu_of(qes: Sequence[QE]) -> list[float]:
    found = [e.cpu_ns / 1e6 for e in timelines(qes) if e.cpu_ns is not None]
    assert len(found) == len(qes)
    return found


def main() -> None:
    asked = arguments(__doc__ or "", runs=10, attempts=1)
    runs = 3 if asked.small else asked.runs
    quiet, busy = quiet_and_busy()
    with postgresql() as url, rig(url) as tare, tempfile.NamedTemporaryFile(dir=".") as file:
        Path(file.name).write_bytes(os.urandom(1 << 20) * 64)
        os.sync()
        barred = SHORT_CHAIN if asked.small else CHAIN
        await_calm(tare, barred, quiet, 1 if asked.small else asked.attempts)
        calm, disk = f"on CPU {quiet} (fewest interrupts)", f"on CPU {busy} (takes the disk's)"
        places = [(barred, quiet, calm, True)]
        if not asked.small:
            places += [(WIDE, quiet, calm, False), (SHORT_WIDE, quiet, calm, False)]
        if busy != quiet:
            places.append((SHORT_WIDE, busy, disk, False))
        found = [
            figure
            for query, cpu, where, has_bar in places
            for figure in figures(
                weigh_cases(tare, query, file.name, cpu, runs), f"{query.name}, {where}", has_bar
            )
        ]
    report(found, asked.json)


if __name__ == "__main__":
    main()
