"""The result document as JSON, as `schemas/result-v1.json` describes it."""

from __future__ import annotations

import json

from tare.report.result import RunResult


def render(result: RunResult) -> str:
    """Indented; lists of numbers on one line each."""
    return _laid_out(result.model_dump(mode="json", by_alias=True), "") + "\n"


def _laid_out(value: object, indent: str) -> str:
    deeper = indent + "  "
    if isinstance(value, dict) and value:
        lines = (
            f"{deeper}{json.dumps(key, ensure_ascii=False)}: {_laid_out(one, deeper)}"
            for key, one in value.items()
        )
        return "{\n" + ",\n".join(lines) + f"\n{indent}}}"
    if isinstance(value, list) and any(isinstance(one, (dict, list)) for one in value):
        return "[\n" + ",\n".join(deeper + _laid_out(one, deeper) for one in value) + f"\n{indent}]"
    return json.dumps(value, ensure_ascii=False)
