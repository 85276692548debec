"""Reports as a reader sees them: every number with its uncertainty, every dash with its reason, at 80 columns."""

from __future__ import annotations

import csv
import io
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rich.console import Console

from tare.measure.query import Query
from tare.measure.records import Outcome
from tare.protocol.stop import Stop
from tare.report import csv as csv_report
from tare.report.asked import Asked, Attempt, Means
from tare.report.kit import markdown, page, terminal
from tare.report.result import RunResult
from tare.report.time import comparison
from tare.report.time.story import story
from tests.unit.protocol.qe_records import qe
from tests.unit.report import sample
from tests.unit.report.test_build import any_qe


def text(result: RunResult, width: int = 80) -> str:
    return terminal.render(story(result), width)


def as_markdown(result: RunResult) -> str:
    return markdown.render(story(result))


@pytest.fixture(scope="module")
def warm() -> RunResult:
    return sample.warm()


@pytest.fixture(scope="module")
def troubled() -> RunResult:
    return sample.troubled()


@pytest.mark.parametrize("width", [60, 80, 120, 200])
@pytest.mark.parametrize(
    "make", [sample.warm, sample.troubled, sample.compared], ids=lambda make: make.__name__
)
def test_nothing_is_wider_than_the_terminal_and_nothing_is_cut(make, width: int) -> None:  # type: ignore[no-untyped-def]
    shown = text(make(), width)
    assert max(len(line) for line in shown.splitlines()) <= width
    assert "…" not in shown.replace("tare time …", "")


def test_the_elapsed_view_shows_every_part_in_the_order_of_the_sum(warm: RunResult) -> None:
    shown = text(warm)
    labels = ["wall", "= CPU", "+ block I/O", "+ run-queue wait", "+ sleep", "+ steal", "+ residue"]
    places = [shown.index(f"\n{label}") for label in labels]
    assert places == sorted(places)


def test_every_median_has_its_interval_beside_it(warm: RunResult) -> None:
    line = next(line for line in text(warm).splitlines() if line.startswith("wall"))
    assert re.search(r"57\.83 +ms +\[57\.48, 58\.12\] +0\.48%", line)


def test_a_dash_is_explained_below(troubled: RunResult) -> None:
    shown = text(troubled, 120)
    assert "– sleep: scheduler trace rejected" in shown
    assert "– instructions:u: the hypervisor shows no counter" in shown
    assert "– TTPv2: 0 of 9 QEs are left" in shown


def test_sampled_splits_are_marked(warm: RunResult) -> None:
    shown = text(warm)
    assert "user ~" in shown
    assert "~ sampled split" in shown


def test_failed_checks_come_with_number_source_and_evidence(troubled: RunResult) -> None:
    assert "✗ DBMS time (TTPv2 Table XI, 2): 8 of 9 QEs" in text(troubled, 120)


def test_each_warning_ends_with_a_next_step(troubled: RunResult) -> None:
    shown = text(troubled)
    assert shown.count("  next: ") == len(troubled.warnings) > 5


def test_what_is_said_in_colour_is_said_in_words_too(troubled: RunResult) -> None:
    out = io.StringIO()
    terminal.print_story(
        story(troubled), Console(file=out, width=100, force_terminal=True, color_system="truecolor")
    )
    stripped = re.sub(r"\x1b\[[0-9;]*m", "", out.getvalue())
    assert "\x1b[" in out.getvalue()
    assert [line.rstrip() for line in stripped.splitlines()] == text(troubled, 100).splitlines()
    assert "NOT reached" in stripped


def test_an_interrupted_run_says_so(troubled: RunResult) -> None:
    assert "the run ended early: interrupted" in text(troubled)
    assert "the run ended early" in as_markdown(troubled)


def test_a_query_that_never_worked_shows_why() -> None:
    broken = sample.result([qe(0, outcome=Outcome.FAILED, error="division by zero", elapsed=None)])
    assert "no run was timed to its end: division by zero" in text(broken)
    assert "division by zero" in as_markdown(broken)


def test_tare_shows_its_own_cost(warm: RunResult) -> None:
    assert "Tare     0.1.0: 100 µs CPU a QE (0.17% of wall)" in text(warm, 120)


def test_square_brackets_in_sql_and_names_are_not_markup() -> None:
    odd = sample.result([qe(i) for i in range(6)], [Query("a [bold]b[/x]", "SELECT a[1] FROM t /* [red] */")])
    shown = text(odd)
    assert "a [bold]b[/x]" in shown
    assert "SELECT a[1] FROM t /* [red] */" in shown


class TestComparison:
    def test_it_says_which_query_is_which(self) -> None:
        shown = text(sample.compared())
        assert "A  count\nB  sum\n" in shown
        assert "| A | count |\n| B | sum |" in as_markdown(sample.compared())

    def test_the_verdict_names_the_dearer_query_and_how_sure_that_is(self) -> None:
        shown = " ".join(text(sample.compared(1.10)).split())
        assert "B costs more CPU time than A: B takes 1.09" in shown
        assert "95% interval" in shown

    def test_a_faster_b_is_told_from_the_other_end(self) -> None:
        assert "A costs more CPU time than B" in text(sample.compared(0.9), 120)

    def test_no_difference_is_not_called_equal(self) -> None:
        shown = text(sample.compared(0.995), 120)
        assert "No difference in CPU time between A and B is established" in shown

    def test_with_a_margin_there_are_three_verdicts(self) -> None:
        beyond = " ".join(text(sample.compared(1.2, margin=0.05)).split())
        assert "✓ B costs more CPU time than A by more than 5%: B takes 1.1" in beyond
        within = " ".join(text(sample.compared(1.0, margin=0.1)).split())
        assert "✓ A and B are equivalent in CPU time within 10%: B takes " in within
        between = " ".join(text(sample.compared(1.05, margin=0.05)).split())
        assert "! It is undecided whether A and B differ in CPU time by more than 5%: B takes 1.0" in between
        assert "drawn from the 99% interval and the margin of 5%" in between

    def test_what_would_decide_is_named_with_its_time(self) -> None:
        found = sample.compared(1.03, margin=0.05).comparison
        assert found is not None
        assert found.blocks_needed is not None
        assert found.blocks_needed > 12
        open_ = found.model_copy(update={"minutes_needed": 3.4})
        assert f"; some {found.blocks_needed} runs of each (about 3 min) would decide" in comparison.verdict(
            open_
        )

    def test_a_rule_that_was_not_reached_says_so(self) -> None:
        assert "asked to stop at ci=0.1%, not reached" in " ".join(
            text(sample.compared(until=Stop(0.001))).split()
        )


class TestAnswer:
    """The first lines: what it costs, and whether the reader may rely on it."""

    def test_it_comes_first(self, warm: RunResult) -> None:
        assert text(warm, 120).startswith(
            "✓ count takes 57.83 ms [57.48, 58.12] (planning 2.05 ms, execution 55.8 ms), "
            "55.46 ms [55.10, 55.74] of it CPU"
        )

    def test_a_box_is_green_only_without_a_warning_that_touches_the_times(
        self, warm: RunResult, troubled: RunResult
    ) -> None:
        assert 'class="verdict-box rely"' in page.render(story(warm))
        shown = page.render(story(troubled))
        assert 'class="verdict-box rely"' not in shown
        assert "the cache was not cold as asked" in shown.partition("</div>")[0]

    def test_a_warning_about_another_measure_leaves_it_green(self) -> None:
        lower = Means(
            "taskstats", [Attempt("bpf", False, "CAP_BPF is missing", "run as root")], False, sample.TICK_NS
        )
        found = sample.result(sample.noisy(10), asked=Asked(10), means=lower)
        assert {one.type for one in found.warnings} == {"no-delay-accounting", "lower-tier"}
        assert 'class="verdict-box rely"' in page.render(story(found))

    def test_different_answers_are_no_comparison(self) -> None:
        found = sample.compared()
        assert found.comparison is not None
        differing = found.comparison.model_copy(update={"answers_agree": False})
        assert 'class="verdict-box not"' in page.render(
            story(found.model_copy(update={"comparison": differing}))
        )

    def test_several_queries_are_shown_side_by_side(self) -> None:
        found = sample.compared().model_copy(update={"comparison": None})
        assert [line.split()[0] for line in text(found).splitlines()[:4]] == ["What", "query", "count", "sum"]

    def test_the_parts_of_a_comparison_are_called_a_and_b(self) -> None:
        shown = text(sample.compared())
        assert re.findall(r"^([AB]): (\w+)  12 runs", shown, re.MULTILINE) == [("A", "count"), ("B", "sum")]
        assert [f"{side} takes" in shown for side in "AB"] == [True, True]
        assert "count takes" not in shown

    def test_a_statement_that_names_its_query_stands_once_in_its_section(self) -> None:
        queries = [Query("SELECT 7", "SELECT 7"), Query("eight", "SELECT 8")]
        found = sample.compared()
        named = [
            query.model_copy(update={"name": one.name, "sql": one.sql})
            for query, one in zip(found.results, queries, strict=True)
        ]
        found = found.model_copy(update={"comparison": None, "results": named})
        _, first, second = re.split(r"^(?=SELECT 7  12 runs|eight  12 runs)", text(found), flags=re.MULTILINE)
        assert first.count("SELECT 7") == 1
        assert "query 1 takes" in first
        assert second.count("SELECT 8") == 1
        assert as_markdown(found).count("```sql\nSELECT 7\n```") == 1


class TestMarkdown:
    def test_every_table_is_rectangular(self, troubled: RunResult) -> None:
        for block in as_markdown(troubled).split("\n\n"):
            rows = [line for line in block.splitlines() if line.startswith("|")]
            assert len({len(re.findall(r"(?<!\\)\|", row)) for row in rows}) <= 1

    def test_a_pipe_in_a_name_does_not_break_its_table(self) -> None:
        piped = sample.result([qe(i) for i in range(6)], [Query("a|b", "SELECT 1 || 2")])
        shown = as_markdown(piped)
        assert "## a\\|b" in shown
        assert "```sql\nSELECT 1 || 2\n```" in shown


class TestCsv:
    def rows(self, result: RunResult) -> list[dict[str, str]]:
        return list(csv.DictReader(io.StringIO(csv_report.render(result), newline="")))

    def test_there_is_a_row_for_every_execution_in_run_order(self) -> None:
        rows = self.rows(sample.compared())
        assert [int(row["index"]) for row in rows] == list(range(24))
        assert {row["query"] for row in rows} == {"count", "sum"}

    def test_the_samples_are_the_document_s(self, warm: RunResult) -> None:
        cpu = [float(row["cpu_ms"]) for row in self.rows(warm) if row["sample"]]
        assert cpu == warm.results[0].measures.cpu_ms.samples

    def test_warm_up_runs_have_a_wall_time_and_no_sample(self, warm: RunResult) -> None:
        first = self.rows(warm)[0]
        assert (first["warmup"], first["sample"], first["cpu_ms"]) == ("true", "", "")
        assert float(first["wall_ms"]) > 80

    def test_what_was_not_measured_is_empty_and_never_zero(self, troubled: RunResult) -> None:
        assert {row["instructions"] for row in self.rows(troubled)} == {""}

    def test_an_error_keeps_its_commas_and_line_breaks(self) -> None:
        error = 'syntax error, at "x"\nLINE 1'
        rows = self.rows(sample.result([qe(0), qe(1, outcome=Outcome.FAILED, error=error)]))
        assert rows[1]["error"] == error

    def test_a_run_without_queries_is_only_a_head(self) -> None:
        assert len(csv_report.render(sample.result([], [], Asked(10))).splitlines()) == 1


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_any_records_can_be_reported_every_way(data: st.DataObject) -> None:
    qes = data.draw(st.lists(any_qe(), max_size=8))
    result = sample.result(qes, interrupted=data.draw(st.booleans()))
    assert text(result, data.draw(st.integers(40, 200)))
    assert as_markdown(result)
    assert csv_report.render(result)
