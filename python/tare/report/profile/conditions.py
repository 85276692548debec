"""Conditions of a profile: what was profiled and how, and which records and transactions count."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from tare.report.numbers import significant
from tare.report.profile import words
from tare.report.profile.document import Prices, ProfileReport
from tare.report.words import counted, joined

_LEFT_OUT = {
    "lost": "with lost records",
    "changed": "in which probes were changed",
    "overlap": "whose intervals overlap",
    "unfinished": "not seen from beginning to end",
    "unnested": "whose entries and exits do not nest",
    "deep": "that nest too deep",
    "unwound": "left by an exception, a longjmp or the end of their thread at an unknown time",
}
"""Transactions that were left out, by the recording's word."""


def conditions(report: ProfileReport) -> list[tuple[str, str]]:
    """Return names with their values."""
    about = report.of
    server = (f"{about.dbms} {about.dbms_version}".strip(), about.server)
    watched = watching(report)
    return [
        ("server", ", ".join(part for part in server if part)),
        ("a transaction is", about.transaction),
        ("preset", about.preset),
        ("backend", f"{about.backend}: {about.says}"),
        *([("functions", watched)] if watched else []),
        *([] if about.prices is None else [("price of a probe", _prices(about.prices))]),
        ("call graph", f"height {report.call_graph_height}"),
        ("records", records(report)),
        ("transactions a second", _rates(report)),
        ("state", about.state),
    ]


def watching(report: ProfileReport) -> str:
    """Return how many functions were watched in which way, and why others were not; empty: not known."""
    return watched_how(report.watching.ways, report.watching.refused)


def records(report: ProfileReport) -> str:
    """Return how many records there are and were lost, and which transactions were left out."""
    counts = f"{words.thousands(report.records)} records, {words.thousands(report.lost)} lost"
    left_out = ", ".join(
        f"{words.thousands(n)} {_LEFT_OUT.get(why, why)}" for why, n in report.invalid.items()
    )
    counts += f"; transactions left out: {left_out}" if left_out else "; no transaction was left out"
    calls = unreturned(report)
    return f"{counts}. {calls}" if calls else counts


def unreturned(report: ProfileReport) -> str:
    """Return sentences about calls without a return, or without a record; empty: there are none."""
    sentences = []
    if report.unwound:
        calls = "call was" if report.unwound == 1 else "calls were"
        sentences.append(
            f"{words.thousands(report.unwound)} {calls} left without a return (exception, longjmp or "
            "end of the thread)."
        )
    if report.unrecorded:
        calls = "call" if report.unrecorded == 1 else "calls"
        sentences.append(
            f"{words.thousands(report.unrecorded)} {calls} of signal handlers could not be recorded: their time "
            "is that of the functions they interrupted."
        )
    return " ".join(sentences)


def _rates(report: ProfileReport) -> str:
    """Transactions a second before functions were watched, while they were, and after."""
    before, during, after = (
        words.NOTHING if rate is None else significant(rate)
        for rate in (report.rates.before, report.rates.during, report.rates.after)
    )
    return f"{before} before functions were watched, {during} while, {after} after"


def _prices(prices: Prices) -> str:
    return (
        f"an entry and exit take {words.ns(prices.emulated_ns)} on this machine where the kernel emulates the "
        f"instructions there, {words.ns(prices.stepped_ns)} where it steps over both; in a server that is loaded more"
    )


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
