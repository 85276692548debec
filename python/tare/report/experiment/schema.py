"""The published JSON schema of the report: `python -m tare.report.experiment.schema` writes it anew."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tare.report.atomic import write
from tare.report.experiment.document import Report


def schema_text() -> str:
    """The schema as it is published."""
    schema = Report.model_json_schema(by_alias=True, mode="serialization")
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:tare:report-v1",
        "title": "Tare report of an experiment, version 1",
    }
    schema.pop("title", None)
    return json.dumps({**head, **schema}, indent=2, ensure_ascii=False) + "\n"


def main(arguments: list[str]) -> None:
    target = Path(arguments[0]) if arguments else Path("schemas/report-v1.json")
    target.parent.mkdir(parents=True, exist_ok=True)
    write(target, schema_text())


if __name__ == "__main__":
    main(sys.argv[1:])
