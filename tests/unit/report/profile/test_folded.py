"""Folded stacks are what flame graph tools read, and their weights are the own shares."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tare.cli import profile_export
from tare.report.profile import figures, folded
from tare.report.profile.build import Built
from tests.unit.report.profile import sample

_LINE = re.compile(r"^([^;]+(?:;[^;]+)*) (\d+)$")  # flamegraph.pl: /^(.*)\s+?(\d+(?:\.\d*)?)$/


def test_positive_less_negative_weights_are_a_million() -> None:
    nodes = [figures.node(one) for one in sample.forest(40)]
    positive = sum(weight for _, weight in folded.stacks(nodes))
    negative = sum(weight for _, weight in folded.stacks(nodes, negative=True))
    assert negative > 0
    assert abs(positive - negative - folded.MILLION) <= len(nodes)


def test_every_line_is_a_stack_and_a_whole_number(built: Built, hostile: Built) -> None:
    for one in (built, hostile):
        lines = folded.render(one.report.nodes).splitlines()
        assert lines
        assert all(_LINE.match(line) for line in lines)


def test_a_stack_names_its_callers_and_marks_inferred_names(built: Built) -> None:
    stacks = dict(folded.stacks(built.report.nodes))
    names = ("transaction", "exec_simple_query (inferred)", "CommitTransactionCommand", "XLogFlush")
    assert stacks[";".join((*names, "LWLockAcquireOrWait"))] > 100_000


def test_signs_that_the_format_gives_a_meaning_are_taken_out_of_names(hostile: Built) -> None:
    named = folded.render(hostile.report.nodes)
    assert "red:" in named
    assert "\x1b" not in named


def test_a_profile_without_shares_has_no_stacks() -> None:
    assert folded.render(sample.alike().report.nodes) == ""
    assert folded.render(sample.nothing().report.nodes) == ""


def test_stacks_are_exported_to_where_each_was_requested(
    built: Built,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsysbinary: pytest.CaptureFixture[bytes],
) -> None:
    nodes = built.report.nodes
    monkeypatch.setattr(profile_export, "open_run", lambda which, out: None)
    monkeypatch.setattr(profile_export, "_nodes", lambda run, wanted: nodes)
    file = tmp_path / "stacks.txt"
    wanted = profile_export.Wanted(None, str(file), "-", 10, 3, (), None, None, None)
    profile_export.exported("pg-tpcb", tmp_path, wanted)
    assert file.read_text() == folded.render(nodes)
    said = capsysbinary.readouterr()
    assert said.out.decode() == folded.render(nodes, negative=True) != ""
    assert said.err.decode() == f"folded: {file}\n"
