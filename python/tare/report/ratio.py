"""A ratio over blocks as documents hold it."""

from __future__ import annotations

from tare.protocol.comparison.blocks import RatioEstimate
from tare.report.document import Document


class Ratio(Document):
    """Centre over blocks of a ratio, with its 95% interval."""

    value: float
    low: float
    high: float
    blocks: int


def as_ratio(found: RatioEstimate | None) -> Ratio | None:
    if found is None:
        return None
    return Ratio(value=found.ratio, low=found.low, high=found.high, blocks=found.blocks)
