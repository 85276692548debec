"""Bases of the records that are written down and read again."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """An unknown key is a mistake."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class TolerantRecord(BaseModel):
    """An unknown key is ignored: another version, or the driver, may tell more."""

    model_config = ConfigDict(frozen=True, extra="ignore")
