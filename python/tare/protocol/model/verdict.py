"""Verdict of an observed correlation on a predicted one (TTPv2 §5.3, §6.2)."""

from __future__ import annotations

from tare.protocol.model.result import Level, Verdict

HIGH_FROM, MEDIUM_FROM = 0.7, 0.3
SIGNIFICANT_BELOW = 0.05

_RANKS = (Level.LOW, Level.MEDIUM, Level.HIGH)


def level(r: float) -> Level:
    """Return the level of a positive r; a negative one is below every level's prediction."""
    if r >= HIGH_FROM:
        return Level.HIGH
    return Level.MEDIUM if r >= MEDIUM_FROM else Level.LOW


def verdict(predicted: Level, r: float, p: float) -> Verdict:
    """Every prediction is of a positive correlation, so one that is significantly negative is off."""
    if p >= SIGNIFICANT_BELOW:
        return Verdict.NOT_SIGNIFICANT
    if r < 0:
        return Verdict.OFF
    apart = abs(_RANKS.index(predicted) - _RANKS.index(level(r)))
    return (Verdict.EXACT, Verdict.CLOSE, Verdict.OFF)[apart]
