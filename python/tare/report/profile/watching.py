"""Words for how functions were watched, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum

from tare.report.kit.names import middle
from tare.report.numbers import thousands
from tare.report.words import counted, joined

_NAMED = 3  # reasons
_REASON = 120  # characters


class Way(StrEnum):
    """How both ends of a call are seen (`tare_profile::backend::Way`)."""

    RETURN_PROBE = "return probe"
    EXIT_SITES = "exit sites"
    TRAMPOLINE = "trampoline"
    SLED = "sled"


class Hazard(StrEnum):
    """Something in a process that return probes would break (`tare_profile::backend::Hazard`)."""

    EXCEPTIONS = "exceptions"
    THREAD_EXIT = "thread exit"
    ASYNC_EXIT = "asynchronous thread exit"
    COROUTINES = "coroutines"
    SIGNAL_STACK = "signal stack"
    GO = "go"
    SECCOMP = "seccomp"
    UNREADABLE_FILE = "unreadable file"
    ASKED = "asked for"


_WAYS: Mapping[str, str] = {
    Way.RETURN_PROBE: "by return probes",
    Way.EXIT_SITES: "by probes where they leave",
    Way.TRAMPOLINE: "by jumps into the preloaded library",
    Way.SLED: "by the compiler's sleds",
}

_HAZARDS: Mapping[str, str] = {
    Hazard.EXCEPTIONS: "it can throw exceptions",
    Hazard.THREAD_EXIT: "its threads can end in mid-function",
    Hazard.ASYNC_EXIT: "its threads can end at any instruction",
    Hazard.COROUTINES: "it has coroutines",
    Hazard.SIGNAL_STACK: "it handles signals on a stack of their own",
    Hazard.GO: "it is written in Go",
    Hazard.SECCOMP: "its system calls are filtered",
    Hazard.UNREADABLE_FILE: "a file in its memory cannot be read",
    Hazard.ASKED: "this is assumed, for a measurement of the other way",
}


class PassedOver(StrEnum):
    """Why a call of a watched function is not recorded (`tare_profile::backend::PassedOver`)."""

    DEEP = "deep"
    OTHER_STACK = "other stack"


_PASSED_OVER: Mapping[str, str] = {
    PassedOver.DEEP: "nested in too many watched functions",
    PassedOver.OTHER_STACK: "on another stack than their caller's",
}


def passed_over(calls: Mapping[str, int]) -> list[str]:
    """A note on calls that were not recorded, if there are any."""
    listed = [f"{thousands(n)} {_PASSED_OVER.get(why, why)}" for why, n in calls.items() if n]
    return (
        [f"Calls that were not recorded, so that their time is their callers': {joined(listed)}."]
        if listed
        else []
    )


def watched_how(ways: Mapping[str, int], hazards: Sequence[str], refused: Mapping[str, int]) -> str:
    """Sentences; empty where no function was watched. `refused`: functions by why no probe could be put on them."""
    said = []
    if ways:
        how = [f"{counted(n, 'function')} {_WAYS.get(way, way)}" for way, n in ways.items()]
        why = joined([_HAZARDS.get(one, one) for one in hazards])
        because = f"; return probes would harm the server: {why}" if why else ""
        said.append(f"Watched: {joined(how)}{because}.")
    if refused:
        reasons = sorted(refused.items(), key=lambda one: -one[1])
        shown = [f"{middle(why, _REASON)} ({n})" for why, n in reasons[:_NAMED]]
        if more := sum(n for _, n in reasons[_NAMED:]):
            shown.append(f"other reasons ({more})")
        said.append(f"Not watched, as no probe can be put on them: {'; '.join(shown)}.")
    return " ".join(said)
