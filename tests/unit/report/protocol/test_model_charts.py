"""The structural graph and the correlation grid: all of the model, and legible."""

from __future__ import annotations

import copy
import itertools
import re
from collections.abc import Mapping
from typing import Any

import pytest
import vl_convert

from tare.protocol.model.result import ModelResult
from tare.report.charts.chart import Chart
from tare.report.protocol.charts import correlations, graph
from tests.unit.report.protocol.paper_model import paper, silenced

MODELS = pytest.mark.parametrize("name", ["ttp2", "ttp1"])
GAP = 2.0  # px between labels


def _rows(chart: Chart, of: str) -> list[Mapping[str, Any]]:
    return list(chart.data[f"{chart.name}-{of}"])


def _svg(chart: Chart) -> str:
    spec = copy.deepcopy(chart.spec) | {"datasets": {name: list(rows) for name, rows in chart.data.items()}}
    return vl_convert.vegalite_to_svg(spec)


def _apart(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return bool(
        one["right"] + GAP <= other["left"]
        or other["right"] + GAP <= one["left"]
        or one["bottom"] + GAP <= other["top"]
        or other["bottom"] + GAP <= one["top"]
    )


def _negative(result: ModelResult) -> ModelResult:
    """Every label as wide as it can be."""
    from tests.unit.report.protocol.paper_model import observed

    found = tuple(observed(one.relationship, one.dbms, -0.4) for one in result.observed)
    return ModelResult(result.model, result.title, result.citation, result.qes, result.dbmses, found)


@MODELS
def test_every_relationship_is_drawn_once_over_the_three_parts(name: str) -> None:
    result = paper(name)
    drawn = [(row["name"], row["dbms"]) for chart in graph.charts(result) for row in _rows(chart, "arcs")]
    assert len(drawn) == len(set(drawn)) == len(result.observed)
    assert {dbms for _, dbms in drawn} == {"all DBMSes", "mariadb", "postgresql"}


def test_ttp2_has_27_arcs_at_query_processes_and_23_at_each_of_the_others() -> None:
    query, utility, daemon = graph.charts(paper(dbmses=("postgresql",)))
    assert [len(_rows(chart, "arcs")) for chart in (query, utility, daemon)] == [27, 23, 23]
    assert [len(_rows(chart, "nodes")) for chart in (query, utility, daemon)] == [11, 11, 11]


@MODELS
def test_no_label_lies_on_another_or_on_a_node(name: str) -> None:
    for chart in graph.charts(_negative(paper(name, ("postgresql",)))):
        labels, nodes = _rows(chart, "arcs"), _rows(chart, "nodes")
        for one, other in itertools.combinations([*labels, *nodes], 2):
            assert _apart(one, other), (chart.name, one.get("text", one.get("label")), other)


@MODELS
def test_no_arc_runs_through_a_node_and_all_stay_in_the_picture(name: str) -> None:
    for chart in graph.charts(paper(name, ("postgresql",))):
        wide, high = chart.spec["width"], chart.spec["height"]
        for arc in _rows(chart, "arcs"):
            for step in range(101):
                x = arc["x"] + step / 100 * (arc["x2"] - arc["x"])
                y = arc["y"] + step / 100 * (arc["y2"] - arc["y"])
                for node in _rows(chart, "nodes"):
                    inside = node["left"] < x < node["right"] and node["top"] < y < node["bottom"]
                    assert not inside, (arc["name"], node["label"])
        for box in (*_rows(chart, "arcs"), *_rows(chart, "nodes")):
            assert 0 <= box["left"] < box["right"] <= wide
            assert 0 <= box["top"] < box["bottom"] <= high


@MODELS
def test_vega_draws_what_the_specification_says(name: str) -> None:
    result = paper(name)
    for chart in (*graph.charts(result), correlations.chart(result)):
        svg = _svg(chart)
        shown = set(re.findall(r"<text[^>]*>([^<]*)</text>", svg))
        field = "found" if chart.name.startswith("correlations") else "text"
        rows = next(iter(chart.data.values()))
        pooled = {row[field] for row in rows if row["dbms"] == "all DBMSes"}
        assert pooled <= shown, chart.name


@MODELS
def test_with_one_dbms_there_is_nothing_to_choose(name: str) -> None:
    result = paper(name, ("postgresql",))
    for chart in (*graph.charts(result), correlations.chart(result)):
        assert not chart.spec["params"]
        assert {row["dbms"] for row in next(iter(chart.data.values()))} == {"postgresql"}
        assert "<svg" in _svg(chart)


def test_a_cell_without_r_has_its_sign() -> None:
    result = silenced(paper(dbmses=("postgresql",)), "overall_softirq")
    grid = {row["name"]: row for row in next(iter(correlations.chart(result).data.values()))}
    assert (grid["XIIa"]["found"], grid["If"]["found"]) == ("=", "✓ 0.920")
    arcs = {row["name"]: row for row in _rows(graph.charts(result)[0], "arcs")}
    assert arcs["XIIa"]["text"] == "XIIa ="


def test_the_colour_of_an_arc_is_its_verdicts() -> None:
    from tare.report.charts.theme import RED

    query, utility, _ = (_svg(one) for one in graph.charts(paper(dbmses=("postgresql",))))
    assert utility.count(f'stroke="{RED}"') == query.count(f'stroke="{RED}"') + 1  # VIIb
