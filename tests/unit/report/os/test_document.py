"""The document: its published schema, the way there and back, and the paper's values in it."""

from __future__ import annotations

import json

import jsonschema
import pytest

from tare.report.document import as_json
from tare.report.os.build import build_report
from tare.report.os.document import OsReport
from tare.report.os.paper import TABLE_1, TABLE_2, TABLE_3
from tare.report.schema import schema_text
from tests.unit.report.os.sample import observation, untraced, window

PAIRS = [one for number in range(2) for one in (window(number=number), untraced(number=number))]
REPORTS = {
    "one execution": observation(),
    "pairs": observation(*PAIRS),
    "lost": observation(window(lost={"threads": 1})),
    "nothing": observation().model_copy(update={"windows": ()}),
}


@pytest.mark.parametrize("given", REPORTS.values(), ids=REPORTS.keys())
def test_every_document_keeps_to_the_schema_and_reads_back_the_same(given) -> None:  # type: ignore[no-untyped-def]
    report = build_report(given, "0.1.0", "2026-11-29T13:00:00+00:00")
    text = as_json(report)
    jsonschema.validate(
        json.loads(text), json.loads(schema_text("os-v1")), cls=jsonschema.Draft202012Validator
    )
    assert OsReport.model_validate_json(text) == report
    assert report.observation == given, "whole"


# The paper -------------------------------------------------------------------------------
def test_the_paper_has_twenty_queries_in_each_table() -> None:
    names = {f"q{number}" for number in range(1, 21)}
    assert TABLE_1.keys() == TABLE_2.keys() == TABLE_3.keys() == names


def test_the_papers_table_2_is_its_system_time_by_its_share_of_pread() -> None:
    for name, row in TABLE_1.items():
        (pread,) = (call.share for call in row.calls if call.name == "pread")
        assert row.system * pread == pytest.approx(TABLE_2[name], abs=0.0011), name


def test_shares_of_calls_are_in_order_and_within_the_whole() -> None:
    for row in TABLE_1.values():
        shares = [call.share for call in row.calls]
        assert shares == sorted(shares, reverse=True), row.query
        assert sum(shares) < 1, row.query
