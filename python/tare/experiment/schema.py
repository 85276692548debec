"""The published JSON schema of a specification: `python -m tare.experiment.schema [--check FILE]`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tare.experiment.specification import Specification
from tare.report.schema import publish


def schema_text() -> str:
    """The schema as it is published. A TOML editor that knows JSON schemas can use it."""
    schema = Specification.model_json_schema(mode="validation")
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:tare:experiment-v1",
        "title": "Tare experiment, version 1",
    }
    schema.pop("title", None)
    return json.dumps({**head, **schema}, indent=2, ensure_ascii=False) + "\n"


def main(arguments: list[str]) -> int:
    return publish(arguments, schema_text(), Path("schemas/experiment-v1.json"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
