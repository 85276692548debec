"""A report goes where it was requested."""

from __future__ import annotations

from pathlib import Path

import pytest

from tare.report.kit.blocks import Paragraph
from tare.report.kit.deliver import deliver, show_blocks
from tests.unit.report.kit import sample


def test_a_subject_without_a_document_writes_its_own_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "report.html"
    given = {"html": str(page), "markdown": None, "json": "-"}
    deliver(sample.story(), None, given, more={"json": lambda: '{"schema": "its own"}\n'})
    assert capsys.readouterr().out == '{"schema": "its own"}\n'
    assert "<main>" in page.read_text(encoding="utf-8")


def test_blocks_without_a_report_go_where_they_are_sent(capsys: pytest.CaptureFixture[str]) -> None:
    show_blocks([Paragraph("a list")])
    show_blocks([Paragraph("a failure")], stderr=True)
    assert capsys.readouterr() == ("a list\n", "a failure\n")
