"""Builds the programs of this folder, runs them, and reads what they report of themselves."""

from __future__ import annotations

import fcntl
import json
import math
import os
import shutil
import statistics
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from tare.protocol.profile.measured import Measured, Window

SOURCES = Path(__file__).parent
BUILT = Path(__file__).parents[2] / "target" / "survivors"

STARTS_WITHIN_S = 10.0
STOPS_WITHIN_S = 10.0

C = ("gcc", "-std=gnu11", "-O2", "-g", "-pthread", "-o")
LIBRARY = ("gcc", "-std=gnu11", "-O2", "-g", "-fPIC", "-shared", "-o")
CPP = ("g++", "-std=gnu++17", "-O2", "-g", "-pthread", "-o")
CPP_LIBRARY = ("g++", "-std=gnu++17", "-O2", "-g", "-fPIC", "-shared", "-o")
RUST = ("rustc", "--edition", "2021", "-O", "-g", "-o")
GO = ("go", "build", "-o")
COMPILERS = {".c": C, ".cpp": CPP, ".rs": RUST, ".go": GO}
LIBRARIES = {".c": LIBRARY, ".cpp": CPP_LIBRARY}
LINKED = ("-ldl", "-lrt")
FLAGS = {"returns.c": ("-rdynamic",), "throws.cpp": ("-fnon-call-exceptions",)}
PARTS = {"plugin.c": "plugin_part.c", "throws.cpp": "throws_part.cpp"}
"""Sources of the libraries that programs load while they run."""

PERIOD = 70
"""Transactions after which the planned waits begin again (LONG_NS and SHORT_NS in survivor.h)."""

SLICE_S = 0.02
"""Time between two lines of a program (EVERY_NS in survivor.h)."""

CANNOT_RUN_HERE = 77
"""Exit code of a program whose kernel or machine lacks what it needs; its standard error names that."""


class NotBuilt(Exception):
    """A compiler is missing or refused a source, or the program cannot run here; the text names the cause."""


def build(source: str) -> Path:
    """Path of the program, compiled again if a source is newer. Raises NotBuilt."""
    path = SOURCES / source
    BUILT.mkdir(parents=True, exist_ok=True)
    with (BUILT / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # no test replaces the program that another one has just started
        if part := PARTS.get(source):
            library = SOURCES / part
            _compile(LIBRARIES[library.suffix], library, BUILT / f"{library.stem}.so")
        return _compile(COMPILERS[path.suffix], path, BUILT / path.stem)


def _compile(compiler: Sequence[str], source: Path, program: Path) -> Path:
    newest = max(path.stat().st_mtime for path in (source, *source.parent.glob("*.h")))
    if program.exists() and program.stat().st_mtime > newest:
        return program
    if shutil.which(compiler[0]) is None:
        raise NotBuilt(f"{source.name} needs {compiler[0]}, which is not installed")
    libraries = LINKED if compiler[0] in ("gcc", "g++") else ()
    unfinished = program.with_suffix(f".{os.getpid()}")
    command = [*compiler, str(unfinished), str(source), *FLAGS.get(source.name, ()), *libraries]
    completed = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    if completed.returncode:
        raise NotBuilt(f"{compiler[0]} failed on {source.name}: {completed.stderr.strip()[-600:]}")
    return unfinished.replace(program)


@dataclass(frozen=True)
class Sums:
    """Sums over all transactions: x is a function's time within a transaction, T the transaction's duration."""

    calls: int
    ns: float
    squares: float
    products: float

    def minus(self, other: Sums) -> Sums:
        return Sums(
            self.calls - other.calls,
            self.ns - other.ns,
            self.squares - other.squares,
            self.products - other.products,
        )

    def plus(self, other: Sums) -> Sums:
        return Sums(
            self.calls + other.calls,
            self.ns + other.ns,
            self.squares + other.squares,
            self.products + other.products,
        )


@dataclass(frozen=True)
class Truth:
    """Report of a program on itself, from its start or between two lines. The first function is the transaction."""

    transactions: int
    at_ns: int  # CLOCK_MONOTONIC
    ended: bool
    functions: Mapping[str, Sums]

    @staticmethod
    def parse(line: str) -> Truth:
        record = json.loads(line)
        functions = {name: Sums(*values) for name, values in record["functions"].items()}
        return Truth(record["transactions"], record["at_ns"], record["ended"], functions)

    def since(self, earlier: Truth) -> Truth:
        functions = {name: sums.minus(earlier.functions[name]) for name, sums in self.functions.items()}
        return Truth(self.transactions - earlier.transactions, self.at_ns, self.ended, functions)

    def plus(self, other: Truth) -> Truth:
        functions = {name: sums.plus(other.functions[name]) for name, sums in self.functions.items()}
        return Truth(self.transactions + other.transactions, other.at_ns, other.ended, functions)

    @property
    def transaction(self) -> Sums:
        return next(iter(self.functions.values()))

    def share(self, name: str) -> float:
        """Cov(x, T) / Var(T)."""
        whole, part = self.transaction, self.functions[name]
        mean = whole.ns / self.transactions
        return (part.products / self.transactions - part.ns / self.transactions * mean) / self._variance()

    @property
    def mean_ns(self) -> float:
        return self.transaction.ns / self.transactions

    @property
    def sd_ns(self) -> float:
        return math.sqrt(self._variance())

    def _variance(self) -> float:
        return self.transaction.squares / self.transactions - self.mean_ns**2


class Survivor:
    """A program that runs. Its standard output is a file, so that nobody has to read for it to go on."""

    def __init__(self, process: subprocess.Popen[bytes], output: Path) -> None:
        self.process = process
        self._output = output

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def is_alive(self) -> bool:
        return self.process.poll() is None

    def lines(self) -> list[Truth]:
        """Every line so far; one that is being written is left out."""
        whole = self._output.read_text().rpartition("\n")[0]
        return [Truth.parse(line) for line in whole.splitlines()]

    def now(self) -> Truth:
        """The last line so far; waits for the first."""
        until = time.monotonic() + STARTS_WITHIN_S
        while not (lines := self.lines()):
            if not self.is_alive or time.monotonic() > until:
                raise AssertionError(f"{self.process.args!r} wrote no line; exit code {self.process.poll()}")
            time.sleep(0.05)
        return lines[-1]

    def after(self, transactions: int) -> Truth:
        """First line by which so many transactions have ended. Waits for it."""
        until = time.monotonic() + STARTS_WITHIN_S
        while (last := self.now()).transactions < transactions:
            assert self.is_alive, f"{self.process.args!r} has ended by itself: {self.process.returncode}"
            assert time.monotonic() < until, f"{last.transactions} transactions of {transactions}"
            time.sleep(0.05)
        return last

    def await_share(self, name: str, share: float) -> None:
        """Wait for a period of the planned waits in which a function has more than this share of the variance. Other
        work on the machine disturbs some periods; in the others a function has its planned share."""
        until = time.monotonic() + STARTS_WITHIN_S
        while (clearest := self._clearest_share(name)) <= share:
            assert time.monotonic() < until, f"{name} has a share of {clearest:.2f} at most, not {share}"
            time.sleep(0.1)

    def _clearest_share(self, name: str) -> float:
        shares = [0.0]
        first, *others = self.lines()
        for line in others:
            if line.transactions - first.transactions >= PERIOD:
                shares.append(line.since(first).share(name))
                first = line
        return max(shares)

    def slices(self, windows: Iterable[Window]) -> list[tuple[Truth, Truth]]:
        """Pairs of successive lines that lie within one of these windows."""
        return [
            (earlier, later)
            for earlier, later in pairwise(self.lines())
            if any(one.begin_ns <= earlier.at_ns and later.at_ns <= one.end_ns for one in windows)
        ]

    def throughput(self, seconds: float) -> float:
        """Transactions a second: the median over slices of some 20 ms. 0.0 where the program stands still."""
        first = len(self.lines())
        time.sleep(seconds)
        lines = self.lines()[max(0, first - 1) :]
        rates = [
            (later.transactions - earlier.transactions) / (later.at_ns - earlier.at_ns) * 1e9
            for earlier, later in pairwise(lines)
        ]
        expected = int(seconds / SLICE_S)
        rates += [0.0] * (expected // 2 - len(rates))  # slices that never ended
        return statistics.median(rates)

    def standstill_s(self, begin: Truth) -> float:
        """Longest time since `begin` in which no transaction ended."""
        moved, longest_ns = begin, 0
        for line in self.lines():
            if line.at_ns > begin.at_ns:
                longest_ns = max(longest_ns, line.at_ns - moved.at_ns)
                if line.transactions > moved.transactions:
                    moved = line
        return longest_ns / 1e9

    def stop(self) -> Truth:
        """Truth of its whole life, after SIGTERM. Raises AssertionError where it ended before, or does not end."""
        assert self.is_alive, f"{self.process.args!r} has ended by itself: {self.process.returncode}"
        self.process.terminate()
        try:
            code = self.process.wait(STOPS_WITHIN_S)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"{self.process.args!r} does not end on SIGTERM: it hangs") from None
        assert code == 0, f"{self.process.args!r} ended with {code}"
        last = self.lines()[-1]
        assert last.ended
        return last


@contextmanager
def running(program: Path, culprit: str, output: Path, variant: str = "-") -> Iterator[Survivor]:
    """Runs the program until the end of the block, and kills it there if nobody has stopped it. Raises NotBuilt where
    it cannot run here."""
    errors = output.with_suffix(".errors")  # of Go and Rust these are long
    with output.open("wb") as stream, errors.open("wb") as error_stream:
        command: list[Any] = [program, "0", variant, culprit]
        process = subprocess.Popen(command, stdout=stream, stderr=error_stream)
    survivor = Survivor(process, output)
    try:
        try:
            survivor.now()
        except AssertionError:
            if process.poll() == CANNOT_RUN_HERE:
                raise NotBuilt(f"{program.name}: {errors.read_text().strip()}") from None
            raise
        yield survivor
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        process.wait()


@dataclass(frozen=True)
class Case:
    """A program of `survivors/`, and which of its functions varies."""

    source: str
    culprit: str
    variant: str = "-"
    functions: tuple[str, ...] = ()
    """Named to `--functions`; empty: Tare has to find the culprit by itself."""
    duration_s: int = 6
    rounds: int = 2

    @property
    def name(self) -> str:
        variant = "" if self.variant == "-" else f"-{self.variant}"
        return f"{self.source.partition('.')[0]}{variant}-{self.culprit.rpartition('.')[2]}"

    @property
    def transaction(self) -> str:
        return "main.transaction" if self.source.endswith(".go") else "transaction"

    def words(self, pid: int) -> list[str]:
        """Arguments of `tare profile attach`."""
        named = ["--functions", ",".join(self.functions)] if self.functions else []
        words = ["--pid", str(pid), "--txn", f"function:{self.transaction}"]
        return [*words, "--duration", f"{self.duration_s}s", "--rounds", str(self.rounds), *named]


ALIASES = {"memcpy": ("__memcpy", "__memmove")}
"""How the names begin of what a function of the C library is resolved to."""


def is_named(reported: str, function: str) -> bool:
    """Whether a reported name is this function's, whatever library and parameters it is reported with."""
    plain = reported.partition("@")[0].partition("(")[0].strip()
    return plain == function or plain.startswith(ALIASES.get(function, ("\0",)))


HELD_UP_NS = 2e6
"""Stretches of some 20 ms in which transactions, or the function, took so much longer or shorter by the program's clock
than by Tare's are left out: the program lost the CPU between the two, as it may on the way out of a probe."""


@dataclass(frozen=True)
class Shares:
    """A function's share of the variance: Cov(x, T) / Var(T) over the same transactions."""

    true: float  # by the program's own clock
    measured: float  # by Tare's
    held_up: float  # share of the stretches that were left out


def shares(survivor: Survivor, measured: Measured, function: str) -> Shares | None:
    """Over the transactions that ended between two lines of the program within one window. A window's first and last
    milliseconds are in no such stretch; one transaction that the machine held up there would change a share by several
    points. None: there is no such stretch."""
    slices = survivor.slices(measured.windows)
    if not slices:
        return None
    ended_ns = measured.begin_ns + measured.duration_ns
    ended_in = [(earlier.at_ns < ended_ns) & (ended_ns <= later.at_ns) for earlier, later in slices]
    truths = [later.since(earlier) for earlier, later in slices]
    within_ns = time_within(measured, function)
    kept = np.flatnonzero(
        _agree([truth.transaction.ns for truth in truths], measured.duration_ns, ended_in)
        & _agree([truth.functions[function].ns for truth in truths], within_ns, ended_in)
    )
    if not len(kept):
        return None
    truth = reduce(Truth.plus, (truths[one] for one in kept))
    inside = np.logical_or.reduce([ended_in[one] for one in kept])
    matrix = np.cov(within_ns[inside], measured.duration_ns[inside])
    return Shares(truth.share(function), float(matrix[0, 1] / matrix[1, 1]), 1 - len(kept) / len(slices))


def _agree(true_ns: Sequence[float], measured_ns: Any, ended_in: Sequence[Any]) -> Any:
    """Whether the two clocks differ in a stretch as they do in most: one boolean for each."""
    longer_ns = np.array(true_ns) - [measured_ns[inside].sum() for inside in ended_in]
    return np.abs(longer_ns - np.median(longer_ns)) < HELD_UP_NS


def time_within(measured: Measured, function: str) -> Any:
    """Time in the function, in ns: one float for each transaction, over all paths to the function. A call beneath
    another call of it is within that one."""

    def is_named_so(path: int | None) -> bool:
        return path is not None and is_named(measured.name(path), function)

    def is_within_itself(path: int) -> bool:
        parent = measured.paths[path].parent
        while parent is not None and not is_named_so(parent):
            parent = measured.paths[parent].parent
        return parent is not None

    numbers = range(len(measured.paths))
    outermost = [path for path in numbers if is_named_so(path) and not is_within_itself(path)]
    of_function = np.isin(measured.cell_path, outermost)
    owners, times = measured.cell_transaction[of_function], measured.inclusive_ns[of_function]
    return np.bincount(owners, times, measured.transactions)
