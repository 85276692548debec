"""Does `tare profile attach` find a culprit by itself, in programs that are hard to watch?

Each case is a program of `survivors/` with one culprit: exceptions, panics, coroutines, goroutines, signal
handlers, threads that end in mid-call, calls through tables, plugins, recursion, children. Each is profiled as a user
profiles it: by process, with automatic refinement and no function named. A culprit counts as found where the first
factor is the culprit, or is what the culprit calls in a library in order to wait. Its share is checked against
the program's own figures of the same transactions.
"""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.common import Figure, arguments
from benchmarks.page import publish, table
from benchmarks.survivors.programs import (
    Case,
    NotBuilt,
    Shares,
    Survivor,
    Truth,
    build,
    is_named,
    running,
    shares,
)
from tare.lab.profiles import open_run

CASES = (
    Case("pointers.c", "culprit"),
    Case("pointers.c", "level2"),
    Case("pointers.c", "prepare"),
    Case("plugin.c", "plugin_step", "before"),
    Case("plugin.c", "plugin_step", "during"),
    Case("plugin.c", "execute", "before"),
    Case("recursion.c", "read_leaf"),
    Case("recursion.c", "write_leaf"),
    Case("recursion.c", "descend"),
    Case("exception.cpp", "fetch", "inside"),
    Case("exception.cpp", "bind", "inside"),
    Case("exception.cpp", "parse", "inside"),
    Case("exception.cpp", "fetch", "above"),
    Case("exception.cpp", "execute", "above"),
    Case("panic.rs", "fetch", "inside"),
    Case("panic.rs", "bind", "inside"),
    Case("panic.rs", "fetch", "above"),
    Case("coroutines.c", "fetch"),
    Case("coroutines.c", "execute"),
    Case("coroutines.c", "parse"),
    Case("goroutines.go", "main.fetch"),
    Case("goroutines.go", "main.execute"),
    Case("goroutines.go", "main.parse"),
    Case("altstack.c", "checksum", "above"),
    Case("altstack.c", "checksum", "below"),
    Case("altstack.c", "execute", "above"),
    Case("threads_end.cpp", "commit", "exit"),
    Case("threads_end.cpp", "parse", "exit"),
    Case("threads_end.cpp", "commit", "cancel"),
    Case("threads_end.cpp", "execute", "cancel"),
    Case("longjmp.c", "fetch"),
    Case("longjmp.c", "execute"),
    Case("seccomp.c", "fetch"),
    Case("seccomp.c", "parse"),
    Case("prefork.c", "fetch"),
    Case("prefork.c", "parse"),
    Case("ifunc.c", "memcpy", "sizes"),
    Case("ifunc.c", "copy_row"),
    Case("tailcalls.c", "write_row"),
    Case("tailcalls.c", "read_row"),
    Case("tailcalls.c", "decode"),
    Case("tailcalls.c", "scan"),
)
SMALL = "pointers-prepare"

NEW_KINDS = {"pointers.c", "plugin.c", "recursion.c", "exception.cpp", "panic.rs", "coroutines.c"}
"""Indirect calls, plugins, recursion, exceptions and coroutines."""

RUST_LIBRARY = ("std::", "core::", "alloc::")

OF_THIRTY = 29
SHARE_OFF = 5.0  # percentage points
ROUNDS = 8
LOOK_S = 0.5
STANDSTILL_S = 1.0
NOT_IN_TIME_S = 90.0  # beyond the seconds that were requested


@dataclass(frozen=True)
class Outcome:
    case: Case
    state: str  # "alive", or what became of the program
    exit_code: int | None  # of `tare`; None: it did not end
    profile: dict[str, Any] | None
    shares: Shares | None  # of the variance; None: there are none

    @property
    def first(self) -> str:
        factors = self.profile["factors"] if self.profile else []
        return f"{' × '.join(factors[0]['names'])} ({factors[0]['kind']})" if factors else "none"

    @property
    def is_found(self) -> bool:
        """Whether the program lives, and the first factor is the culprit or a library's function that it waits in."""
        factors = self.profile["factors"] if self.profile else []
        if self.state != "alive" or not factors or factors[0]["kind"] not in ("function", "body"):
            return False
        names = factors[0]["names"]
        if is_named(names[0], self.case.culprit):
            return True
        return factors[0]["kind"] == "function" and self._waits_in(names[0])

    def _waits_in(self, name: str) -> bool:
        """On its path that varies most, what is between it and the culprit is in libraries."""
        nodes = {node["path"]: node for node in self.profile["nodes"]} if self.profile else {}
        same = [node for node in nodes.values() if node["name"] == name and node["variance"]]
        node = max(same, key=lambda node: node["variance"]["value"], default=None)
        while node is not None and is_of_library(node["name"]):
            node = None if node["parent"] is None else nodes[node["parent"]]
        return node is not None and is_named(node["name"], self.case.culprit)

    @property
    def share_off(self) -> float | None:
        """Percentage points."""
        return 100 * abs(self.shares.measured - self.shares.true) if self.shares else None

    @property
    def is_right(self) -> bool:
        return self.is_found and self.share_off is not None and self.share_off <= SHARE_OFF


def is_of_library(name: str) -> bool:
    """A shared library's, one of Go's packages, or one of Rust's standard library, which is linked into the program."""
    return "@" in name or name.startswith(RUST_LIBRARY) or ("." in name and not name.startswith("main."))


def measure(case: Case, seconds: int, budget: str, folder: Path) -> Outcome:
    """Profiles the program while it runs, by a `tare` of its own. Raises NotBuilt."""
    program = build(case.source)
    document, errors = folder / f"{case.name}.json", folder / f"{case.name}.err"
    request = replace(case, duration_s=seconds, rounds=ROUNDS)
    kept = ("--profiles", str(folder / "profiles"), "--name", case.name, "--json", str(document))
    with running(program, case.culprit, folder / f"{case.name}.lines", case.variant) as survivor:
        begin = survivor.now()
        words = (*request.words(survivor.pid), "--budget", budget, *kept)
        command = [sys.executable, "-m", "tare", "profile", "attach", *words]
        code = None
        with errors.open("wb") as stream, suppress(subprocess.TimeoutExpired):
            code = subprocess.run(
                command, stdout=stream, stderr=stream, timeout=seconds + NOT_IN_TIME_S, check=False
            ).returncode
        state = ended(survivor, begin)
        profile = json.loads(document.read_text()) if document.exists() else None
    measured = open_run(case.name, folder / "profiles").measured() if profile else None
    return Outcome(case, state, code, profile, measured and shares(survivor, measured, case.culprit))


def ended(survivor: Survivor, begin: Truth) -> str:
    """The program's state after the profile: alive where transactions have ended all the time, and still do."""
    stood_s = survivor.standstill_s(begin)
    still = survivor.throughput(LOOK_S) if survivor.is_alive else 0.0
    code = survivor.process.poll()
    if code is None:
        if not still:
            return "hung"
        return "alive" if stood_s < STANDSTILL_S else f"stood still for {stood_s:.1f} s"
    return signal.Signals(-code).name if code < 0 else f"exit code {code}"


def percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f}%"


def overhead(profile: dict[str, Any] | None) -> str:
    figure = ((profile or {}).get("overhead") or {}).get("latency")
    if figure is None:
        return "–"
    return f"{100 * figure['value']:.1f}% ({100 * figure['low']:.0f} to {100 * figure['high']:.0f})"


HEADER = (
    *("case", "program", "culprit found first", "first factor", "share measured", "share true"),
    *("transactions", "overhead", "exit code"),
)


def line(outcome: Outcome) -> tuple[str, ...]:
    transactions = outcome.profile["transactions"] if outcome.profile else 0
    return (
        outcome.case.name,
        outcome.state,
        "yes" if outcome.is_found else "**no**",
        outcome.first,
        percent(outcome.shares and outcome.shares.measured),
        percent(outcome.shares and outcome.shares.true),
        f"{transactions:,}",
        overhead(outcome.profile),
        "none in time" if outcome.exit_code is None else str(outcome.exit_code),
    )


def figures(outcomes: Sequence[Outcome]) -> Iterator[Figure]:
    hard = [outcome for outcome in outcomes if outcome.case.source in NEW_KINDS]
    everything = len(outcomes)
    alive = sum(outcome.state == "alive" for outcome in outcomes)
    yield Figure("programs alive after the profile", alive, f"of {everything}", everything, at_most=False)
    for what, some in (
        ("all kinds", outcomes),
        ("indirect calls, plugins, recursion, exceptions, coroutines", hard),
    ):
        bar = (
            math.ceil(OF_THIRTY / 30 * len(some))
            if len(some) >= 30
            else math.floor(OF_THIRTY / 30 * len(some))
        )
        found, right = sum(one.is_found for one in some), sum(one.is_right for one in some)
        yield Figure(f"culprit is the first factor, {what}", found, f"of {len(some)}", bar, at_most=False)
        name = f"and its share within {SHARE_OFF:g} points of the program's own, {what}"
        yield Figure(name, right, f"of {len(some)}", bar, at_most=False)
    off = [outcome.share_off for outcome in outcomes if outcome.share_off is not None]
    if off:
        yield Figure("share of a culprit, off the program's own: largest", max(off), "points", SHARE_OFF)


def main() -> None:
    asked = arguments(__doc__ or "", files=("markdown", "profiles"), seconds=12, cases="", budget="20%")
    if os.geteuid() != 0:
        raise SystemExit("attaching needs root: sudo -E python -m benchmarks.profile_culprits")
    wanted = [word for word in (SMALL if asked.small else asked.cases).split(",") if word]
    unknown = set(wanted) - {case.name for case in CASES}
    if unknown:
        names = ", ".join(case.name for case in CASES)
        raise SystemExit(f"no case is named {', '.join(sorted(unknown))}; cases: {names}")
    cases = [case for case in CASES if not wanted or case.name in wanted]
    outcomes = []
    with tempfile.TemporaryDirectory(prefix="tare-culprits-") as name:
        folder = asked.profiles or Path(name)
        folder.mkdir(parents=True, exist_ok=True)
        for case in cases:
            try:
                outcomes.append(measure(case, asked.seconds, asked.budget, folder))
            except NotBuilt as missing:
                print(f"NOT MEASURED: {case.name}: {missing}", file=sys.stderr, flush=True)
                continue
            print(" · ".join(line(outcomes[-1])), file=sys.stderr, flush=True)
    made = table(HEADER, [line(outcome) for outcome in outcomes])
    publish(asked, made, list(figures(outcomes)))


if __name__ == "__main__":
    main()
