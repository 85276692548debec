"""Base class of a specification's tables, and the type of their names."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Name = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]{0,59}$")]


class SpecModel(BaseModel):
    """Table of a specification: unknown keys are mistakes."""

    model_config = ConfigDict(extra="forbid", frozen=True)
