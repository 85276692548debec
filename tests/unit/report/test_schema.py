"""The published schema is the models', and what Tare writes keeps to it."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from tare.generated import main
from tare.protocol.stop import Stop
from tare.report import json as json_report
from tare.report.result import RunResult
from tare.report.schemas import SCHEMAS, schema_text
from tests.unit.report import sample

PUBLISHED = Path(__file__).parents[3] / "schemas" / "result-v1.json"

RESULTS = {
    "warm": sample.warm,
    "troubled": sample.troubled,
    "compared": lambda: sample.compared(until=Stop(0.02)),
    "nothing measured": lambda: sample.result([], error="server lost"),
}


def test_the_published_schemas_are_up_to_date() -> None:
    published = {file.stem: file.read_text() for file in PUBLISHED.parent.glob("*.json")}
    assert published == {name: schema_text(name) for name in SCHEMAS}


@pytest.mark.parametrize("name", SCHEMAS)
def test_each_schema_is_itself_valid(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(json.loads(schema_text(name)))


@pytest.mark.parametrize("make", RESULTS.values(), ids=RESULTS.keys())
def test_every_result_keeps_to_the_schema(make) -> None:  # type: ignore[no-untyped-def]
    document = json.loads(json_report.render(make()))
    jsonschema.validate(document, json.loads(PUBLISHED.read_text()), cls=jsonschema.Draft202012Validator)
    assert document["schema"] == "tare-result/1"


@pytest.mark.parametrize("make", RESULTS.values(), ids=RESULTS.keys())
def test_what_is_written_reads_back_as_the_same_result(make) -> None:  # type: ignore[no-untyped-def]
    result = make()
    assert RunResult.model_validate_json(json_report.render(result)) == result


def test_a_misspelt_field_is_refused() -> None:
    document = json.loads(json_report.render(sample.warm()))
    document["results"][0]["measures"]["wal_ms"] = document["results"][0]["measures"].pop("wall_ms")
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, json.loads(PUBLISHED.read_text()))


def test_check_compares_and_changes_nothing(tmp_path: Path) -> None:
    file = tmp_path / "new" / "oltp-v1.json"
    texts = {file: schema_text("oltp-v1")}
    assert main(texts, ["--check"]) == 1
    assert main(texts, []) == main(texts, ["--check"]) == 0
    other = file.read_text().replace("integer", "string")
    file.write_text(other)
    assert main(texts, ["--check"]) == 1
    assert file.read_text() == other
