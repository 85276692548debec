"""A ratio over blocks as documents hold it."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from tare.protocol.comparison.blocks import RatioEstimate


class Ratio(BaseModel):
    """Centre over blocks of a ratio, with its 95% interval."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    value: float
    low: float
    high: float
    blocks: int


def as_ratio(found: RatioEstimate | None) -> Ratio | None:
    if found is None:
        return None
    return Ratio(value=found.ratio, low=found.low, high=found.high, blocks=found.blocks)
