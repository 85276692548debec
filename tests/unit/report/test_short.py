"""The short form: the answer first, in at most twelve lines, and nothing that the report contradicts."""

from __future__ import annotations

import dataclasses

import pytest

from tare.dbms.base import Role
from tare.measure.query import Query
from tare.measure.records import Outcome
from tare.report.kit.terminal import lines
from tare.report.numbers import THIN
from tare.report.result import RunResult
from tare.report.time.lines import mean_parts
from tare.report.time.short import MOST_LINES, sentence, short
from tests.unit.protocol.qe_records import MS, elapsed, process, qe, resources
from tests.unit.report import sample


def shown(result: RunResult, width: int = 80) -> list[str]:
    return [line.plain for line in lines(short(result, width), width)]


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize(
    "make", [sample.warm, sample.troubled, sample.compared], ids=lambda make: make.__name__
)
def test_it_has_twelve_lines_at_most_and_none_is_too_wide(make, width: int) -> None:  # type: ignore[no-untyped-def]
    found = shown(make(), width)
    assert len(found) <= MOST_LINES
    assert max(map(len, found)) <= width


def test_it_begins_with_the_cpu_time_and_what_the_wall_time_went_into() -> None:
    assert shown(sample.warm())[0] == "✓ 55.46 ms of CPU, ±0.65%. Wall 57.83 ms: 96% on a CPU."


def waiting(*noise: object) -> RunResult:
    waits = elapsed(2500, 139, run_queue_ns=2350 * MS, sleep_ns=11 * MS, residue_ns=0)
    return sample.result([qe(i, elapsed=waits, processes=(process(), *noise)) for i in range(10)])


def test_a_wait_for_a_cpu_names_who_used_it() -> None:
    noise = [
        process(7, Role.DAEMON, comm="mysqld", run_ns=1500 * MS),
        process(8, Role.DAEMON, comm="python", run_ns=800 * MS),
        process(9, Role.DAEMON, comm="cron", run_ns=2 * MS),
    ]
    (query,) = waiting(*noise).results
    assert sentence(query).endswith(f"Wall 2{THIN}500 ms: 94% waiting for a CPU that mysqld and python used.")


def test_nobody_is_blamed_for_a_wait_that_they_do_not_explain() -> None:
    (query,) = waiting(process(7, Role.DAEMON, comm="cron", run_ns=90 * MS)).results
    assert sentence(query).endswith("94% waiting for a CPU.")


def test_the_means_of_the_parts_add_up_to_the_mean_of_the_wall_time() -> None:
    (query,) = sample.warm().results
    means = mean_parts(query)
    assert means is not None
    assert sum(means.parts.values()) == pytest.approx(means.wall)
    assert "57.78 ms = CPU 55.45 + run queue 1.00 + sleep 1.32 + residue 0.01 (10 runs)" in " ".join(
        " ".join(shown(sample.warm())).split()
    )


def test_a_warning_gives_way_to_the_count_of_all_only_where_there_is_no_room() -> None:
    found = shown(sample.troubled())
    assert any(line.startswith("! some runs did not end well") for line in found)
    assert "more warnings" in found[-1]


def test_a_changed_answer_comes_first_and_is_never_contradicted() -> None:
    qes = [dataclasses.replace(one, answer_hash=str(i)) for i, one in enumerate(sample.noisy(10))]
    found = " ".join(" ".join(shown(sample.result(qes))).split())
    assert found.startswith("✗")
    assert "! not every run gave the same answer" in found
    assert "others differ" in found
    assert "the same in every run" not in found


def test_a_query_that_never_worked_says_why() -> None:
    broken = sample.result([qe(0, outcome=Outcome.FAILED, error="division by zero", elapsed=None)])
    assert "no run was timed to its end: division by zero" in " ".join(shown(broken))


def test_several_queries_take_a_line_each() -> None:
    found = sample.result(
        [qe(i, query=i % 20) for i in range(120)], [Query(f"q{i}", f"SELECT {i}") for i in range(20)]
    )
    assert len(shown(found)) <= MOST_LINES + 20
    assert sum(line.startswith("q") for line in shown(found)) >= 20


def test_preemptions_stand_with_the_cpu_time_that_they_shorten() -> None:
    found = sample.result([qe(i, resources=resources(preemptions=300)) for i in range(10)])
    line = " ".join(" ".join(shown(found)).split())
    assert "300 preemptions: up to 11% of it is booked to the preempting threads" in line


def test_a_cpu_quota_is_named_as_what_it_is() -> None:
    stopped = elapsed(1000, 100, throttled_ns=880 * MS, run_queue_ns=10 * MS, sleep_ns=10 * MS, residue_ns=0)
    found = sample.result([qe(i, elapsed=stopped) for i in range(10)])
    assert sentence(found.results[0]).endswith("88% throttled by a CPU quota.")
    assert "throttled 880" in " ".join(" ".join(shown(found)).split())


def test_a_result_of_before_throttling_was_measured_is_shown() -> None:
    (query,) = sample.warm().results
    older = query.model_copy(update={"measures": query.measures.model_copy(update={"throttled_ms": None})})
    assert mean_parts(older) is not None
