"""Formats for continuous integration: each as its consumer reads it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from jsonschema import Draft7Validator

from tare.cli.output import parse_formats
from tare.errors import UsageError
from tare.measure.query import Query
from tare.report.ci import github_summary
from tare.report.ci.formats import FORMATS
from tare.report.result import RunResult
from tests.unit.report import sample

BMF = {  # bencher.dev/bmf.json
    "type": "object",
    "additionalProperties": {
        "type": "object",
        "additionalProperties": {
            "type": "object",
            "properties": {name: {"type": "number"} for name in ("value", "lower_value", "upper_value")},
            "required": ["value"],
            "additionalProperties": False,
        },
    },
}
CUSTOM = {  # entries of github-action-benchmark's customSmallerIsBetter
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "unit": {"type": "string"},
            "value": {"type": "number"},
            "range": {"type": "string"},
            "extra": {"type": "string"},
        },
        "required": ["name", "unit", "value"],
        "additionalProperties": False,
    },
}


@pytest.mark.parametrize("make", [sample.warm, sample.troubled, sample.compared])
@pytest.mark.parametrize(("name", "schema"), [("bmf", BMF), ("gh-benchmark", CUSTOM)])
def test_json_is_what_its_consumer_takes(make, name: str, schema: dict[str, object]) -> None:  # type: ignore[no-untyped-def]
    document = json.loads(FORMATS[name](make()))
    Draft7Validator(schema).validate(document)
    assert document


def test_bencher_gets_nanoseconds_with_their_interval_and_the_ratio() -> None:
    result = sample.compared(1.5)
    document = json.loads(FORMATS["bmf"](result))
    cpu = result.results[0].resources.cpu_ms
    assert cpu.median is not None
    assert cpu.ci95 is not None
    metric = document["sum against count [A]"]["cpu"]
    assert metric["value"] == pytest.approx(cpu.median * 1e6)
    assert (metric["lower_value"], metric["upper_value"]) == pytest.approx([end * 1e6 for end in cpu.ci95])
    assert document["sum against count"]["b-over-a"]["value"] == pytest.approx(1.5, rel=0.05)


def test_of_a_gate_the_second_copy_of_a_is_no_benchmark() -> None:
    result = sample.compared()
    again = result.results[0].model_copy(update={"name": "count (again)"})
    with_again = result.model_copy(update={"results": [*result.results, again]})
    assert FORMATS["bmf"](with_again) == FORMATS["bmf"](result)


@pytest.mark.parametrize("make", [sample.warm, sample.troubled, sample.compared])
def test_openmetrics_is_read_by_its_parser(make) -> None:  # type: ignore[no-untyped-def]
    from prometheus_client.openmetrics.parser import text_string_to_metric_families

    families = {
        family.name: family for family in text_string_to_metric_families(FORMATS["openmetrics"](make()))
    }
    assert families["tare_latency_seconds"].unit == "seconds"
    assert {one.labels["figure"] for one in families["tare_latency_seconds"].samples} >= {"median"}


def test_openmetrics_keeps_a_hostile_name_in_its_label() -> None:
    from prometheus_client.openmetrics.parser import text_string_to_metric_families

    name = 'a"b\\c\nd{e="f"} 1'
    result = sample.result(sample.noisy(4), [Query(name, "SELECT 1")])
    families = text_string_to_metric_families(FORMATS["openmetrics"](result))
    assert {one.labels["query"] for family in families for one in family.samples} == {name}


LINE = re.compile(r"BenchmarkQuery(/[a-z]+=[^\s/]+)+ 1( [\d.e+-]+ [A-Za-z-]+/op)+")


@pytest.mark.parametrize("make", [sample.warm, sample.troubled, sample.compared])
def test_benchstat_gets_a_line_for_each_execution(make) -> None:  # type: ignore[no-untyped-def]
    result: RunResult = make()
    lines = FORMATS["benchstat"](result).splitlines()
    found = [line for line in lines if line.startswith("Benchmark")]
    assert all(LINE.fullmatch(line) for line in found)
    assert len(found) == sum(len(query.measures.wall_ms.samples) for query in result.results)


def test_benchstat_itself_sets_b_against_a(tmp_path: Path) -> None:
    benchstat = shutil.which("benchstat")
    if benchstat is None:
        pytest.skip("benchstat is absent (go install golang.org/x/perf/cmd/benchstat@latest)")
    file = tmp_path / "runs.txt"
    file.write_text(FORMATS["benchstat"](sample.compared(1.5)))
    said = subprocess.run([benchstat, "-col", "/side", file], capture_output=True, text=True, check=True)
    assert re.search(r"Query/query=sum_against_count .*\+\d\d\.\d+% \(p=0\.000 n=12\)", said.stdout)


def test_a_summary_begins_with_the_answer_and_has_the_worst_query_first() -> None:
    result = sample.compared(1.5)
    (pair,) = [result.comparison]
    assert pair is not None
    slower = pair.model_copy(update={"a": "slow [A]", "b": "slow [B]"})
    faster = sample.compared(0.6).comparison
    assert faster is not None
    faster = faster.model_copy(update={"a": "fast [A]", "b": "fast [B]"})
    queries = [
        query.model_copy(update={"name": name})
        for query, name in zip(
            result.results * 2, ("fast [A]", "fast [B]", "slow [A]", "slow [B]"), strict=True
        )
    ]
    whole = result.model_copy(
        update={"comparison": None, "comparisons": [faster, slower], "results": queries}
    )
    text = FORMATS["github-summary"](whole)
    assert "2 of 2 queries are different" in text
    assert text.index("| slow |") < text.index("| fast |")


def test_a_summary_of_many_queries_says_how_many_it_leaves_out() -> None:
    result = sample.warm()
    name = "q" * 900
    many = result.model_copy(
        update={
            "results": [
                result.results[0].model_copy(update={"name": f"{name}{number}"}) for number in range(200)
            ]
        }
    )
    text = FORMATS["github-summary"](many)
    assert len(text.encode()) <= github_summary.MOST_BYTES
    left_out = int(re.findall(r"and (\d+) queries more", text)[0])
    assert left_out + len(re.findall(r"^\| q+\d+ \|", text, re.MULTILINE)) == 200


def test_formats_go_to_files_or_to_standard_output() -> None:
    assert parse_formats(["bmf=b.json", "github-summary"]) == {"bmf": "b.json", "github-summary": "-"}
    with pytest.raises(UsageError, match="no such format"):
        parse_formats(["bmg"])
