"""Correlations in the shape of TTPv2 Table VI, a row for each group, and how many had each verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tare.protocol.model.result import Observed, Verdict


def by_group(observed: Sequence[Observed]) -> Mapping[str, Mapping[str, Observed]]:
    """Return a scope's correlations (`ModelResult.of`) by group, then letter, without letters that the table leaves
    empty."""
    rows: dict[str, dict[str, Observed]] = {}
    for one in observed:
        rows.setdefault(one.relationship.group, {})[one.relationship.letter] = one
    return rows


def letters(observed: Sequence[Observed]) -> Sequence[str]:
    """The table's columns."""
    return sorted({one.relationship.letter for one in observed})


def tally(observed: Sequence[Observed]) -> Mapping[Verdict, int]:
    """Every verdict, in the order of the enumeration, also where there were none."""
    return {verdict: sum(one.verdict is verdict for one in observed) for verdict in Verdict}
