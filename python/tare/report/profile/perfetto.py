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
"""Slice of `tare._probe.slices`: pid, tid, function id, begin and end (CLOCK_MONOTONIC, ns), depth.
Those of one thread nest; a caller comes before what it calls."""


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


def opening(spans: Sequence[Span], about: Mapping[str, str]) -> Iterator[str]:
    """The file up to the calls. `about`: what a reader should know of the run."""
    known = json.dumps({key: printable(value) for key, value in about.items()}, ensure_ascii=False)
    yield f'{{"displayTimeUnit":"ns","otherData":{known},"traceEvents":['
    events = _spans(spans, first_ns(spans))
    yield from (f"{',' if place else ''}\n{_line(one)}" for place, one in enumerate(events))


def calls(slices: Iterable[Slice], zero: int, names: Mapping[int, str]) -> str:
    """Some calls, one event a line. `zero`: `first_ns` of the transactions; `names` of functions by id."""
    return "".join(f",\n{_line(_call(one, zero, names))}" for one in slices)


CLOSING = "\n]}\n"


def first_ns(spans: Sequence[Span]) -> int:
    """The instant from which all times count."""
    return min((one.begin_ns for one in spans), default=0)


def _line(event: Mapping[str, Any]) -> str:
    return json.dumps(event, ensure_ascii=False, separators=(",", ":"))


def _spans(spans: Sequence[Span], zero: int) -> Iterator[dict[str, Any]]:
    for pid in dict.fromkeys(one.pid for one in spans):
        yield _named("process_name", pid, 0, f"process {pid}")
    for pid, tid in dict.fromkeys((one.pid, one.tid) for one in spans):
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
        facts = {"transaction": one.number, "duration_ns": one.duration_ns, "type": printable(one.type)}
        yield {**common, "ph": "b", "ts": _us(one.begin_ns - zero), "args": facts}
        yield {**common, "ph": "e", "ts": _us(end - zero)}


def _call(of: Slice, zero: int, names: Mapping[int, str]) -> dict[str, Any]:
    pid, tid, function, begin, end, depth = of
    return {
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
