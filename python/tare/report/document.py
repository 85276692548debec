"""The document of a report: base of its models, and its text as JSON, which its schema in `schemas/` describes."""

from __future__ import annotations

import json
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Bounds = Annotated[tuple[float, float], Field(description="[low, high]")]


class Document(BaseModel):
    model_config = ConfigDict(
        extra="forbid", frozen=True, allow_inf_nan=False, populate_by_name=True, serialize_by_alias=True
    )


def as_json(document: BaseModel) -> str:
    """Indented; lists of numbers on one line each."""
    return laid_out(document.model_dump(mode="json", by_alias=True)) + "\n"


def laid_out(value: object, indent: str = "") -> str:
    """JSON, indented by `indent` and more; lists of plain values on one line each."""
    deeper = indent + "  "
    if isinstance(value, dict) and value:
        lines = (
            f"{deeper}{json.dumps(key, ensure_ascii=False)}: {laid_out(one, deeper)}"
            for key, one in value.items()
        )
        return "{\n" + ",\n".join(lines) + f"\n{indent}}}"
    if isinstance(value, list) and any(isinstance(one, (dict, list)) for one in value):
        return "[\n" + ",\n".join(deeper + laid_out(one, deeper) for one in value) + f"\n{indent}]"
    return json.dumps(value, ensure_ascii=False)
