"""A random program: built, run while it is watched, and run again by itself for as many rounds."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.attach_random.generate import generate
from benchmarks.planted.build import NotBuilt

COMPILERS = (("gcc", "clang"), ("g++", "clang++"))
"""For C, and for C++."""
STANDARDS = ("-std=gnu11", "-std=gnu++17")
HEADERS = Path(__file__).parent
NAMED = 20
"""Functions that are watched of half of the programs; of the others, all are."""
FUNCTION = re.compile(r" [tT] ((_ZN?L?\d)?f\d+\w*(\.(?!cold)\w+)*)$", re.MULTILINE)
"""Line of a function of the program in the output of `nm`: as it was written, or as the compiler cloned it."""
STARTS_S, ENDS_WITHIN_S = 0.1, 120.0
NO_EXIT = -1


@dataclass(frozen=True)
class Outcome:
    """Result of a program that ran while it was watched, and again by itself."""

    seed: int
    build: str
    watched: str  # rounds and checksum; how the program failed, where it did
    alone: str  # of as many rounds
    exit_code: int  # of `tare`; NO_EXIT where it did not end
    error: str
    transactions: int
    named: int  # functions
    probed: int  # of them
    refused: Mapping[str, int]  # functions by the reason why no probe is on them
    left_out: int  # functions that are called too often for the budget

    @property
    def is_equal(self) -> bool:
        return self.alone == self.watched

    @property
    def holds(self) -> bool:
        """Whether the program computed the same, and functions of it were watched meanwhile."""
        return self.is_equal and self.probed > 0 and self.transactions > 0

    def __str__(self) -> str:
        results = self.watched if self.is_equal else f"DIFFERENT: {self.alone} alone, {self.watched} watched"
        return (
            f"seed {self.seed}, {self.build}: {results}; {self.probed} of {self.named} functions watched, "
            f"{self.transactions} transactions{self.error and f'; tare: {self.error}'}"
        )


def measure(seed: int, duration: str, folder: Path) -> Outcome:
    """Build a program, run it until `tare profile attach` has ended, and run it again by itself. Raises NotBuilt."""
    program, build = built(seed, folder)
    functions = functions_of(program, seed)
    process = started(program)
    time.sleep(STARTS_S)
    words = ["--pid", str(process.pid), "--txn", "function:round_", "--functions", ",".join(functions)]
    exit_code, error, profile = attach([*words, "--duration", duration, "--budget", "100%"], folder)
    process.terminate()
    watched = result(process)
    rounds = watched.split()[0]
    added = {name for one in profile.get("rounds", ()) for name in one["added"]}
    return Outcome(
        seed=seed,
        build=build,
        watched=watched,
        alone=result(started(program, rounds)) if rounds.isdigit() else "not run",
        exit_code=exit_code,
        error=error,
        transactions=profile.get("transactions", 0),
        named=len(functions),
        probed=len(added - set(profile.get("refused", ()))),
        refused=dict(Counter(profile.get("refused", {}).values())),
        left_out=len(profile.get("left_out", ())),
    )


def built(seed: int, folder: Path) -> tuple[Path, str]:
    """Path of a program, and its compiler and flags, which follow from the seed and from what is installed."""
    random = Random(f"build {seed}")
    is_cpp = random.random() < 0.5
    installed = [one for one in COMPILERS[is_cpp] if shutil.which(one)]
    if not installed:
        raise NotBuilt(f"none of {', '.join(COMPILERS[is_cpp])} is installed")
    compiler = random.choice(installed)
    flags = [f"-O{random.randint(0, 3)}", f"-fcf-protection={random.choice(('none', 'full'))}"]
    if not compiler.startswith("clang"):  # clang ignores the one, and needs a linker of its own for the other
        flags += [flag for flag in ("-fnon-call-exceptions", "-flto") if random.random() < 0.4]
    source = folder / f"random-{seed}.{'cpp' if is_cpp else 'c'}"
    source.write_text(generate(seed, is_cpp))
    program = source.with_suffix("")
    command: list[str | Path] = [
        compiler,
        STANDARDS[is_cpp],
        "-g",
        "-w",
        f"-I{HEADERS}",
        *flags,
        "-o",
        program,
        source,
    ]
    completed = subprocess.run(command, capture_output=True, text=True, timeout=ENDS_WITHIN_S, check=False)
    if completed.returncode:
        raise NotBuilt(f"seed {seed}, {compiler} {' '.join(flags)}: {completed.stderr.strip()[-600:]}")
    return program, " ".join((compiler, *flags))


def functions_of(program: Path, seed: int) -> Sequence[str]:
    """Symbols of the functions to watch."""
    text = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
    functions = sorted({found[1] for found in FUNCTION.finditer(text)})
    random = Random(f"functions {seed}")
    return functions if random.random() < 0.5 else random.sample(functions, min(NAMED, len(functions)))


def started(program: Path, *rounds: str) -> subprocess.Popen[str]:
    return subprocess.Popen([program, *rounds], stdout=subprocess.PIPE, text=True)


def result(process: subprocess.Popen[str]) -> str:
    """Rounds and checksum that the program prints at its end, or how it failed."""
    try:
        output = process.communicate(timeout=ENDS_WITHIN_S)[0].strip()
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return "hung"
    return output if process.returncode == 0 else f"failed with exit code {process.returncode}"


def attach(words: Sequence[str], folder: Path) -> tuple[int, str, dict[str, Any]]:
    """Exit code of Tare, its message where it failed, and its report where it wrote one."""
    document = folder / "profile.json"
    document.unlink(missing_ok=True)
    command = [sys.executable, "-m", "tare", "profile", "attach", *words]
    command += ["--profiles", str(folder / "profiles"), "--json", str(document)]
    try:
        completed = subprocess.run(
            command, capture_output=True, text=True, timeout=ENDS_WITHIN_S, check=False
        )
    except subprocess.TimeoutExpired:
        return NO_EXIT, f"it did not end within {ENDS_WITHIN_S:.0f} s", {}
    error = " ".join(completed.stderr.split())[-300:] if completed.returncode else ""
    return completed.returncode, error, json.loads(document.read_text()) if document.exists() else {}
