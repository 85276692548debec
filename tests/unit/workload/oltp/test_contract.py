"""Both sides of the driver's contract agree, field by field: its request, its events, and the counts everywhere."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from tare import generated
from tare.lab.schema_oltp import COUNTED, DISTRIBUTIONS, oltp_second, oltp_type
from tare.report.oltp import document, words
from tare.workload.oltp import contract, samples
from tare.workload.oltp.counts import COUNTS, CountFields
from tare.workload.oltp.distribution import Distribution
from tare.workload.oltp.events import Event, Summary
from tare.workload.oltp.request import Request, Run
from tare.workload.oltp.run import Asked

Schema = Mapping[str, Any]

RUST = contract.contract()
EVENTS: Schema = TypeAdapter(Event).json_schema(mode="validation")
LATER = ("stalls", "round_trips")
"""Fields that are null only in labs of before they were there."""
for _schema in EVENTS["$defs"].values():
    for _name in _schema["properties"].keys() & LATER:
        _field = _schema["properties"][_name]
        _field.update(_field.pop("anyOf")[0])
REQUEST: Schema = Request.model_json_schema(mode="serialization")


def shape(schema: Schema, definitions: Schema) -> Any:
    """What of a JSON schema must be alike on both sides: fields, their types, their alternatives."""
    if "$ref" in schema:
        target = shape(definitions[schema["$ref"].rpartition("/")[2]], definitions)
        tag = {"type": "object", "properties": schema["properties"]} if "properties" in schema else None
        return target if tag is None else {**target, **shape(tag, definitions)}
    if "const" in schema:
        return f"= {schema['const']}"
    if "enum" in schema:
        return " | ".join(sorted(schema["enum"]))
    if alternatives := schema.get("oneOf") or schema.get("anyOf"):
        shapes = [shape(one, definitions) for one in alternatives]
        if all(isinstance(one, str) for one in shapes):
            return " | ".join(sorted(one.removeprefix("= ") for one in shapes))
        if "null" in shapes:
            (value,) = (one for one in shapes if one != "null")
            return {"or null": value}
        tag = next(name for name, value in shapes[0].items() if str(value).startswith("= "))
        return {one[tag].removeprefix("= "): one for one in shapes}
    kind = schema["type"]
    if isinstance(kind, list):
        return " | ".join(sorted(kind))
    if kind == "array" and "prefixItems" in schema:
        return [shape(one, definitions) for one in schema["prefixItems"]]
    if kind == "array":
        return [shape(schema["items"], definitions), "…"]
    if "properties" in schema:
        return {name: shape(one, definitions) for name, one in schema["properties"].items()}
    if isinstance(schema.get("additionalProperties"), dict):
        return {"*": shape(schema["additionalProperties"], definitions)}
    return {} if kind == "object" else kind


def differences(rust: Any, python: Any, path: str = "") -> Iterator[str]:
    if isinstance(rust, dict) and isinstance(python, dict):
        for name in sorted(rust.keys() | python.keys()):
            if name not in python or name not in rust:
                yield f"{path}.{name} is missing in {'Python' if name in rust else 'Rust'}"
            else:
                yield from differences(rust[name], python[name], f"{path}.{name}")
    elif isinstance(rust, list) and isinstance(python, list) and len(rust) == len(python):
        for one, other in zip(rust, python, strict=True):
            yield from differences(one, other, f"{path}[]")
    elif rust != python:
        yield f"{path} is {rust} in Rust and {python} in Python"


def compared(rust: Schema, python: Schema) -> list[str]:
    return list(differences(*(shape(one, one.get("$defs", {})) for one in (rust, python))))


def test_python_reads_every_event_that_the_driver_writes_with_every_field() -> None:
    assert compared(RUST["events"], EVENTS) == []


def test_python_writes_every_field_of_a_request_that_the_driver_reads() -> None:
    assert compared(RUST["request"], REQUEST) == []


def test_no_field_of_an_event_has_a_default_that_would_hide_its_absence() -> None:
    missing = [
        f"{name}.{field}"
        for name, schema in EVENTS["$defs"].items()
        if name != "Distribution"  # an empty one is an empty sum
        for field in schema["properties"].keys() - schema.get("required", ())
        if field not in ("event", "encryption", *LATER)
    ]
    assert missing == []


Break = Callable[[dict[str, Any]], object]


@pytest.mark.parametrize(
    ("schema", "change", "difference"),
    [
        (
            "events",
            lambda d: d["Second"]["properties"].pop("backlog"),
            ".second.backlog is missing in Rust",
        ),
        ("events", lambda d: d["Counts"]["properties"].pop("shed"), "counts.shed is missing in Rust"),
        (
            "events",
            lambda d: d["Summary"]["properties"].update(p90={"type": "integer"}),
            "p90 is missing in Py",
        ),
        (
            "events",
            lambda d: d["Outcome"]["properties"]["rate"].update(type="integer"),
            "rate is integer in R",
        ),
        ("request", lambda d: d["Phase"]["properties"].pop("rate"), "rate is missing in Rust"),
    ],
)
def test_a_field_that_one_side_lacks_is_named(schema: str, change: Break, difference: str) -> None:
    rust = json.loads(json.dumps(RUST[schema]))
    change(rust["$defs"])
    found = compared(rust, EVENTS if schema == "events" else REQUEST)
    assert found
    assert difference in found[0]


# Settings -------------------------------------------------------------------------------
def test_every_setting_of_a_run_is_recorded_and_reported() -> None:
    elsewhere = {
        "do",
        "norm",
        "samples",
    }  # the action's name; in each distribution; the name of a temporary file
    settings = Run.model_fields.keys() - elsewhere
    recorded = {field.name for field in fields(Asked)}
    assert recorded == settings | {"seed", "options", "protocol", "trace", "step", "merged_from"}
    assert document.Asked.model_fields.keys() == recorded


# Counts ---------------------------------------------------------------------------------
def test_the_generated_counts_are_those_of_the_table_in_rust() -> None:
    assert contract.TARGET.read_text() == contract.counts_text(contract.contract()["counts"])


def test_each_count_is_a_field_a_column_and_a_name_in_reports() -> None:
    names = [count.name for count in COUNTS]
    assert list(CountFields.model_fields) == names
    assert list(document.Counts.model_fields) == names
    for table in COUNTED:
        assert [column.name for column in table.columns if column.name in names] == names
    assert {name for name in words.COUNTS if name != "retried"} == set(names)
    assert len(samples.ENDS) == sum(count.end is not None for count in COUNTS)


def test_a_generated_file_that_is_edited_or_stale_fails_the_check(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "counts.py"
    texts = {file: contract.counts_text(contract.contract()["counts"])}
    assert generated.main(texts, []) == generated.main(texts, ["--check"]) == 0
    file.write_text(file.read_text().replace("    shed: int\n", ""))
    assert generated.main(texts, ["--check"]) == 1
    assert "make generated" in capsys.readouterr().err


# Distributions --------------------------------------------------------------------------
def test_each_field_of_a_distribution_is_a_column() -> None:
    for name in DISTRIBUTIONS:
        assert {f"{name}_{field}" for field in Distribution.model_fields} <= set(oltp_type.columns.keys())
    for name in ("response", "service"):
        assert {f"{name}_{field}" for field in Summary.model_fields} <= set(oltp_second.columns.keys())
    assert document.Quick.model_fields.keys() == Summary.model_fields.keys()
