"""The published schema of a specification is the models', and takes what Tare takes."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import jsonschema
import pytest

from tare.experiment.read import read_specification
from tare.experiment.reserved import is_reserved
from tare.experiment.scenario.registry import scenarios
from tare.experiment.template import template
from tare.report.schema import schema_text
from tests.unit.experiment.specifications import GOOD

PUBLISHED = Path(__file__).parents[3] / "schemas" / "experiment-v1.json"


def test_the_published_schema_is_up_to_date() -> None:
    assert PUBLISHED.read_text() == schema_text("experiment-v1"), "run: python -m tare.report.schema"


@pytest.mark.parametrize("name", sorted(scenarios()))
def test_each_scenarios_example_keeps_to_it_and_can_be_read(name: str) -> None:
    text = template(scenarios()[name])
    jsonschema.validate(
        tomllib.loads(text), json.loads(schema_text("experiment-v1")), cls=jsonschema.Draft202012Validator
    )
    assert read_specification(text)[0].scenario == name


def test_a_misspelt_key_is_refused() -> None:
    document = tomllib.loads(GOOD.replace("cardinality = 500", "cardinality = 500\nsed = 1"))
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, json.loads(schema_text("experiment-v1")))


def test_words_of_sql_are_known_in_any_case_and_usual_names_are_free() -> None:
    assert all(is_reserved(word) for word in ("select", "Order", "GROUP", "rank", "asof"))
    assert not any(is_reserved(word) for word in ("ft_HT1", "id1", "name", "value", "orders"))
