"""Planning and workers in the report: the first line has the whole, and a comparison names the part that differs."""

from __future__ import annotations

import dataclasses
import json

import pytest

from tare.measure.choices import Clocked
from tare.measure.lacks import Cause, Lack
from tare.measure.query import Query
from tare.measure.records import QE, Phases
from tare.report.asked import Asked
from tare.report.document import as_json
from tare.report.kit import terminal
from tare.report.result import RunResult
from tare.report.time.story import story
from tests.unit.protocol.qe_records import MS, qe, resources
from tests.unit.report import sample

INSIDE = "the server plans within execution"


def first_line(result: RunResult) -> str:
    return " ".join(terminal.render(story(result), 120).partition("\n\n")[0].split())


def total(qes: list[QE]) -> RunResult:
    return sample.result(qes, asked=Asked(len(qes), clocked=Clocked.TOTAL))


def parallel(processes: int) -> list[QE]:
    use = resources(165.8, processes=processes, leader_cpu_ns=44 * MS, workers_cpu_ns=round(121.8 * MS))
    return [qe(i, resources=use) for i in range(10)]


def unsplit() -> list[QE]:
    names = ("planning", "execution", "planning_cpu", "execution_cpu")
    none = Phases(None, None, None, None, dict.fromkeys(names, Lack(Cause.PLANNING_INSIDE, INSIDE)))
    return [qe(i, phases=none) for i in range(10)]


def against(a_ms: float, b_ms: float, compare: str = "wall_ms", factor: float = 1.0) -> RunResult:
    """A and B of one execution, with planning of these lengths added to wall and CPU time."""
    pairs = []
    for one, other in zip(sample.noisy(12, 55, 0.01, 1), sample.noisy(12, 55 * factor, 0.01, 2), strict=True):
        for query, (made, planning_ms) in enumerate(((one, a_ms), (other, b_ms))):
            assert made.elapsed is not None
            assert made.resources is not None
            assert made.elapsed.cpu_ns is not None
            assert made.resources.cpu_ns is not None
            more = round(planning_ms * MS)
            longer = dataclasses.replace(
                made,
                index=2 * one.index + query,
                query=query,
                elapsed=dataclasses.replace(
                    made.elapsed, wall_ns=made.elapsed.wall_ns + more, cpu_ns=made.elapsed.cpu_ns + more
                ),
                resources=dataclasses.replace(made.resources, cpu_ns=made.resources.cpu_ns + more),
            )
            pairs.append(sample.planned(longer, planning_ms))
    queries = [sample.QUERY, Query("sum", "SELECT sum(1) FROM lineitem")]
    return sample.result(pairs, queries, Asked(12, compare=compare, clocked=Clocked.TOTAL))


def test_the_cpu_time_of_the_first_line_is_that_of_all_processes() -> None:
    assert "and 165.8 ms" in first_line(total(parallel(3)))
    assert "of CPU time (leader 44.0 ms, 2 workers 122 ms)" in first_line(total(parallel(3)))


def test_threads_of_one_process_are_workers_too() -> None:
    assert "(leader 44.0 ms, workers (threads) 122 ms)" in first_line(total(parallel(1)))


def test_a_leader_that_works_alone_is_not_named() -> None:
    use = resources(55.5, leader_cpu_ns=round(55.4 * MS), workers_cpu_ns=MS // 10)
    assert "leader" not in first_line(total([qe(i, resources=use) for i in range(10)]))


def test_planning_and_execution_stand_under_the_wall_time() -> None:
    shown = terminal.render(story(sample.warm()), 80)
    assert (
        shown.index("\nwall ") < shown.index("planning  ") < shown.index("execution  ") < shown.index("= CPU")
    )


def test_planning_that_is_inside_execution_says_so() -> None:
    result = total(unsplit())
    assert "with planning" in first_line(result)
    assert f"– planning, execution, planning CPU, execution CPU: {INSIDE}" in terminal.render(
        story(result), 200
    )


def test_the_paper_s_measure_says_that_planning_is_not_clocked() -> None:
    result = sample.result([qe(i) for i in range(10)])
    assert "to execute (planning not clocked)" in first_line(result)
    assert result.results[0].phases is None
    assert result.results[0].ttp2.deviations == [] or "planning is clocked" not in {
        one.name for one in result.results[0].ttp2.deviations
    }


def test_clocked_planning_is_a_deviation_from_ttp2() -> None:
    assert "planning is clocked" in {one.name for one in sample.warm().results[0].ttp2.deviations}


@pytest.mark.parametrize("measure", ["wall_ms", "cpu_ms", "resources.cpu_ms"])
def test_a_difference_in_planning_alone_is_located_there(measure: str) -> None:
    result = against(30, 2, measure)
    assert result.comparison is not None
    assert result.comparison.parts is not None
    assert (result.comparison.greater, result.comparison.parts.where) == ("A", "planning")
    assert "All of it is in planning (B − A = −28.00 ms" in first_line(result)


def test_a_difference_in_execution_alone_is_located_there() -> None:
    result = against(2, 2.0001, factor=1.2)
    assert "All of it is in execution" in first_line(result)


def test_a_part_of_some_per_cent_is_named_as_the_exception() -> None:
    assert "All but 3.5% of it is in execution" in first_line(against(2, 2.4, factor=1.2))


def test_a_difference_in_both_is_shared_out() -> None:
    result = against(2, 13, factor=1.2)
    assert result.comparison is not None
    assert result.comparison.parts is not None
    assert result.comparison.parts.where == "both"
    assert "of it is in planning," in first_line(result)


def test_parts_that_cancel_out_are_named_although_the_total_does_not_differ() -> None:
    result = against(13, 2, factor=1.2)
    assert result.comparison is not None
    assert result.comparison.greater is None
    assert "in opposite directions" in first_line(result)


def test_without_a_split_no_part_is_named() -> None:
    pairs = [dataclasses.replace(one, query=one.index % 2) for one in unsplit()]
    queries = [sample.QUERY, Query("sum", "SELECT sum(1) FROM lineitem")]
    result = sample.result(pairs, queries, Asked(5, compare="wall_ms", clocked=Clocked.TOTAL))
    assert result.comparison is not None
    assert result.comparison.parts is None
    assert "planning" not in first_line(result)
    shown = " ".join(terminal.render(story(result), 120).split())
    assert "The total includes planning, which is not split from it." in shown


def test_a_comparison_of_executions_says_that_planning_is_not_clocked() -> None:
    shown = " ".join(terminal.render(story(sample.compared()), 120).split())
    assert "Only executions are clocked, planning is not." in shown


def test_a_result_of_before_is_still_read() -> None:
    document = json.loads(as_json(sample.compared()))
    del document["clocked"], document["comparison"]["parts"]
    for query in document["results"]:
        del query["phases"], query["resources"]["leader_cpu_ms"], query["resources"]["workers_cpu_ms"]
    read = RunResult.model_validate(document)
    assert (read.clocked, read.results[0].phases) == ("execution", None)
    assert first_line(read)
