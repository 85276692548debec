"""The short form: the answer in at most 12 lines, and nothing hidden that changes how a number is read."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from tare.measure.choices import CacheState
from tare.measure.query import Query
from tare.measure.records import Outcome, Relation
from tare.report import warnings
from tare.report.asked import Asked, Places
from tare.report.brief import brief
from tare.report.kit import terminal
from tare.report.result import RunResult, WarningResult
from tare.report.time import short, sums
from tare.report.time.story import story
from tare.report.warnings import SPARE_THE_TIMES, Caution, type_name
from tests.unit.protocol.qe_records import MS, elapsed, qe, resources
from tests.unit.report import sample
from tests.unit.report.test_build import any_qe

MOST = 12
LONG = "a name of a query that goes on and on, with 中文字 and emoji 🙂 and a/very/long/path/to/some/file/query-17"


def shown(result: RunResult, width: int = 80) -> list[str]:
    return terminal.render(short.story(result), width).splitlines()


def flat(result: RunResult, width: int = 80) -> str:
    return " ".join(" ".join(shown(result, width)).split())


def named(result: RunResult, *names: str) -> RunResult:
    renamed = [one.model_copy(update={"name": name}) for one, name in zip(result.results, names, strict=True)]
    return result.model_copy(update={"results": renamed})


# Twelve lines ------------------------------------------------------------------------------
texts = st.text(st.sampled_from("aZ 09éß中🙂\n\t[]") | st.characters(codec="utf-8"), max_size=300)
kinds = st.sampled_from([type_name(kind) for kind in Caution.__subclasses__()])
any_warning = st.builds(
    WarningResult,
    type=kinds,
    query=st.none() | texts,
    cause=texts,
    evidence=texts,
    next_step=texts,
    brief=texts,
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(any_qe(), min_size=1, max_size=6),
    texts,
    st.lists(any_warning, max_size=25),
    st.none() | texts,
    st.integers(80, 200),
)
def test_one_query_takes_at_most_twelve_lines(qes, name, warned, error, width) -> None:  # type: ignore[no-untyped-def]
    result = sample.result(qes, [Query(name, "SELECT 1")], Asked(6), error=error)
    result = result.model_copy(update={"warnings": [*result.warnings, *warned]})
    lines = shown(result, width)
    assert len(lines) <= MOST, "\n".join(lines)
    assert max(map(cell_len, lines)) <= width


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    texts,
    texts,
    st.lists(any_warning, max_size=25),
    st.none() | texts,
    st.floats(0.01, 100),
    st.integers(80, 200),
    st.sampled_from([None, True, False]),
)
def test_a_comparison_takes_at_most_twelve_lines(  # type: ignore[no-untyped-def]
    a, b, warned, error, factor, width, agree
) -> None:
    found = named(COMPARED(factor), a, b)
    assert found.comparison is not None
    comparison = found.comparison.model_copy(update={"a": a, "b": b, "answers_agree": agree})
    found = found.model_copy(update={"warnings": warned, "comparison": comparison, "error": error})
    lines = shown(found, width)
    assert len(lines) <= MOST, "\n".join(lines)
    assert max(map(cell_len, lines)) <= width


_KNOWN: dict[float, RunResult] = {}


def COMPARED(factor: float) -> RunResult:  # noqa: N802
    rounded = round(factor, 1) or 0.1
    return _KNOWN.setdefault(rounded, sample.compared(rounded))


@pytest.mark.parametrize("make", [sample.warm, sample.troubled], ids=lambda make: make.__name__)
@pytest.mark.parametrize("name", [LONG, "q", ""])
def test_the_number_of_the_answer_is_whole_whatever_the_name(
    make: Callable[[], RunResult], name: str
) -> None:
    result = named(make(), name)
    wall = next(line for line in terminal.render(story(result), 200).splitlines() if line.startswith("wall"))
    for digits in wall.split("[")[1].split("]")[0].split(", "):
        assert " ".join(digits.split()) in flat(result)
    assert len(shown(result)) <= MOST


@pytest.mark.parametrize("width", [40, 60])
def test_a_narrow_terminal_has_no_wider_line(width: int) -> None:
    for result in (named(sample.troubled(), LONG), named(sample.compared(), LONG, LONG)):
        assert max(map(cell_len, shown(result, width))) <= width


def test_there_is_no_colour_where_there_is_no_terminal() -> None:
    out = io.StringIO()
    terminal.print_story(short.story(sample.troubled()), Console(file=out, width=80))
    assert "\x1b" not in out.getvalue()


# What is in them ---------------------------------------------------------------------------
def test_the_answer_is_first_and_the_way_to_the_rest_is_last() -> None:
    lines = shown(sample.warm())
    assert lines[0].startswith("✓ count takes 57.83 ms [57.48, 58.12] (planning 2.05 ms, execution")
    assert "-v" in lines[-1]


def test_parts_of_a_per_cent_are_named_the_others_summed_and_the_residue_is_always_there() -> None:
    parts = elapsed(100, 90, run_queue_ns=MS // 2, block_io_ns=MS // 4, sleep_ns=9_240_000)
    result = sample.result([qe(i, elapsed=parts) for i in range(8)])
    cpu, sleep, others, residue = flat(result, 200).partition(" = ")[2].split(" + ")
    assert cpu == "CPU 90.00 ms [90.00, 90.00] (90%)"
    assert sleep == "sleep 9.240 ms [9.240, 9.240] (9.2%)"
    assert others == "other 750 µs"
    assert residue.startswith("residue 10.00 µs [10.00, 10.00]")


def test_a_part_that_was_not_measured_is_a_dash() -> None:
    assert "+ sleep – +" in flat(sample.troubled())


def test_every_warning_that_touches_the_times_is_at_least_named() -> None:
    result = sample.troubled()
    text = flat(result)
    touching = [one for one in result.warnings if one.type not in SPARE_THE_TIMES]
    assert len(touching) > 4
    for one in touching:
        assert one.brief[:40] in text or one.type.replace("-", " ") in text, one.type


def test_the_gravest_warning_comes_first() -> None:
    warned = [one for one in shown(sample.troubled()) if one.startswith("! ")]
    assert warned[2].startswith("! runs that are not summed up: 1 timed out; the last: ran into its time-out")


def test_a_run_that_was_cut_short_says_why() -> None:
    result = sample.result([qe(i) for i in range(6)], error="the server went away")
    assert "the run ended early: the server went away" in flat(result)
    assert shown(result)[0].startswith("! count takes")


def test_a_query_that_failed_says_why() -> None:
    failed = [qe(0, outcome=Outcome.FAILED, error="division by zero", elapsed=None)]
    result = sample.result(failed, error="count: division by zero")
    assert shown(result)[0] == "✗ count: no run was timed to its end: division by zero"
    assert flat(result).count("division by zero") == 1


def test_an_error_that_no_query_has_is_stated_beside_a_query_that_failed() -> None:
    timed_out = [qe(0, outcome=Outcome.TIMEOUT, error="ran into its time-out", elapsed=None)]
    assert "the run ended early: server lost" in flat(sample.result(timed_out, error="server lost"))
    failed = [qe(0, outcome=Outcome.FAILED, error="division by zero", elapsed=None)]
    assert "the run ended early: interrupted" in flat(sample.result(failed, interrupted=True))


def test_a_query_that_failed_is_named_beside_those_that_were_measured() -> None:
    result = sample.result(
        [qe(i, query=1) for i in range(6)],
        [Query("Q1", "SELECT a"), Query("Q2", "SELECT 1")],
        Asked(6),
        failures={0: "Q1: there is no column a"},
    )
    lines = shown(result)
    assert lines[1].startswith("✗ Q1 ")
    assert lines[2].startswith("✓ Q2 ")
    assert "✗ Q1: there is no column a; no run was timed to its end" in lines


def test_runs_that_an_error_ended_are_named_with_their_times() -> None:
    failed = qe(6, outcome=Outcome.FAILED, error="no memory", elapsed=None)
    result = sample.result([*(qe(i) for i in range(6)), failed], failures={0: "count: no memory"})
    assert shown(result)[0].startswith("✗ count takes")
    assert flat(result).count("its runs ended early: count: no memory") == 1
    assert "runs-missing" not in {warning.type for warning in result.warnings}


@pytest.mark.parametrize("difference", [None, "2 rows instead of 3"])
def test_an_answer_is_stated_to_be_the_references_or_how_it_differs(difference: str | None) -> None:
    (query,) = sample.warm().results
    answer = query.answer.model_copy(update={"reference": "DuckDB", "reference_difference": difference})
    result = sample.warm().model_copy(update={"results": [query.model_copy(update={"answer": answer})]})
    assert ("the same in every run, and in DuckDB" in flat(result)) is (difference is None)
    is_named = "✗ its answer differs from DuckDB's: 2 rows instead of 3" in shown(result)
    assert is_named is (difference is not None)
    assert shown(result)[0].startswith("✓ count takes" if difference is None else "✗ count takes")


def test_different_answers_are_the_first_thing_of_a_comparison() -> None:
    found = sample.compared()
    assert found.comparison is not None
    differing = found.comparison.model_copy(update={"answers_agree": False})
    lines = shown(found.model_copy(update={"comparison": differing}))
    assert lines[0].startswith("✗ A and B do not give the same answer. ")


def test_a_comparison_has_the_medians_of_both() -> None:
    lines = shown(sample.compared(1.2))
    assert lines[0].startswith("✓ B costs more CPU time than A: B takes 1.1")
    assert any(line.startswith("A count: wall ") for line in lines)
    assert any(line.startswith("B sum: wall ") for line in lines)


def test_several_queries_take_a_line_each_and_few_more() -> None:
    found = named(sample.compared().model_copy(update={"comparison": None}), LONG, "b")
    lines = shown(found)
    assert lines[1].startswith("✓ a name of")
    assert lines[2].startswith("✓ b ")
    assert lines[3] == ""
    assert len(lines) <= 3 + 1 + 7


def test_a_warning_about_a_compared_query_has_its_letter() -> None:
    found = sample.compared()
    about = {
        letter: WarningResult(
            type="cpu-unsteady", query=query.name, cause=f"cause {letter}", evidence="", next_step=""
        )
        for letter, query in zip("AB", found.results, strict=True)
    }
    lines = shown(found.model_copy(update={"warnings": [*about.values()]}))
    assert "! A: cause A" in lines
    assert "! B: cause B" in lines


# Warnings in one line ----------------------------------------------------------------------
CAUTIONS: dict[type[Caution], Caution] = {
    kind: made
    for made in (
        warnings.TooFewRuns("q", 3),
        warnings.UnsteadyWall("q", 0.213, 0.0084, None),
        warnings.UnsteadyCpu("q", 0.213, 100),
        warnings.CacheNotReached("q", CacheState.LUKEWARM_DBMS, ""),
        warnings.CacheUnproved("q", CacheState.LUKEWARM_DBMS, ""),
        warnings.StealPresent("q", 123.4, 0.123),
        warnings.InterruptsServed("q", 123.4, 0.123),
        warnings.NoDelayAccounting("q", True),
        warnings.LowerTier("q", "taskstats", "bpf", "", ""),
        warnings.Ttp2NotApplicable("q", 128, 12.3),
        warnings.IoWorkersRead("q", 700 << 20),
        warnings.PreemptedOften("q", 12345, 123.4, 0.123),
        warnings.Throttled("q", 123.4, 0.123),
        warnings.CpusApart("q", Places(frozenset({0, 1, 2}), frozenset({3, 4}), frozenset(range(8)))),
        warnings.CpuUnattributed("q", 123.4, 12.3, ("postgres",), Relation.HIDDEN),
        warnings.CpuElsewhere("q", ("postgres",), (123.4, 12.3)),
        warnings.TooShortForTicks("q", 0.123, 10),
        warnings.WarmUpSeen("q", "", 3),
        warnings.PlanNotOne("q", ("a", "b")),
        warnings.AnswersDiffer("q", ""),
        warnings.AnswerUnread("q", ""),
        warnings.AnswersUnverified(None, "", ""),
        warnings.PossibleResultCache("q", ""),
        warnings.OwnCostHigh("q", 12.3, 0.123),
        warnings.LargeResidue("q", 100, 100, ""),
        warnings.TraceRejected("q", 100, 100, ""),
        warnings.RunsMissing("q", 100, 100, ""),
        warnings.NotResolved("q", 0.123),
    )
    for kind in [type(made)]
}


@pytest.mark.parametrize("caution", CAUTIONS.values(), ids=lambda one: type(one).__name__)
def test_a_warning_fits_in_one_line(caution: Caution) -> None:
    assert len(brief(caution)) <= 78, brief(caution)


# Medians that do not add up ----------------------------------------------------------------
def halves(*pairs: tuple[float, float]) -> RunResult:
    """Executions of CPU and sleep, in ms, whose parts add up."""
    qes = [
        qe(
            i,
            elapsed=elapsed(cpu + sleep, cpu, run_queue_ns=0, sleep_ns=round(sleep * MS), residue_ns=0),
            resources=resources(cpu),
        )
        for i, (cpu, sleep) in enumerate(pairs)
    ]
    return sample.result(qes, asked=Asked(len(qes)))


UNEVEN = ((30, 50), (50, 30), (40, 70), (70, 60), (60, 35), (35, 60), (55, 70))
"""Medians: CPU 50 ms, sleep 60 ms, wall time 95 ms."""


def test_the_gap_of_the_medians_is_exact() -> None:
    result = halves(*UNEVEN)
    query = result.results[0]
    parts = [measure for _, measure in sums.elapsed_parts(query)]
    for run, wall in enumerate(query.measures.wall_ms.samples):
        assert sum(part.samples[run] or 0.0 for part in parts) == pytest.approx(wall)
    assert dict(sums.gaps(query)) == {"wall": pytest.approx((50 + 60) / 95 - 1)}


def test_medians_that_do_not_add_up_are_explained_with_the_number_in_both_forms() -> None:
    result = halves(*UNEVEN)
    sentence = "each run's parts add up; their medians sum to 16% more than the median wall"
    assert sentence in flat(result, 120)
    assert sentence in " ".join(terminal.render(story(result), 120).split())


@pytest.mark.parametrize(("sleep", "is_seen"), [(10.9, False), (11.2, True)])
def test_one_per_cent_is_the_bound(sleep: float, is_seen: bool) -> None:
    result = halves((90, 10), (90, 10), (90, sleep), (88.0, sleep), (88.0, sleep), (90, 10), (90, sleep))
    [(_, gap)] = sums.gaps(result.results[0])
    assert (gap > sums.SEEN) is is_seen
    assert ("their medians sum to" in flat(result)) is is_seen


def test_a_sum_of_which_a_part_is_unknown_is_not_judged() -> None:
    assert "wall" not in dict(sums.gaps(sample.troubled().results[0]))


def test_known_parts_that_exceed_their_whole_are_explained_although_one_is_unknown() -> None:
    runs = [
        qe(
            i,
            elapsed=elapsed(
                cpu + wait, cpu, run_queue_ns=wait * MS, sleep_ns=0, block_io_ns=None, residue_ns=None
            ),
        )
        for i, (cpu, wait) in enumerate(UNEVEN)
    ]
    result = sample.result(runs, [Query("q", "SELECT 1")], Asked(len(runs)))
    assert dict(sums.gaps(result.results[0])) == {"wall": pytest.approx((50 + 60) / 95 - 1)}
    assert "their medians sum to 16% more than the median wall" in flat(result, 120)
