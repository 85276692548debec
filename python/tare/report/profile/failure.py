"""Words for a watched server that ended or hangs."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tare.lab.profile_about import Failure, FailureKind, Probes, Rates
from tare.protocol.profile.failure import ended_how
from tare.report.numbers import significant


def sentences(failure: Failure, rates: Rates, name: Callable[[int], str]) -> Iterator[str]:
    """`name`: of a function. The first sentence is a report's first."""
    began = "; its last transactions began" if failure.kind is FailureKind.SERVER_HANGS else ","
    said = f"{ended_how(failure)}{began} {_probes(failure)}."
    yield said[0].upper() + said[1:]
    yield _where(failure, name)
    yield (
        f"Transactions a second: {_rate(rates.before)} before functions were watched, {_rate(rates.during)} while they "
        f"were, {_rate(rates.after)} after."
    )


def _probes(failure: Failure) -> str:
    match failure.probes:
        case Probes.FUNCTIONS:
            functions = "1 function" if failure.functions == 1 else f"{failure.functions} functions"
            return f"while Tare's probes were on {functions} and on the transactions' markers"
        case Probes.MARKERS:
            return "while Tare's probes were on the transactions' markers alone"
        case Probes.NONE:
            return "after Tare had taken its probes off"


def _where(failure: Failure, name: Callable[[int], str]) -> str:
    if failure.thread is None:
        return "Which thread and function it was in is not known."
    thread = f"Thread {failure.thread}" + (f" ({failure.thread_name})" if failure.thread_name else "")
    verb = "is one of them" if failure.kind is FailureKind.SERVER_HANGS else "got the signal"
    where = (
        "the function it was in is not known"
        if failure.function is None
        else f"the recording saw it in {name(failure.function)} last"
    )
    return f"{thread} {verb}; {where}."


def _rate(value: float | None) -> str:
    return "not known" if value is None else significant(value)
