"""Figures of a profile's document, in the units that it has them in."""

from __future__ import annotations

from tare.report.kit.figure import Figure, Interval


def share(found: Interval | float | None) -> Figure:
    """Share of the variance, or of a time."""
    return Figure.read(found, "share")


def time(ns: Interval | float | None) -> Figure:
    return Figure.read(ns, "ns")
