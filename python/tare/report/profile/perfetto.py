"""Chosen transactions as a trace that Perfetto and chrome://tracing open: a slice for each call, a track a thread.

Format: the "JSON Array Format" of Chrome's Trace Event Format, complete events ("X") and async spans ("b", "e"),
times in µs with three decimals, so exact to the ns. They count from the beginning of the first chosen transaction:
CLOCK_MONOTONIC as it is has more digits than a reader's floating-point numbers hold.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tare.report.safe import printable

Slice = tuple[int, int, int, int, int, int]
"""As `tare._probe.slices` has them: pid, tid, function id, begin and end (CLOCK_MONOTONIC, ns), depth.
Those of one thread nest."""


@dataclass(frozen=True, slots=True)
class Span:
    """A transaction that was chosen."""

    number: int  # its place in the list of the recording's
    pid: int  # of its first interval, as `tid`
    tid: int
    begin_ns: int
    duration_ns: int
    type: str  # its label in words, "" where there is none
    chosen: str  # "slowest", "median", "asked for"


def render(
    spans: Sequence[Span], slices: Iterable[Slice], names: Mapping[int, str], about: Mapping[str, str]
) -> str:
    """One event a line. `names` of functions by id; `about`: what a reader should know of the run."""
    events = ",\n".join(
        json.dumps(one, ensure_ascii=False, separators=(",", ":")) for one in _events(spans, slices, names)
    )
    known = json.dumps({key: printable(value) for key, value in about.items()}, ensure_ascii=False)
    return f'{{"displayTimeUnit":"ns","otherData":{known},"traceEvents":[\n{events}\n]}}\n'


def _events(
    spans: Sequence[Span], slices: Iterable[Slice], names: Mapping[int, str]
) -> Iterator[dict[str, Any]]:
    zero = min((one.begin_ns for one in spans), default=0)
    calls = sorted(
        slices, key=lambda one: (one[0], one[1], one[3], -one[4], one[5])
    )  # callers before what they call
    for pid in dict.fromkeys([*(one.pid for one in spans), *(one[0] for one in calls)]):
        yield _named("process_name", pid, 0, f"process {pid}")
    for pid, tid in dict.fromkeys(
        [*((one.pid, one.tid) for one in spans), *((one[0], one[1]) for one in calls)]
    ):
        yield _named("thread_name", pid, tid, f"thread {tid}")
    for one in spans:
        end = one.begin_ns + one.duration_ns
        common = {
            "cat": "transaction",
            "id": str(one.number),
            "pid": one.pid,
            "tid": one.tid,
            "name": _title(one),
        }
        told = {"transaction": one.number, "duration_ns": one.duration_ns, "type": printable(one.type)}
        yield {**common, "ph": "b", "ts": _us(one.begin_ns - zero), "args": told}
        yield {**common, "ph": "e", "ts": _us(end - zero)}
    for pid, tid, function, begin, end, depth in calls:
        yield {
            "name": printable(names.get(function, f"function {function}")),
            "cat": "call",
            "ph": "X",
            "ts": _us(begin - zero),
            "dur": _us(end - begin),
            "pid": pid,
            "tid": tid,
            "args": {"depth": depth, "ns": end - begin},
        }


def _named(what: str, pid: int, tid: int, name: str) -> dict[str, Any]:
    return {"name": what, "ph": "M", "pid": pid, "tid": tid, "args": {"name": name}}


def _title(of: Span) -> str:
    named = f" {printable(of.type)}" if of.type else ""
    return f"{of.chosen}: transaction {of.number}{named}"


def _us(ns: int) -> float:
    return ns / 1000
