"""Words for how functions were watched, and why others were not."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from tare.report.words import counted, joined

_NAMED = 3  # reasons


class Way(StrEnum):
    """How both ends of a call are seen (`tare_profile::backend::Way`)."""

    EXIT_SITES = "exit sites"
    TRAMPOLINE = "trampoline"
    SLED = "sled"
    RETURN_PROBE = "return probe"  # of profiles that were recorded when `attach` still set these


_WAYS: Mapping[str, str] = {
    Way.EXIT_SITES: "by probes where they leave",
    Way.TRAMPOLINE: "by jumps into the preloaded library",
    Way.SLED: "by the compiler's sleds",
    Way.RETURN_PROBE: "by return probes",
}


def watched_how(ways: Mapping[str, int], refused: Mapping[str, int]) -> str:
    """Sentences; empty where no function was watched. `refused`: functions by why no probe could be put on them."""
    said = []
    if ways:
        how = [f"{counted(n, 'function')} {_WAYS.get(way, way)}" for way, n in ways.items()]
        said.append(f"Watched: {joined(how)}.")
    if refused:
        reasons = sorted(refused.items(), key=lambda one: -one[1])
        shown = [f"{why} ({n})" for why, n in reasons[:_NAMED]]
        if more := sum(n for _, n in reasons[_NAMED:]):
            shown.append(f"other reasons ({more})")
        said.append(f"Not watched, as no probe can be put on them: {'; '.join(shown)}.")
    return " ".join(said)
