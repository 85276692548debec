"""Is the exact CPU time steady under noise? One warm CPU-bound query, ten QEs a case.

Cases: nothing, a CPU hog on the query's CPU, an O_DIRECT reader, both. The
cases are interleaved round by round, so that a neighbour of this machine meets
them all alike. Beside the exact time stand wall and TTPv2 times of the same QEs.
"""

from __future__ import annotations

import mmap
import os
import signal
import statistics
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from multiprocessing import Process
from pathlib import Path

from benchmarks.common import Figure, arguments, postgresql, report, rig, rsd
from tare.measure.qe import time_single_qe
from tare.measure.query import Query
from tare.measure.records import QE, CacheState

QUERY = Query("sum", "SELECT sum(i::bigint * i) FROM generate_series(1, 1100000) AS i")
CASES = ("none", "cpu hog", "O_DIRECT reader", "both")


def hog(cpu: int) -> None:
    os.sched_setaffinity(0, {cpu})
    while True:
        pass


def reader(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECT)
    size, block = os.fstat(descriptor).st_size, 1 << 16
    buffer = mmap.mmap(-1, block)
    offset = 0
    while True:
        os.preadv(descriptor, [buffer], offset)
        offset = (offset + block) % (size - size % block)


@contextmanager
def running(target: object, argument: object) -> Iterator[None]:
    process = Process(target=target, args=(argument,), daemon=True)  # type: ignore[arg-type]
    process.start()
    try:
        yield
    finally:
        assert process.pid
        os.kill(process.pid, signal.SIGKILL)
        process.join()


def ttp2_ms(qe: QE) -> float:
    """The query process's user + system ticks: the query does no I/O."""
    query = [p for p in qe.processes if p.role == "query"]
    return float(sum(p.user_ticks + p.system_ticks for p in query) * 1000 / os.sysconf("SC_CLK_TCK"))


def main() -> None:
    asked = arguments(__doc__ or "", runs=10)
    runs = 4 if asked.small else asked.runs
    cpu = max(os.sched_getaffinity(0))
    measured: dict[str, list[QE]] = {case: [] for case in CASES}
    with postgresql() as url, rig(url) as tare, tempfile.NamedTemporaryFile(dir=".") as file:
        Path(file.name).write_bytes(os.urandom(1 << 20) * 64)
        os.sync()
        os.sched_setaffinity(tare.leader.pid, {cpu})
        for round_ in range(-2, runs):
            for case in CASES:
                with ExitStack() as noise:
                    if case in ("cpu hog", "both"):
                        noise.enter_context(running(hog, cpu))
                    if case in ("O_DIRECT reader", "both"):
                        noise.enter_context(running(reader, file.name))
                    qe = time_single_qe(
                        tare,
                        QUERY,
                        index=0,
                        query_index=0,
                        warmup=False,
                        cache=CacheState.WARM,
                        timeout_s=None,
                    )
                if round_ >= 0:
                    measured[case].append(qe)
    figures = []
    calm = statistics.median(qe.elapsed.cpu_ns for qe in measured["none"] if qe.elapsed and qe.elapsed.cpu_ns)
    for case, qes in measured.items():
        cpu_ms = [qe.elapsed.cpu_ns / 1e6 for qe in qes if qe.elapsed and qe.elapsed.cpu_ns is not None]
        wall_ms = [qe.elapsed.wall_ns / 1e6 for qe in qes if qe.elapsed]
        ticks = [ttp2_ms(qe) for qe in qes]
        assert len(cpu_ms) == runs
        beside = (
            f"median {statistics.median(cpu_ms):.1f} ms; wall {statistics.median(wall_ms):.0f} ms, "
            f"rsd {rsd(wall_ms):.1f}%; TTPv2 {statistics.median(ticks):.0f} ms, rsd {rsd(ticks):.1f}%"
        )
        figures.append(Figure(f"exact CPU, rsd, {case}", rsd(cpu_ms), "%", 3.0, spread=beside))
        if case != "none":
            shift = 100 * abs(statistics.median(cpu_ms) * 1e6 / calm - 1)
            figures.append(Figure(f"exact CPU, shift of the median, {case}", shift, "%", 10.0))
    report(figures, asked.json)


if __name__ == "__main__":
    main()
