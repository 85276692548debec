"""Two results of `tare time` are compared as what they are: weighed at two times, under conditions that are listed."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from tare.errors import ForeignFile, UsageError
from tare.measure.choices import Clocked
from tare.measure.query import Query
from tare.protocol.compare import compare
from tare.report.asked import Asked
from tare.report.document import as_json
from tare.report.kit import markdown, page, terminal
from tare.report.result import RunResult
from tare.report.time import short as time_short
from tare.report.time import story as time_story
from tare.report.two_results.build import compare_results
from tare.report.two_results.document import ResultsComparison
from tare.report.two_results.read import read_result
from tare.report.two_results.story import short, story
from tests.unit.report import sample

PUBLISHED = Path(__file__).parents[4] / "schemas" / "comparison-v1.json"
FILES = ("old.json", "new.json")


def weighed(factor: float = 1.0, seed: int = 1, n: int = 12, **more: Any) -> RunResult:
    qes = [sample.planned(one, 2) for one in sample.noisy(n, 55 * factor, 0.01, seed)]
    return sample.result(qes, asked=Asked(n, clocked=Clocked.TOTAL), **more)


def found(
    old: RunResult, new: RunResult, measure: str | None = None, margin: float | None = None
) -> ResultsComparison:
    return compare_results(old, new, FILES, measure, "tare compare old.json new.json", margin)


def lines(document: ResultsComparison, width: int = 80) -> list[str]:
    return terminal.render(short(document), width).splitlines()


def flat(document: ResultsComparison) -> str:
    return " ".join(" ".join(lines(document)).split())


def changed(result: RunResult, path: str, value: object) -> RunResult:
    """Return the result with the value at a dotted path replaced."""
    document = json.loads(as_json(result))
    *steps, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    holder = document
    for step in steps:
        holder = holder[step]
    holder[last] = value
    return RunResult.model_validate(document)


# The verdict -------------------------------------------------------------------------------
def test_the_ratio_is_that_of_compare_over_one_block() -> None:
    old, new = weighed(n=30), weighed(1.05, 2, n=30)
    [query] = found(old, new).queries
    assert query.comparison is not None
    measured = query.comparison.measures["resources.cpu_ms"]
    a, b = (result.results[0].resources.cpu_ms.samples for result in (old, new))
    expected = compare([x or 0 for x in a], [x or 0 for x in b], interleaved=False)
    assert measured.ratio is not None
    assert expected.ratio is not None
    assert measured.ratio.estimate == expected.ratio.estimate
    assert measured.mann_whitney_p == expected.p
    assert (query.comparison.verdict, query.comparison.greater) == ("different", "B")


def test_without_turns_every_run_is_compared_with_every_other() -> None:
    """Blocks take drift out of the interval: of runs of two times it stays in."""
    drifting = [100.0 + i for i in range(48)]
    later = [x + 20.5 for x in drifting]
    ratios = [compare(drifting, later, interleaved=by_turns).ratio for by_turns in (True, False)]
    blocked, whole = (
        one.ci95.high / one.ci95.low for one in ratios if one is not None and one.ci95 is not None
    )
    assert whole - 1 > 3 * (blocked - 1)


def test_the_sentence_has_the_ratio_its_interval_and_the_caveat() -> None:
    text = flat(found(weighed(), weighed(1.08, 2)))
    assert "CPU time of all processes: new.json took 1.0" in text
    assert "× [1.0" in text
    assert "of old.json; not interleaved: drift of the machine is in it." in text
    assert lines(found(weighed(), weighed(1.08, 2)))[0].startswith("! "), (
        "never ✓: the machine may have drifted"
    )


def test_no_difference_is_not_called_equal() -> None:
    assert "! No difference in CPU time of all processes is established" in flat(
        found(weighed(), weighed(1, 2))
    )


def test_a_margin_gives_three_verdicts() -> None:
    def verdict(factor: float, margin: float) -> str:
        return flat(found(weighed(), weighed(factor, 2), margin=margin))

    assert "CPU time of all processes differs by more than 3%: new.json took 1.0" in verdict(1.08, 0.03)
    assert "! Equivalent in CPU time of all processes within 5%: new.json took " in verdict(1, 0.05)
    assert "It is undecided whether CPU time of all processes differs by more than 8%" in verdict(1.08, 0.08)


def test_the_part_that_differs_is_named() -> None:
    assert "of it is in execution" in flat(found(weighed(), weighed(1.2, 2)))


def test_the_measure_can_be_chosen() -> None:
    assert flat(found(weighed(), weighed(1.2, 2), "wall_ms")).startswith("! Wall time: new.json took 1.")


# Conditions --------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("path", "value", "what"),
    [
        ("environment.kernel", "7.0.0", "kernel"),
        ("environment.machine.cpu_model", "EPYC", "CPU"),
        ("environment.machine.online_cpus", 96, "CPUs online"),
        ("environment.server.version", "19.0", "server version"),
        ("environment.server.settings", {"io_method": "sync"}, "setting io_method"),
        ("environment.server.settings", {"io_method": "worker", "jit": "off"}, "setting jit"),
        ("environment.tare.version", "0.2.0", "Tare"),
        ("environment.probe.tier", "taskstats", "probe"),
        ("results.0.plan.fingerprint", "ffff", "plan"),
        ("results.0.answer.hash", "ffff", "answer"),
        ("results.0.cache.reached", None, "cache"),
        ("command", "tare time --setup 'SET jit = off' -f q.sql", "--setup"),
        ("command", "tare time --prepare=!sync -f q.sql", "--prepare"),
    ],
)
def test_a_condition_that_differs_is_listed(path: str, value: object, what: str) -> None:
    old = weighed()
    document = found(old, changed(weighed(1, 2), path, value))
    assert [one.what for one in document.differences] == [what]
    assert f"≠ {what}: " in flat(document)


def test_an_empty_setting_is_told_from_one_that_is_not_there() -> None:
    empty = changed(weighed(1, 2), "environment.server.settings", {"io_method": "worker", "jit": ""})
    assert "≠ setting jit: – → (empty)" in flat(found(weighed(), empty))


def test_equal_conditions_are_stated() -> None:
    document = found(weighed(), weighed(1, 2))
    assert document.differences == []
    assert "no recorded condition differs" in flat(document)


@pytest.mark.parametrize(
    ("path", "value", "what"),
    [
        ("clocked", "execution", "only execution is clocked"),
        ("results.0.cache.asked", "cold", "the cache is warm in old.json and cold in new.json"),
    ],
)
def test_two_different_measures_are_refused(path: str, value: object, what: str) -> None:
    with pytest.raises(UsageError) as refused:
        found(weighed(), changed(weighed(), path, value))
    assert what in refused.value.what
    assert refused.value.next_step.startswith("weigh both with")


def several(*queries: Query, n: int = 8) -> RunResult:
    qes = [
        dataclasses.replace(one, index=len(queries) * one.index + place, query=place)
        for place in range(len(queries))
        for one in sample.noisy(n, 50 + place, 0.01, place)
    ]
    return sample.result(sorted(qes, key=lambda one: one.index), queries, Asked(n))


A, B, C = Query("a", "SELECT 1"), Query("b", "SELECT 2"), Query("c", "SELECT 3")


def test_queries_are_paired_by_name() -> None:
    document = found(several(A, B), several(C, B, A))
    assert [query.name for query in document.queries] == ["a", "b"]
    assert (document.only_old, document.only_new) == ([], ["c"])
    assert "only in new.json: c" in flat(document)


def test_queries_of_one_name_are_paired_in_their_order() -> None:
    document = found(several(A, A), several(A, A))
    assert [query.name for query in document.queries] == ["a", "a"]


def test_another_statement_under_the_same_name_is_refused() -> None:
    with pytest.raises(UsageError) as refused:
        found(several(A, B), several(A, Query("b", "SELECT 22")))
    assert "b: the statement in old.json is not the one in new.json" in refused.value.what
    assert "tare compare -f a.sql -f b.sql" in refused.value.next_step


def test_another_layout_of_the_same_statement_is_the_same() -> None:
    assert found(several(A), several(Query("a", "SELECT\n  1"))).differences == []


def test_results_without_a_query_in_common_are_refused() -> None:
    with pytest.raises(UsageError, match="no query of the same name"):
        found(several(A, B), several(C, Query("d", "SELECT 4")))


def test_two_queries_that_stand_alone_are_compared_and_their_texts_listed() -> None:
    document = found(several(A), several(B))
    assert {one.what for one in document.differences} == {"name", "statement"}


def test_a_query_without_a_time_is_not_compared_and_says_why() -> None:
    document = found(weighed(), sample.result([], asked=Asked(6, clocked=Clocked.TOTAL)))
    [query] = document.queries
    assert query.comparison is None
    assert lines(document)[0].startswith("✗ New.json is not compared with old.json: ")


def test_different_answers_come_first() -> None:
    document = found(weighed(), changed(weighed(1, 2), "results.0.answer.hash", "ffff"))
    assert document.queries[0].comparison is not None
    assert document.queries[0].comparison.answers_agree is False
    assert lines(document)[0].startswith("✗ ")
    assert "the answers of the two results are not the same" in flat(document)


def test_a_hash_of_floating_point_values_proves_no_difference() -> None:
    old, new = (
        changed(one, "results.0.answer.largest_difference", 1e-15) for one in (weighed(), weighed(1, 2))
    )
    document = found(old, changed(new, "results.0.answer.hash", "ffff"))
    assert document.queries[0].comparison is not None
    assert document.queries[0].comparison.answers_agree is None


def test_warnings_of_either_result_are_carried_over() -> None:
    document = found(weighed(), weighed(1, 2, error="the server went away"))
    assert "new.json ended early: the server went away" in flat(document)
    troubled = found(sample.troubled(), sample.troubled())
    assert {one.side for one in troubled.warnings} == {"old", "new"}
    assert "new runs missing" in flat(troubled)


# Twelve lines ------------------------------------------------------------------------------
texts = st.text(st.sampled_from("aZ 09éß中🙂\n\t") | st.characters(codec="utf-8"), max_size=200)
OLD, NEW = weighed(), weighed(1.1, 2)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    texts, texts, texts, st.dictionaries(texts, texts, max_size=30), st.none() | texts, st.integers(80, 200)
)
def test_two_results_of_one_query_take_at_most_twelve_lines(a, b, name, other, error, width) -> None:  # type: ignore[no-untyped-def]
    new = NEW.model_copy(
        update={
            "results": [NEW.results[0].model_copy(update={"name": name})],
            "error": error,
            "environment": NEW.environment.model_copy(
                update={"server": NEW.environment.server.model_copy(update={"settings": other})}
            ),
        }
    )
    document = compare_results(OLD, new, (a, b), None, "")
    for make, bound in ((short, 12), (story, 10**6)):
        shown = terminal.render(make(document), width).splitlines()
        assert len(shown) <= bound, "\n".join(shown)
        assert max(map(cell_len, shown)) <= width


def test_every_form_has_the_ratio_and_the_differences() -> None:
    document = found(OLD, changed(NEW, "environment.kernel", "7.0.0"))
    for text in (
        terminal.render(story(document)),
        markdown.render(story(document)),
        page.render(story(document)),
    ):
        assert "7.0.0" in text
        assert "drift of the machine" in " ".join(text.split())


# Files and schema ----------------------------------------------------------------------------
def test_the_document_keeps_to_it() -> None:
    for document in (found(OLD, NEW), found(sample.troubled(), sample.troubled())):
        written = json.loads(as_json(document))
        jsonschema.validate(written, json.loads(PUBLISHED.read_text()), cls=jsonschema.Draft202012Validator)
        assert ResultsComparison.model_validate(written) == document


def test_a_result_of_the_first_tare_of_this_schema_is_read_compared_and_shown() -> None:
    """The file has the fields that the schema had when it was first published."""
    first = read_result(Path(__file__).with_name("first-result.json"))
    assert (first.clocked, first.results[0].phases, first.results[0].measures.interrupt_ms) == (
        "execution",
        None,
        None,
    )
    document = found(first, sample.result(sample.noisy(6, 60, seed=2)))
    assert document.queries[0].comparison is not None
    assert document.queries[0].comparison.greater == "B"
    assert len(lines(document)) <= 12
    for make in (time_story.story, time_short.story):
        assert terminal.render(make(first))


def test_fields_of_a_newer_tare_are_left_out(tmp_path: Path) -> None:
    newer = json.loads(as_json(OLD))
    newer["weather"] = "fine"
    newer["results"][0]["measures"]["wall_ms"]["mode"] = 3
    newer["results"][0]["qes"][2]["mood"] = "good"
    (tmp_path / "new.json").write_text(json.dumps(newer))
    assert read_result(tmp_path / "new.json") == OLD


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (b"", "is not JSON"),
        (b"\xff\xfe", "is not UTF-8 text"),
        (b"[1]", "is not a result of `tare time`: it has no schema"),
        (b'{"schema": "tare-oltp/1"}', "its schema is tare-oltp/1, not tare-result/1"),
        (b'{"schema": "tare-result/1"}', "does not keep to tare-result/1: command"),
    ],
)
def test_a_file_that_is_no_result_is_refused(text: bytes, what: str, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_bytes(text)
    with pytest.raises(ForeignFile) as refused:
        read_result(tmp_path / "x.json")
    assert what in refused.value.what
    assert refused.value.exit_code == 2
