"""Published JSON schemas: made of a pydantic model, written anew, or compared with the file."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Literal

from pydantic import BaseModel

from tare.files import write


def schema_text(
    model: type[BaseModel], name: str, title: str, mode: Literal["validation", "serialization"]
) -> str:
    schema = model.model_json_schema(by_alias=True, mode=mode)
    schema.pop("title", None)
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:tare:{name}",
        "title": title,
    }
    return json.dumps({**head, **schema}, indent=2, ensure_ascii=False) + "\n"


def publish(arguments: list[str], text: str, default: Path) -> int:
    """Writes the schema, or with `--check` says whether the file is it: 0, or 1 if not."""
    parser = argparse.ArgumentParser(description="Write a published schema, or compare it with its file.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 if the file differs")
    parser.add_argument("file", nargs="?", type=Path, default=default, help="default: %(default)s")
    asked = parser.parse_args(arguments)
    target: Path = asked.file
    if asked.check:
        if target.is_file() and target.read_text() == text:
            return 0
        print(f"{target} is not the schema that the models have: write it anew", file=sys.stderr)
        return 1
    target.parent.mkdir(parents=True, exist_ok=True)
    write(target, text)
    return 0
