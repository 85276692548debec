"""Stages of the test run, and how a stage is ended at its limit."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "target" / "ci"
WHOLE_S = 58 * 60.0
"""Limit of all stages together: the summary is written before the hour is over."""

_ERROR = re.compile(r"\b[eE]rror\b|^[A-Z]+\d{3} |^Would reformat|^Diff in ")
"""Errors of compilers and type checkers, findings of ruff and of the formatters."""

GRACE_S = 40.0
"""Time for pytest to stop its servers after an interrupt, before the stage is killed."""


@dataclass(frozen=True)
class Stage:
    """A command that belongs to the test run."""

    name: str
    command: tuple[str, ...]
    limit_s: float


def pytest_stage(name: str, limit_s: float, *arguments: str) -> Stage:
    return Stage(name, (sys.executable, "-m", "pytest", *arguments), limit_s)


def rust_stage(*crates: str) -> Stage:
    """Return the stage that tests the workspace, or only these crates, then without the features of the BPF tier."""
    # Cargo takes the features of a crate only if it is among those that it tests.
    tested = " ".join(f"--package {crate}" for crate in crates) or "--workspace $(scripts/cargo-features)"
    # Property tests draw the same cases each time, as those in Python do.
    script = f"PROPTEST_RNG_SEED=1 cargo test --release --no-fail-fast {tested}"
    return Stage("rust", ("bash", "-c", script), 900)


LINT = Stage("lint", ("make", "--no-print-directory", "lint"), 900)
RUST = rust_stage()
# Files of many tests come first: the last ones, of which one worker may have none, are short.
EXACT = pytest_stage("exact", 600, "-n", "2", "--dist", "loadfile", "-m", "exact")
POOL = ("--dist", "loadfile", "--no-loadscope-reorder")
SERVERS = pytest_stage("servers", 1500, "-n", "3", *POOL, "-m", "server")
SMALL = Stage("small", (sys.executable, "-m", "tests.ci.small"), 900)
# Whole files come first, then the tests of `workers.APART`: all workers end at about the same time.
PAIRED = pytest_stage("paired", 900, "-n", "3", "--dist", "loadfile", "-m", "paired")
ALONE = pytest_stage("alone", 1200, "-m", "alone")


@dataclass(frozen=True)
class Ending:
    """How a stage ended."""

    stage: str
    seconds: float
    code: int
    was_cut: bool = False  # at its limit
    error: str = ""  # the first line of its output that reports one


def run(stage: Stage, limit_s: float, environment: Mapping[str, str] | None = None) -> Ending:
    """Run a stage with its output on the terminal and in `target/ci/STAGE.log`.

    At the limit the stage is interrupted, so that tests stop their servers, and killed after `GRACE_S`.
    """
    RESULTS.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    print(f"\n── {stage.name}", flush=True)
    with (RESULTS / f"{stage.name}.log").open("wb") as log:
        # A group of its own: a command's children are ended with it.
        process = subprocess.Popen(
            stage.command,
            cwd=ROOT,
            env={**_inherited(), **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            process_group=0,
        )
        copier = subprocess.Popen(("tee", log.name), stdin=process.stdout)
        try:
            code, was_cut = _wait(process, limit_s)
        finally:
            _end(process)
            _finish(copier)
    seconds = time.monotonic() - began
    error = "" if code == 0 else first_error((RESULTS / f"{stage.name}.log").read_text(errors="replace"))
    return Ending(stage.name, seconds, code, was_cut, error)


def _inherited() -> dict[str, str]:
    """Return this environment, in which Python keeps what it compiles: a stage has hundreds of processes."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def first_error(output: str) -> str:
    """Return the first line that reports an error, or else the last line."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return next((line for line in lines if _ERROR.search(line)), lines[-1] if lines else "no output")[:200]


def _wait(process: subprocess.Popen[bytes], limit_s: float) -> tuple[int, bool]:
    try:
        return process.wait(limit_s), False
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
    with suppress(subprocess.TimeoutExpired):
        process.wait(GRACE_S)
    return process.poll() or 1, True


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill what is left of the command's group: it would hold the pipe open."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _finish(copier: subprocess.Popen[bytes]) -> None:
    try:
        copier.wait(5)
    except subprocess.TimeoutExpired:  # a process outside the group holds the pipe
        copier.kill()
        copier.wait()


def tests_again(number: int, ids: Sequence[str]) -> Stage:
    """Return a stage that runs these tests again, one at a time."""
    return pytest_stage(f"again-{number}", 600, "-p", "no:xdist", "--no-header", *ids)
