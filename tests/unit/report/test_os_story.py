"""The report of a trace: its answer, its tables, and when it must not be relied on."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from tare.os.findings import Kind
from tare.os.levels import Level
from tare.os.roles import known_rules
from tare.os.session import Trace
from tare.report.kit.markdown import render
from tare.report.kit.terminal import print_blocks
from tare.report.os.build import build
from tare.report.os.charts import charts
from tare.report.os.document import OsReport
from tare.report.os.story import story
from tests.unit.os.sample import trace


def report_of(found: Trace) -> OsReport:
    return build(found, known_rules(), target="cluster tare", command="tare os run", title=None)


def shown(report: OsReport, columns: int) -> str:
    console = Console(file=io.StringIO(), width=columns, highlight=False)
    print_blocks(list(story(report).blocks), console)
    text: str = console.file.getvalue()  # type: ignore[attr-defined]
    return text


def test_the_answer_says_what_limits_each_query_and_which_failed() -> None:
    text = " ".join(shown(report_of(trace()), 100).split())
    assert "Two queries traced: computing in one process at a time limits Q1 and Q2" in text
    assert "Failed: Q3 (division by zero)." in text


def test_findings_name_node_and_role() -> None:
    kinds = {(one.kind, one.node, one.role) for one in report_of(trace()).stages[0].findings}
    assert (Kind.CPU, "coordinator", "backend") in kinds
    assert (Kind.DISK, "shard", "backend") in kinds
    assert (Kind.READ_AHEAD, "shard", "backend") in kinds


@pytest.mark.parametrize("columns", [60, 80, 200])
def test_nothing_is_wider_than_the_terminal(columns: int) -> None:
    assert max(map(len, shown(report_of(trace()), columns).splitlines())) <= columns


def test_a_trace_that_lost_messages_is_not_valid() -> None:
    text = shown(report_of(trace(lost=3)), 80)
    assert text.startswith("✗")
    assert "the trace is not whole" in text


def test_executions_add_up_and_copies_are_counted_within_each() -> None:
    stage = report_of(trace()).stages[0]
    assert (stage.executions, stage.elapsed) == (3, 300_000_000)
    assert stage.multicast is not None
    assert (stage.multicast.every.messages, stage.multicast.every.saved_messages) == (18, 3)
    backend = next(role for role in stage.roles if role.node == "coordinator")
    assert next(call for call in backend.calls if call.name == "pread64").count == 300
    assert stage.wall_overhead is not None
    assert stage.wall_overhead.value == pytest.approx(100 / 98, rel=0.01)


def test_a_watched_load_has_a_timeline() -> None:
    names = [getattr(chart, "name", None) for chart in charts(report_of(trace(watched=True)))]
    assert "timeline" in names
    assert "resources" in [getattr(chart, "name", None) for chart in charts(report_of(trace()))]


def test_without_calls_no_table_of_calls_is_shown() -> None:
    text = render(story(report_of(trace(level=Level.LIGHT))))
    assert "System calls" not in text
    assert "Page cache" in text


def test_the_document_is_read_back_whole() -> None:
    report = report_of(trace())
    assert OsReport.model_validate_json(report.model_dump_json()) == report


def test_the_answer_to_one_query_is_one_sentence() -> None:
    found = trace()
    single = Trace(found.nodes, found.level, found.stages[:1])
    text = " ".join(shown(report_of(single), 200).split())
    assert (
        "read 800 KiB from disk each time; computing in one process at a time limits it (backend, 82%" in text
    )
