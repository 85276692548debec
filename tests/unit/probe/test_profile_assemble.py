"""Recordings put together, as Python sees them."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest

from tare._probe import ProbeError, assemble
from tests.unit.probe.profile_recordings import (
    BEGIN,
    CPU,
    END,
    ENTER,
    EXIT,
    LABEL,
    RESUME,
    SUSPEND,
    mark,
    record,
    written,
)

ROOT = json.dumps({"rule": "function", "root": 1})
ANNOTATION = json.dumps({"rule": "annotation"})


def _calls() -> list[bytes]:
    """A transaction of 50 ns with a call of 10, then one without."""
    return [
        record(20, ENTER, 1, 101),
        mark(0, CPU, 500),
        record(40, ENTER, 2, 102),
        record(60, EXIT, 2),
        record(120, EXIT, 1),
        mark(0, CPU, 507),
        record(200, ENTER, 1, 101),
        record(210, EXIT, 1),
    ]


def test_a_recording_comes_to_tables(tmp_path: Path) -> None:
    found = assemble(written(tmp_path / "r.tare", {20: _calls()}), ROOT)
    transactions = pa.table(found.transactions).to_pylist()
    assert transactions[0] == {
        "window": 0,
        "pid": 10,
        "tid": 20,
        "begin_ns": 1_010,
        "duration_ns": 50,
        "service_ns": 50,
        "waited_ns": 0,
        "overlap_ns": 0,
        "ended": True,
        "cpu_ns": 7,
        "intervals": 1,
        "label": 0,
        "why": "valid",
    }
    assert [(one["duration_ns"], one["cpu_ns"]) for one in transactions] == [(50, 7), (5, None)]
    assert pa.table(found.paths).to_pylist() == [
        {"parent": None, "function": None, "site": 0},
        {"parent": 0, "function": None, "site": 0},
        {"parent": 0, "function": 1, "site": 101},
        {"parent": 2, "function": 2, "site": 102},
    ]
    cells = [tuple(cell.values()) for cell in pa.table(found.cells).to_pylist()]
    assert cells == [(0, 0, 1, 50, 0), (0, 2, 1, 50, 40), (0, 3, 1, 10, 10), (1, 0, 1, 5, 0), (1, 2, 1, 5, 5)]
    assert (found.records, found.lost, found.unwound, found.cut_off) == (8, 0, 0, None)
    assert found.unrecorded == 0


def test_tables_are_read_as_often_as_one_likes(tmp_path: Path) -> None:
    found = assemble(written(tmp_path / "r.tare", {20: _calls()}), ROOT)
    assert pa.table(found.cells) == pa.table(found.cells)
    assert pa.table(found.cells).schema.field("own_ns").type == pa.uint64()


def test_windows_are_told(tmp_path: Path) -> None:
    found = assemble(written(tmp_path / "r.tare", {}), ROOT)
    (window,) = json.loads(found.windows)
    assert (window["purpose"], window["round"], window["mode"]) == ("probed", 2, "timing")
    assert (window["begin_ns"], window["end_ns"], window["functions"]) == (1_000, 6_000, [1, 2])
    assert pa.table(found.transactions).num_rows == 0


def test_a_type_is_named_by_its_statement(tmp_path: Path) -> None:
    root = [
        record(20, ENTER, 1, 7 << 4),
        record(30, EXIT, 1),
        record(40, ENTER, 1, 8 << 4),
        record(50, EXIT, 1),
    ]
    texts = [(7, "SELECT * FROM t WHERE a = 1"), (8, "SELECT * FROM t WHERE a = 2")]
    found = assemble(
        written(tmp_path / "r.tare", {20: root}, texts=texts, details=[(1, "word:1,text:0")]), ROOT
    )
    one, other = pa.table(found.transactions)["label"].to_pylist()
    assert one == other
    assert found.texts == {one: "SELECT * FROM t WHERE a = ?"}


def test_intervals_of_several_threads_are_put_together(tmp_path: Path) -> None:
    one = [mark(20, BEGIN, 1 << 40), record(22, LABEL, 0, 9), mark(40, SUSPEND, 1 << 40)]
    two = [mark(100, RESUME, 1 << 40), mark(120, END, 1 << 40)]
    found = assemble(written(tmp_path / "r.tare", {20: one, 21: two}, texts=[(9, "payment")]), ANNOTATION)
    (told,) = pa.table(found.transactions).to_pylist()
    assert (told["duration_ns"], told["service_ns"], told["waited_ns"], told["why"]) == (50, 20, 30, "valid")
    assert found.texts == {told["label"]: "payment"}


def test_a_recording_under_way_is_read_up_to_now(tmp_path: Path) -> None:
    whole = written(tmp_path / "r.tare", {20: _calls()}, ended=False)
    found = assemble(whole, ROOT)
    assert pa.table(found.transactions)["why"].to_pylist() == ["valid", "valid"]
    assert found.cut_off is not None
    (tmp_path / "cut.tare").write_bytes(whole.read_bytes()[:-20])
    cut = assemble(tmp_path / "cut.tare", ROOT)
    assert cut.records == 8
    assert cut.cut_off is not None
    assert "left out" in cut.cut_off


def test_what_is_no_recording_is_refused(tmp_path: Path) -> None:
    (tmp_path / "r.tare").write_text("not a recording at all")
    with pytest.raises(ProbeError, match="is no recording of a profile"):
        assemble(tmp_path / "r.tare", ROOT)
    with pytest.raises(ProbeError, match="No such file"):
        assemble(tmp_path / "none.tare", ROOT)


def test_unknown_rules_are_refused(tmp_path: Path) -> None:
    recording = written(tmp_path / "r.tare", {})
    with pytest.raises(ValueError, match="unknown variant"):
        assemble(recording, json.dumps({"rule": "guess"}))
