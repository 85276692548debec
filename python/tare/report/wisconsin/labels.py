"""Queries in few letters, for the axes of charts and the heads of tables."""

from __future__ import annotations

import re

from tare.workload.wisconsin.kinds import Organisation
from tare.workload.wisconsin.query import WisconsinQuery

_ORGANISATIONS = {
    Organisation.HEAP: "heap",
    Organisation.CLUSTERED: "clustered",
    Organisation.NONCLUSTERED: "non-clustered",
    Organisation.HASH: "hash",
}

_OPERATIONS = (
    (re.compile(r"^select_(\d+)pct"), r"\1%"),
    (re.compile(r"^select_1tuple"), "1 tuple"),
    (re.compile(r"^project_(\d+)pct"), r"\1% kept"),
    (re.compile(r"^(min|sum)_100_partitions"), r"\1 by 100"),
    (re.compile(r"_scalar$"), " of key"),
    (re.compile(r"_screen$"), " to screen"),
    (re.compile(r"_nonkey$"), " non-key"),
    (re.compile(r"_"), " "),
)


def organisation(of: Organisation) -> str:
    return _ORGANISATIONS[of]


def operation(name: str) -> str:
    """1%, 1 tuple to screen, joinAselB, min by 100, modify key, …"""
    for pattern, text in _OPERATIONS:
        name = pattern.sub(text, name)
    return name


def label(query: WisconsinQuery) -> str:
    """With its number in 1993: "q5 1%, non-clustered"."""
    number = f"q{query.number} " if query.number is not None else ""
    return f"{number}{operation(query.operation)}, {organisation(query.organisation)}"
