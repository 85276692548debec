"""The published JSON schema of the result document: `python -m tare.report.schema` writes it anew."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tare.report.atomic import write
from tare.report.result import RunResult


def schema_text() -> str:
    """The schema as it is published."""
    schema = RunResult.model_json_schema(by_alias=True, mode="serialization")
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:tare:result-v1",
        "title": "Tare result, version 1",
    }
    schema.pop("title", None)
    return json.dumps({**head, **schema}, indent=2, ensure_ascii=False) + "\n"


def main(arguments: list[str]) -> None:
    target = Path(arguments[0]) if arguments else Path("schemas/result-v1.json")
    target.parent.mkdir(parents=True, exist_ok=True)
    write(target, schema_text())


if __name__ == "__main__":
    main(sys.argv[1:])
