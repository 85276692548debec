"""Requests of `tare bench oltp`: from words to values of the driver."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from pathlib import Path

from tare.cli.values import long_enough
from tare.errors import UsageError
from tare.meant import meant
from tare.workload.oltp.request import Arrivals, Closed, Constant, Phase, Poisson, Trace

_OPEN = ("constant", "poisson")


def schedule(rate: str | None, arrivals: str | None, lasts: str) -> tuple[Arrivals, tuple[Phase, ...]]:
    """When transactions are due, from --rate, --arrivals and --duration. Raises UsageError."""
    kind, _, file = (arrivals or ("closed" if rate is None else "constant")).partition(":")
    if kind == "trace":
        if rate is not None:
            raise UsageError(
                "a trace has arrivals of its own, and takes no --rate",
                "leave out --rate, or take other --arrivals",
            )
        return _trace(file), (Phase(rate=None, duration_s=long_enough(lasts, "--duration")),)
    if file or kind not in (*_OPEN, "closed"):
        raise UsageError(
            f"--arrivals {arrivals}: unknown",
            meant(kind, (*_OPEN, "trace"), "take constant, poisson or trace:FILE"),
        )
    if kind == "closed":
        if rate is not None:
            raise UsageError("a closed loop has no --rate", "leave one of the two out")
        return Closed(), (Phase(rate=None, duration_s=long_enough(lasts, "--duration")),)
    if rate is None:
        raise UsageError(f"--arrivals {kind} needs a rate", "give one: --rate 500")
    return (Constant() if kind == "constant" else Poisson()), tuple(_phases(rate, lasts))


def seed(given: int | None) -> int:
    """Return the seed of a run: a new one unless it is given.

    A run that repeats another's transactions on the same data is no independent repetition: its seats are taken, its
    keys inserted."""
    return secrets.randbelow(2**31) if given is None else given


def mix(texts: Iterable[str]) -> dict[str, float]:
    """Type to weight. Raises UsageError."""
    found: dict[str, float] = {}
    for name, value in _pairs(texts, "--mix", "new_order=45,payment=43"):
        try:
            found[name] = float(value)
        except ValueError:
            raise UsageError(
                f"--mix {name}={value}: no number", "give weights: new_order=45,payment=43"
            ) from None
        if not 0 <= found[name] < float("inf"):
            raise UsageError(f"--mix {name}={value}: not a weight", "give a number from 0")
    if found and not sum(found.values()):
        raise UsageError("--mix leaves nothing to send: all weights are 0", "give one above 0")
    return found


def options(texts: Iterable[str], **named: str | int | None) -> dict[str, str]:
    """The workload's settings, from --option and from options of their own name. Raises UsageError."""
    found = dict(_pairs(texts, "--option", "fixed_lines=15"))
    for name, value in named.items():
        if value is None:
            continue
        if name in found:
            raise UsageError(f"{name} is given twice", "leave one of the two out")
        found[name] = str(value)
    return found


def _pairs(texts: Iterable[str], option: str, example: str) -> list[tuple[str, str]]:
    pairs: dict[str, str] = {}
    for part in (part.strip() for text in texts for part in text.split(",")):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not (name and equals and value):
            raise UsageError(f"{option} {part}: no NAME=VALUE", f"write it so: {option} {example}")
        if name in pairs:
            raise UsageError(f"{option}: {name} is given twice", "leave one of the two out")
        pairs[name] = value
    return list(pairs.items())


def _phases(rate: str, lasts: str) -> Iterable[Phase]:
    for part in rate.split(","):
        number, colon, own = part.strip().partition(":")
        try:
            value = float(number)
        except ValueError:
            value = 0.0
        if not 0 < value < float("inf"):
            raise UsageError(
                f"--rate {part.strip()}: no rate", "write transactions a second: 500, 0.2, or 200:30s,400:30s"
            )
        if colon:
            yield Phase(rate=value, duration_s=long_enough(own, "--rate …:"))
        else:
            yield Phase(rate=value, duration_s=long_enough(lasts, "--duration"))


def _trace(file: str) -> Trace:
    if not file:
        raise UsageError("--arrivals trace: names no file", "write --arrivals trace:FILE")
    if not Path(file).is_file():
        raise UsageError(f"--arrivals trace:{file}: no such file", "name a file with a line for each arrival")
    return Trace(file=str(Path(file).absolute()))
