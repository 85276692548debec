"""The published schemas are those of the models, and what Tare writes keeps to its own."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from tare.protocol.stop import Stop
from tare.report.document import as_json
from tare.report.result import RunResult
from tare.report.schema import SCHEMAS, main, schema_text
from tests.unit.report import sample

FOLDER = Path(__file__).parents[3] / "schemas"
PUBLISHED = FOLDER / "result-v1.json"

RESULTS = {
    "warm": sample.warm,
    "troubled": sample.troubled,
    "compared": lambda: sample.compared(until=Stop(0.02)),
    "undecided": lambda: sample.compared(1.03, margin=0.05),
    "nothing measured": lambda: sample.result([], error="server lost"),
}


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_published_schema_is_up_to_date_and_valid(name: str) -> None:
    text = schema_text(name)
    assert (FOLDER / f"{name}.json").read_text() == text, "run: python -m tare.report.schema"
    jsonschema.Draft202012Validator.check_schema(json.loads(text))


def test_each_published_file_has_its_model() -> None:
    assert {file.stem for file in FOLDER.iterdir()} == SCHEMAS.keys()


def test_check_compares_and_changes_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "new"
    assert main(["--check", str(folder)]) == 1
    assert not folder.exists()
    assert main([str(folder)]) == 0
    assert main(["--check", str(folder)]) == 0
    file = folder / "experiment-v1.json"
    file.write_text(file.read_text().replace("integer", "string"))
    other = file.read_text()
    assert main(["--check", str(folder)]) == 1
    assert file.read_text() == other


@pytest.mark.parametrize("make", RESULTS.values(), ids=RESULTS.keys())
def test_every_result_keeps_to_the_schema(make) -> None:  # type: ignore[no-untyped-def]
    document = json.loads(as_json(make()))
    jsonschema.validate(document, json.loads(PUBLISHED.read_text()), cls=jsonschema.Draft202012Validator)
    assert document["schema"] == "tare-result/1"


@pytest.mark.parametrize("make", RESULTS.values(), ids=RESULTS.keys())
def test_what_is_written_reads_back_as_the_same_result(make) -> None:  # type: ignore[no-untyped-def]
    result = make()
    assert RunResult.model_validate_json(as_json(result)) == result


def test_a_misspelt_field_is_refused() -> None:
    document = json.loads(as_json(sample.warm()))
    document["results"][0]["measures"]["wal_ms"] = document["results"][0]["measures"].pop("wall_ms")
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, json.loads(PUBLISHED.read_text()))


def test_a_result_of_an_older_tare_has_another_word_for_undecided() -> None:
    document = json.loads(as_json(sample.compared(1.0)))
    assert document["comparison"]["verdict"] == "undecided"
    for holder in (document["comparison"], *document["comparison"]["measures"].values()):
        holder["verdict"] = "not distinguished"
    read = RunResult.model_validate(document)
    assert read.comparison is not None
    assert {read.comparison.verdict, *(one.verdict for one in read.comparison.measures.values())} == {
        "undecided"
    }
