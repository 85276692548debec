"""Running the planted program, and what it says really happened."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

STOPS_WITHIN_S = 10.0


@dataclass(frozen=True)
class Source:
    """A planted source of variance, and what a profiler should call it."""

    name: str
    factor: tuple[str, ...]  # the functions of the factor; () where it is the waiting between intervals
    mean_us: float
    negative: bool = False  # a pair whose covariance is below 0: it lowers variance, so no factor by score

    @property
    def events(self) -> bool:
        """Whether transactions are told by annotations."""
        return self.name in ("queue", "step")


SOURCES = (
    Source("lock", ("wait_for_lock",), 400),
    Source("io", ("sync_log",), 400),
    Source("work", ("scan_rows",), 400),
    Source("pair", ("encode_rows", "ship_rows"), 2000),
    Source("antipair", ("encode_rows", "ship_rows"), 2000, negative=True),
    Source("queue", (), 400),
    Source("step", ("apply_change",), 1500),
)


@dataclass(frozen=True)
class Truth:
    """By transaction, ns; measured inside the program."""

    tid: np.ndarray
    begin_ns: np.ndarray
    kind: np.ndarray
    duration: np.ndarray
    first: np.ndarray
    second: np.ndarray

    @staticmethod
    def read(path: Path) -> Truth:
        table = np.loadtxt(path, delimiter=",", skiprows=1, dtype=np.int64, ndmin=2)
        return Truth(table[:, 1], table[:, 3], table[:, 2], *table[:, 4:7].T.astype(float))

    def between(self, begin_ns: int, end_ns: int) -> Truth:
        """Transactions that ran wholly in this time of CLOCK_MONOTONIC."""
        inside = (self.begin_ns >= begin_ns) & (self.begin_ns + self.duration <= end_ns)
        every = (self.tid, self.begin_ns, self.kind, self.duration, self.first, self.second)
        return Truth(*(column[inside] for column in every))

    def shares(self) -> Mapping[str, float]:
        """Shares of Var(T), as equation 1 has them."""
        whole = np.cov((self.duration, self.first, self.second))
        return {
            "first": whole[1, 1] / whole[0, 0],
            "second": whole[2, 2] / whole[0, 0],
            "pair": 2 * whole[1, 2] / whole[0, 0],
        }


@contextmanager
def running(
    program: Path, source: Source, seed: int, truth: Path, environment: Mapping[str, str] | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """Until the context ends; then `truth` is written."""
    asked = {"source": source.name, "seed": seed, "seconds": 0, "mean-us": source.mean_us, "truth": truth}
    words = [word for name, value in asked.items() for word in (f"--{name}", str(value))]
    with subprocess.Popen([program, *words], env=environment) as process:
        try:
            yield process
        finally:
            process.terminate()
            try:
                process.wait(STOPS_WITHIN_S)
            except subprocess.TimeoutExpired:
                process.kill()
    if process.returncode:
        raise SystemExit(f"{program} ended with {process.returncode}")
