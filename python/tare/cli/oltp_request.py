"""Options of `tare bench oltp` as a request for the driver."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from pathlib import Path

from tare.cli.durations import seconds
from tare.errors import UsageError
from tare.meant import meant
from tare.workload.oltp.request import Arrivals, Closed, Constant, Phase, Poisson, Trace

_OPEN = ("constant", "poisson")


def schedule(rate: str | None, arrivals: str | None, duration_s: float) -> tuple[Arrivals, tuple[Phase, ...]]:
    """Arrivals and phases, from --rate, --arrivals and --duration. Raises UsageError."""
    kind, _, file = (arrivals or ("closed" if rate is None else "constant")).partition(":")
    if kind == "trace":
        if rate is not None:
            raise UsageError(
                "--rate does not apply to a trace, which has its own arrivals",
                "leave out --rate, or choose other --arrivals",
            )
        return _trace(file), (Phase(rate=None, duration_s=duration_s),)
    if file or kind not in (*_OPEN, "closed"):
        raise UsageError(
            f"--arrivals {arrivals}: unknown",
            meant(kind, (*_OPEN, "trace"), "choose constant, poisson or trace:FILE"),
        )
    if kind == "closed":
        if rate is not None:
            raise UsageError("a closed loop has no --rate", "leave one of the two out")
        return Closed(), (Phase(rate=None, duration_s=duration_s),)
    if rate is None:
        raise UsageError(f"--arrivals {kind} needs a rate", "give one: --rate 500")
    return (Constant() if kind == "constant" else Poisson()), tuple(_phases(rate, duration_s))


def seed(given: int | None) -> int:
    """Seed of a run: the given one, else a new one. A run that repeats another's transactions on the same data is not
    an independent repetition: the seats are already taken, the keys already inserted."""
    return secrets.randbelow(2**31) if given is None else given


def mix(texts: Iterable[str]) -> dict[str, float]:
    """Type to weight. Raises UsageError."""
    found: dict[str, float] = {}
    for name, value in _pairs(texts, "--mix", "new_order=45,payment=43"):
        try:
            found[name] = float(value)
        except ValueError:
            raise UsageError(
                f"--mix {name}={value}: not a number", "give weights: new_order=45,payment=43"
            ) from None
        if not 0 <= found[name] < float("inf"):
            raise UsageError(f"--mix {name}={value}: not a weight", "give a number that is not negative")
    if found and not sum(found.values()):
        raise UsageError("--mix leaves no transaction to send: all weights are 0", "give a weight above 0")
    return found


def options(texts: Iterable[str]) -> dict[str, str]:
    """Settings of the workload, from --option. Raises UsageError."""
    return dict(_pairs(texts, "--option", "fixed_lines=15"))


def _pairs(texts: Iterable[str], option: str, example: str) -> list[tuple[str, str]]:
    pairs: dict[str, str] = {}
    for part in (part.strip() for text in texts for part in text.split(",")):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not (name and equals and value):
            raise UsageError(f"{option} {part}: not NAME=VALUE", f"write it like this: {option} {example}")
        if name in pairs:
            raise UsageError(f"{option}: {name} is given twice", "leave one of the two out")
        pairs[name] = value
    return list(pairs.items())


def _phases(rate: str, duration_s: float) -> Iterable[Phase]:
    for part in rate.split(","):
        number, colon, own = part.strip().partition(":")
        try:
            value = float(number)
        except ValueError:
            value = 0.0
        if not 0 < value < float("inf"):
            raise UsageError(
                f"--rate {part.strip()}: not a rate",
                "write transactions per second: 500, 0.2, or 200:30s,400:30s",
            )
        yield Phase(rate=value, duration_s=seconds(own, "--rate", least=0.001) if colon else duration_s)


def _trace(file: str) -> Trace:
    if not file:
        raise UsageError("--arrivals trace: the file is missing", "write --arrivals trace:FILE")
    if not Path(file).is_file():
        raise UsageError(f"--arrivals trace:{file}: no such file", "name a file with a line for each arrival")
    return Trace(file=str(Path(file).absolute()))
