"""Reads a result that `tare time --json` wrote, also with an older or a newer Tare of the same schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from tare.errors import ForeignFile
from tare.report.result import SCHEMA_NAME, RunResult

_NEXT = "give two files that `tare time … --json FILE` wrote"


def read_result(path: Path) -> RunResult:
    """Return the result in a file. Fields that it lacks have their defaults; fields of a newer Tare are left out.

    Raises ForeignFile."""
    try:
        document = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise ForeignFile(f"{path} cannot be read: {error.strerror}", _NEXT) from error
    except UnicodeDecodeError as error:
        raise ForeignFile(f"{path} is not UTF-8 text: {error.reason}", _NEXT) from error
    except ValueError as error:
        raise ForeignFile(f"{path} is not JSON: {error}", _NEXT) from error
    schema = document.get("schema") if isinstance(document, dict) else None
    if schema != SCHEMA_NAME:
        found = f"its schema is {schema}" if isinstance(schema, str) else "it has no schema"
        raise ForeignFile(f"{path} is not a result of `tare time`: {found}, not {SCHEMA_NAME}", _NEXT)
    try:
        return _validated(document)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise ForeignFile(
            f"{path} does not keep to {SCHEMA_NAME}: {where}: {first['msg']}",
            "weigh again with `tare time --json`; if a newer Tare wrote it, compare with that one",
        ) from error


def _validated(document: Any) -> RunResult:
    try:
        return RunResult.model_validate(document)
    except ValidationError as error:
        unknown = [one["loc"] for one in error.errors() if one["type"] == "extra_forbidden"]
        if len(unknown) < error.error_count():
            raise
    for *path, name in unknown:
        holder = document
        for step in path:
            holder = holder[step]
        del holder[name]
    return RunResult.model_validate(document)
