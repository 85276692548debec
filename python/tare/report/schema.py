"""The published JSON schema of the result document: `python -m tare.report.schema` writes it anew,
and `--check` compares."""

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


def publish(arguments: list[str], text: str, default: Path) -> int:
    """`[FILE]` writes the schema; `--check [FILE]` says whether the file is it: 0, or 1 if not."""
    check = arguments[:1] == ["--check"]
    rest = arguments[1:] if check else arguments
    target = Path(rest[0]) if rest else default
    if check:
        if target.is_file() and target.read_text() == text:
            return 0
        print(f"{target} is not the schema that the models have: write it anew", file=sys.stderr)
        return 1
    target.parent.mkdir(parents=True, exist_ok=True)
    write(target, text)
    return 0


def main(arguments: list[str]) -> int:
    return publish(arguments, schema_text(), Path("schemas/result-v1.json"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
