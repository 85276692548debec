"""A trace of chosen transactions: nothing is lost of the ns, and slices nest as the calls did."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tare.cli.profile_export import Wanted, exported
from tare.errors import NoSuchProfile
from tare.lab.profile_about import About, Named
from tare.lab.profiles import create
from tare.report.profile import perfetto
from tare.report.profile.perfetto import Slice, Span
from tare.report.safe import printable
from tests.unit.probe.profile_recordings import ENTER, EXIT, record
from tests.unit.probe.profile_recordings import written as recording_written
from tests.unit.report.profile import sample

BEGIN = 4_123_456_789_012_345  # ns: a machine that has been up for 47 days
NAMES = {1: "exec_simple_query", 2: sample.HOSTILE, 3: "XLogFlush"}
SPANS = (
    Span(17, 100, 101, BEGIN, 5_000_001, "UPDATE", "slowest"),
    Span(4, 100, 102, BEGIN + 9_000_003, 1_000, "", "median"),
)
SLICES: tuple[Slice, ...] = (
    (100, 101, 1, BEGIN + 1, BEGIN + 5_000_000, 0),
    (100, 101, 2, BEGIN + 1, BEGIN + 2_001, 1),
    (100, 101, 3, BEGIN + 2_001, BEGIN + 3_007, 1),
    (100, 102, 1, BEGIN + 9_000_003, BEGIN + 9_000_900, 0),
    (100, 102, 9, BEGIN + 9_000_003, BEGIN + 9_000_003, 1),
)


def written(spans: Sequence[Span] = SPANS, slices: Sequence[Slice] = SLICES) -> str:
    """The file, with two calls at a time."""
    zero = perfetto.first_ns(spans)
    some = (perfetto.calls(slices[at : at + 2], zero, NAMES) for at in range(0, len(slices), 2))
    return "".join((*perfetto.opening(spans, {"run": "r"}), *some, perfetto.CLOSING))


def trace() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(written())
    return found


def calls() -> list[dict[str, Any]]:
    return [one for one in trace()["traceEvents"] if one["ph"] == "X"]


def test_times_count_from_the_first_transaction_and_are_exact_to_the_ns() -> None:
    for one, (_, _, _, begin, end, _) in zip(calls(), SLICES, strict=True):
        assert round(one["ts"] * 1000) == begin - BEGIN
        assert round(one["dur"] * 1000) == end - begin
        assert one["args"]["ns"] == end - begin


def test_a_caller_stands_before_what_it_calls_and_around_it() -> None:
    for tid in (101, 102):
        open_: list[float] = []
        for one in (one for one in calls() if one["tid"] == tid):
            while open_ and open_[-1] <= one["ts"] and open_[-1] < one["ts"] + max(one["dur"], 0.0005):
                open_.pop()
            assert len(open_) == one["args"]["depth"]
            assert not open_ or one["ts"] + one["dur"] <= open_[-1]
            open_.append(one["ts"] + one["dur"])


def test_each_transaction_is_a_span_of_its_own_from_begin_to_end() -> None:
    events = trace()["traceEvents"]
    for span in SPANS:
        begin, end = (
            next(one for one in events if one["ph"] == sign and one["id"] == str(span.number))
            for sign in "be"
        )
        assert round((end["ts"] - begin["ts"]) * 1000) == span.duration_ns
        assert begin["name"] == end["name"]
        assert begin["cat"] == end["cat"]
    assert "slowest: transaction 17 UPDATE" in {one["name"] for one in events}


def test_threads_are_named_once_and_names_are_printable() -> None:
    events = trace()["traceEvents"]
    assert [one["args"]["name"] for one in events if one["name"] == "thread_name"] == [
        "thread 101",
        "thread 102",
    ]
    assert "\x1b" not in written()
    assert any(one["name"] == "function 9" for one in events)


def test_nothing_chosen_is_an_empty_trace() -> None:
    assert json.loads(written((), ()))["traceEvents"] == []


def test_every_call_of_the_profile_is_a_slice_though_its_function_was_only_counted_before(
    tmp_path: Path,
) -> None:
    """Two threads; on each, transactions with two calls, the second within the first."""
    records = {
        tid: [
            record(2_000 + 100 * number + at, kind, function)
            for number in range(40)
            for at, kind, function in [
                *((0, ENTER, 1), (10, ENTER, 2), (20, ENTER, 3), (30, EXIT, 3), (60, EXIT, 2)),
                (80, EXIT, 1),
            ]
        ]
        for tid in (20, 21)
    }
    functions = tuple(Named(id=one, name=name) for one, name in NAMES.items())
    rules = {"rule": "function", "root": 1}
    about = About(tare="0", name="r", when="2026-11-22T10:15:00+00:00", rules=rules, functions=functions)
    run = create(about, tmp_path)
    recording_written(run.recording, records, counted=1_000)
    target = tmp_path / "trace.json"
    exported("r", tmp_path, Wanted(str(target), None, None, 1_000, 0, (), None, None, None))

    events = json.loads(target.read_text())["traceEvents"]
    slices = [one for one in events if one["ph"] == "X"]
    measured = run.measured()
    calls: Counter[str] = Counter()
    for path, many in zip(measured.cell_path.tolist(), measured.calls.tolist(), strict=True):
        if measured.paths[path].function is not None:
            calls[measured.name(path)] += many
    assert Counter(one["name"] for one in slices) == Counter(
        {printable(name): many for name, many in calls.items()}
    )
    assert sum(calls.values()) == 3 * measured.transactions == 3 * sum(one["ph"] == "b" for one in events)
    assert {one["tid"] for one in slices} == {20, 21}
    assert all(one["dur"] > 0 for one in slices)
    assert [one["args"]["depth"] for one in slices] == [0, 1, 2] * measured.transactions

    absent = tmp_path / "absent.json"
    with pytest.raises(NoSuchProfile, match="has no round 9; its rounds are 2"):
        exported("r", tmp_path, Wanted(str(absent), None, None, 10, 0, (), 9, None, None))
    assert not absent.exists()
