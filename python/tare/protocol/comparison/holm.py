"""Holm's correction of p-values: over all comparisons together the chance of any false verdict is the level's.

S. Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 6 (1979).
"""

from __future__ import annotations

from collections.abc import Mapping


def holm(values: Mapping[str, float]) -> dict[str, float]:
    """Correct p-values, by name."""
    corrected: dict[str, float] = {}
    largest = 0.0
    ordered = sorted(values, key=lambda name: values[name])
    for place, name in enumerate(ordered):
        largest = max(largest, min(1.0, values[name] * (len(ordered) - place)))
        corrected[name] = largest
    return corrected
