"""Waiting for what went away: each pause is twice the one before (TTPv2 §3.2.3)."""

from __future__ import annotations

MAX_TRIES = 10
"""After so many failures in a row the run is given up, or paused."""

FIRST_PAUSE_S = 0.04


def pause_s(failures: int, first_s: float = FIRST_PAUSE_S) -> float:
    """Seconds to wait after so many failures in a row, from 1 on."""
    return first_s * 2.0 ** (failures - 1)
