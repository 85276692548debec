"""Options of `tare profile` as a request."""

from __future__ import annotations

import re

from tare.cli.values import long_enough
from tare.errors import UsageError
from tare.profile.request import Asked

MOST_BUDGET = 1.0
_BUDGET = re.compile(r"(\d+(?:\.\d+)?|\.\d+)\s*(%?)")


def asked(
    *,
    txn: str | None,
    budget: str,
    peak: str | None = None,
    duration: str,
    rounds: int,
    auto: bool | None,
    functions: str | None,
    server_time: bool = False,
    seed: int = 0,
) -> Asked:
    """`auto`: None: only where no function is named. Raises UsageError."""
    named = names(functions)
    refines = not named if auto is None else auto
    return Asked(
        txn=txn,
        budget=share(budget, "--budget"),
        peak=None if peak is None else share(peak, "--peak"),
        duration_s=long_enough(duration, "--duration"),
        rounds=rounds if refines else 1,
        functions=named,
        server_time=server_time,
        seed=seed,
    )


def share(text: str, option: str) -> float:
    """Share of the throughput that an option gives: 5% or 0.05. Raises UsageError."""
    found = _BUDGET.fullmatch(text.strip())
    value = (float(found.group(1)) / (100 if found.group(2) else 1)) if found else 0.0
    if not 0 < value <= MOST_BUDGET:
        raise UsageError(
            f"{option} {text}: no share of the throughput", "write it as 5% or 0.05, at most 100%"
        )
    return value


def names(text: str | None) -> tuple[str, ...]:
    """Functions, by commas; those inside brackets belong to a name (C++ parameters). Raises UsageError."""
    if text is None:
        return ()
    found: list[str] = []
    depth, begun = 0, 0
    for place, letter in enumerate(text):
        depth += (letter in "(<") - (letter in ")>")
        if letter == "," and depth <= 0:
            found.append(text[begun:place].strip())
            begun = place + 1
    found.append(text[begun:].strip())
    if not all(found):
        raise UsageError(
            f"{text!r} names an empty function", "write names with commas between: heap_update,XLogFlush"
        )
    return tuple(dict.fromkeys(found))
