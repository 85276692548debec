"""Base of all documents that Tare writes as JSON."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Document(BaseModel):
    model_config = ConfigDict(
        extra="forbid", frozen=True, allow_inf_nan=False, populate_by_name=True, serialize_by_alias=True
    )
