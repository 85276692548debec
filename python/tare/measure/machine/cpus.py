"""Sets of CPUs: the kernel's list notation, and which to reserve."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path

from tare.errors import UsageError

_CPU = Path("/sys/devices/system/cpu")


def parse(text: str) -> set[int]:
    """``0-2,5`` as the kernel writes it."""
    cpus: set[int] = set()
    for part in text.strip().split(","):
        if part:
            first, _, last = part.partition("-")
            cpus.update(range(int(first), int(last or first) + 1))
    return cpus


def show(cpus: Iterable[int]) -> str:
    """The kernel's notation of a set of CPUs."""
    parts: list[str] = []
    run: list[int] = []
    for cpu in [*sorted(cpus), -1]:
        if run and cpu != run[-1] + 1:
            parts.append(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}")
            run = []
        run.append(cpu)
    return ",".join(parts)


def siblings(cpu: int) -> set[int]:
    """The hardware threads of the CPU's core, itself included."""
    try:
        return parse((_CPU / f"cpu{cpu}/topology/thread_siblings_list").read_text())
    except OSError:
        return {cpu}


def online() -> set[int]:
    return parse((_CPU / "online").read_text())


def choose(
    count: int, allowed: set[int], every: set[int], burden: Callable[[int], float] = lambda cpu: 0.0
) -> set[int]:
    """The CPUs to reserve out of ``allowed``: those of the least ``burden`` (0 to 1), to a
    thousandth; among equals the highest, as the lowest serve what is not counted.

    Raises UsageError where that would leave none of ``every`` for everybody else."""
    if count < 1:
        raise UsageError(f"cannot reserve {count} CPUs", "ask for at least one: --cpus 1")
    _more_than_one(every)
    most = min(len(allowed), len(every) - 1)
    if count > most:
        raise UsageError(
            f"cannot reserve {count} CPUs: we may use {len(allowed)} of {len(every)}, "
            "and everybody else needs at least one",
            f"at most --cpus {most} here",
        )
    return set(sorted(allowed, key=lambda cpu: (round(burden(cpu), 3), -cpu))[:count])


def named(text: str, allowed: set[int], every: set[int]) -> set[int]:
    """The CPUs that a user listed, if they may be reserved. Raises UsageError."""
    step = f"give some of {show(allowed)}, such as --cpu-list {max(allowed)}"
    # Five digits: more CPUs than any kernel has, and few enough to count out.
    if not re.fullmatch(r"\d{1,5}(-\d{1,5})?(,\d{1,5}(-\d{1,5})?)*", text.strip()):
        raise UsageError(
            f"{text!r} is not a list of CPUs", "write it as the kernel does: --cpu-list 2 or --cpu-list 2,4-5"
        )
    wanted = parse(text)
    _more_than_one(every)
    if not wanted:
        raise UsageError(f"{text!r} names no CPU", step)
    if wanted - every:
        raise UsageError(f"CPU {show(wanted - every)} is not there or offline", step)
    if wanted - allowed:
        raise UsageError(f"CPU {show(wanted - allowed)} is not among those that we may use", step)
    if wanted == every:
        raise UsageError("cannot reserve every CPU: everybody else needs at least one", step)
    return wanted


def _more_than_one(every: set[int]) -> None:
    if len(every) == 1:
        raise UsageError(
            "with one CPU nothing can be kept off it", "give the machine a second CPU, or measure as it is"
        )
