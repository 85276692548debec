"""TTPv2's running example (Tables I, IX and XV), judged as one Q@C of a lab."""

from __future__ import annotations

from typing import Any

import pytest

from tare.protocol import run_protocol
from tare.protocol.outcome import Outcome
from tests.golden.test_ttp2_running_example import QUERY_CPU, TIME_CALC_MS, WALL_MS, execution
from tests.unit.protocol.lab_records import RecordedQatC, RecordedRun, lab_of

IO_CALC = (37, 36.5, 47.5, None, 37.5, 39.5, None, 35, 37, 37.5)


@pytest.fixture(scope="module")
def outcome() -> Outcome:
    return run_protocol(lab_of(RecordedRun([RecordedQatC([execution(i) for i in range(10)])])), "ttp2")


@pytest.fixture(scope="module")
def qes(outcome: Outcome) -> list[dict[str, Any]]:
    assert outcome.qes is not None
    return outcome.qes.order_by("number").to_pyarrow().to_pylist()


@pytest.fixture(scope="module")
def time(outcome: Outcome) -> dict[str, Any]:
    assert outcome.times is not None
    (row,) = outcome.times.to_pyarrow().to_pylist()
    return row


def test_no_experiment_wide_check_is_violated(outcome: Outcome) -> None:
    assert outcome.stopped is None
    assert [check.violations for check in outcome.checks[:8]] == [0] * 8


def test_table_xv_each_execution_has_its_calculated_time(qes: list[dict[str, Any]]) -> None:
    assert tuple(qe["time_ms"] for qe in qes) == TIME_CALC_MS


def test_table_xv_each_execution_has_its_io_time(qes: list[dict[str, Any]]) -> None:
    shown = tuple(None if qe["part_io_ms"] is None else qe["part_io_ms"] / 10 for qe in qes)
    assert shown == IO_CALC


def test_table_i_each_execution_has_its_measured_time(qes: list[dict[str, Any]]) -> None:
    assert tuple(qe["measured_ms"] for qe in qes) == WALL_MS


def test_the_parts_add_up_to_the_time(qes: list[dict[str, Any]]) -> None:
    for qe in qes:
        if qe["time_ms"] is not None:
            assert qe["part_user_ms"] + qe["part_system_ms"] + qe["part_io_ms"] == qe["time_ms"]
            assert qe["part_user_ms"] + qe["part_system_ms"] == 10 * QUERY_CPU[qe["number"] - 1]


def test_executions_four_and_seven_are_dropped_and_no_other(qes: list[dict[str, Any]]) -> None:
    assert [qe["number"] for qe in qes if not qe["retained"]] == [4, 7]


def test_the_median_of_the_eight_is_reported_as_1993_ms(time: dict[str, Any]) -> None:
    assert (time["time_ms"], time["retained"], time["qes"]) == (1992.5, True, 8)
    assert f"{time['time_ms'] + 0.01:.0f}" == "1993"


def test_the_standard_deviation_is_46_2_ms_or_2_3_per_cent(outcome: Outcome, time: dict[str, Any]) -> None:
    assert f"{time['sd_ms']:.1f}" == "46.2"
    assert f"{outcome.precision.relative_error_calculated:.1%}" == "2.3%"


def test_the_paper_s_way_finds_the_same_query_process(time: dict[str, Any]) -> None:
    counted = [execution(i) for i in range(10) if QUERY_CPU[i] is not None]
    by_paper = run_protocol(lab_of(RecordedRun([RecordedQatC(counted)])), "ttp2", by_paper=True)
    assert by_paper.times is not None
    assert by_paper.times.time_ms.to_pyarrow().to_pylist() == [time["time_ms"]]
    assert not any("known from the server" in said for said in by_paper.deviations)
