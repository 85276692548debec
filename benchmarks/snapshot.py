"""Cost of a snapshot of 200 processes and of one of the machine, tier by tier.

Each tier is timed in a row, where few processes ran since the snapshot before, as it is around a query. Beside
that stand the worst case (every process ran meanwhile, and the caches are cold), which no bar is set for, and
the same files opened, read and closed one by one.
The world-readable tier is timed as an ordinary user, as it is meant.
"""

from __future__ import annotations

import json
import os
import signal
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from benchmarks.common import Figure, arguments, quartiles, report
from tare._probe import Probe, ProbeError, read_process

BARS_MS = {"bpf": 0.2, "taskstats": 1.5, "procfs": 2.5}
MACHINE_BAR_MS = 0.05
NOBODY = 65534
FILES = ("stat", "status", "io", "schedstat")


def processes() -> list[int]:
    return [int(folder.name) for folder in Path("/proc").iterdir() if folder.name.isdigit()]


@contextmanager
def company(wanted: int) -> Iterator[list[int]]:
    """Children that do nothing until they are signalled, so that `wanted` processes are there in all."""
    signal.signal(signal.SIGUSR1, lambda *_: None)
    children: list[int] = []
    try:
        for _ in range(wanted - len(processes())):
            pid = os.fork()
            if pid == 0:
                while True:
                    signal.pause()
            children.append(pid)
        yield children
    finally:
        for pid in children:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


@contextmanager
def waker(children: list[int]) -> Iterator[Callable[[], None]]:
    """A call that lets every child run once and waits till all sleep again; works for an ordinary user too."""
    inlet, outlet = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(outlet)
        while os.read(inlet, 1):
            for child in children:
                os.kill(child, signal.SIGUSR1)
        os._exit(0)
    os.close(inlet)

    def wake() -> None:
        os.write(outlet, b".")
        time.sleep(0.05)

    try:
        yield wake
    finally:
        os.close(outlet)
        os.waitpid(pid, 0)


def timed(act: Callable[[], object], rounds: int, before: Callable[[], None] | None = None) -> list[float]:
    """Milliseconds of each round."""
    times = []
    for _ in range(rounds):
        if before is not None:
            before()
        start = time.perf_counter_ns()
        act()
        times.append((time.perf_counter_ns() - start) / 1e6)
    return times


def open_read_close() -> None:
    for pid in processes():
        for name in FILES:
            with suppress(OSError):
                descriptor = os.open(f"/proc/{pid}/{name}", os.O_RDONLY)
                try:
                    os.read(descriptor, 8192)
                finally:
                    os.close(descriptor)


def parsed_one_by_one() -> None:
    for pid in processes():
        with suppress(ProbeError):
            read_process(pid)


def as_ordinary_user(act: Callable[[], list[float]]) -> list[float]:
    """Runs `act` in a child without root's rights (in this process where it has none)."""
    if os.geteuid() != 0:
        return act()
    inlet, outlet = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setresgid(NOBODY, NOBODY, NOBODY)
            os.setresuid(NOBODY, NOBODY, NOBODY)
            os.write(outlet, json.dumps(act()).encode())
            os._exit(0)
        finally:
            os._exit(1)
    os.close(outlet)
    with os.fdopen(inlet, "rb") as answer:
        text = answer.read()
    if os.waitpid(child, 0)[1] != 0:
        raise RuntimeError("the ordinary user's part of the benchmark failed")
    times: list[float] = json.loads(text)
    return times


def main() -> None:
    asked = arguments("Cost of snapshots", processes=200, rounds=60)
    rounds = 10 if asked.small else asked.rounds
    figures = []
    # A few more, for others may end meanwhile.
    with company(asked.processes + 5) as children, waker(children) as wake:
        plain = statistics.median(timed(open_read_close, rounds))
        parsed = statistics.median(timed(parsed_one_by_one, rounds))
        beside = f"open-read-close loop {plain:.2f} ms, the same parsed in Rust {parsed:.2f} ms"
        for name, bar in BARS_MS.items():
            try:
                probe = Probe(name)
            except ProbeError as error:
                print(f"{name}: not measured: {error}")
                continue
            seen = len(probe.processes())
            assert seen >= asked.processes, f"only {seen} processes"

            # The probe is made anew by whoever reads, for a descriptor keeps its opener's rights.
            def at_rest(name: str = name) -> list[float]:
                probe = Probe(name)
                probe.processes()
                return timed(probe.processes, rounds)

            def busy(name: str = name, wake: Callable[[], None] = wake) -> list[float]:
                probe = Probe(name)
                probe.processes()
                return timed(probe.processes, rounds, wake)

            run = as_ordinary_user if name == "procfs" else (lambda act: act())
            times, after_all_ran = run(at_rest), statistics.median(run(busy))
            spread = (
                f"{quartiles(times)}; {after_all_ran:.2f} ms after 50 ms in which every process ran; {beside}"
            )
            title = f"snapshot of {seen} processes, {name}"
            figures.append(Figure(title, statistics.median(times), "ms", bar, spread=spread))
            probe.close()
        probe = Probe()
        probe.machine()
        times = timed(probe.machine, rounds * 10)
        figures.append(
            Figure(
                "snapshot of the machine",
                statistics.median(times),
                "ms",
                MACHINE_BAR_MS,
                spread=quartiles(times),
            )
        )
    report(figures, asked.json)


if __name__ == "__main__":
    main()
