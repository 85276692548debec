"""Each Q@C's time by each protocol, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tare.lab.answers import rows
from tare.lab.frames import Frames
from tare.protocol.outcome import Outcome
from tare.report.experiment.document import QatC, Timed
from tare.report.experiment.sources import places


def times(outcomes: Sequence[Outcome], primary: str, frames: Frames) -> list[QatC]:
    """In the order of run, query and falling cardinality."""
    of_protocol = {one.protocol: {row["qatc_id"]: row for row in _of(one)} for one in outcomes}
    found = []
    ordered = sorted(rows(places(frames)), key=lambda r: (r["run_id"], r["query_number"], -r["cardinality"]))
    for place in ordered:
        of = {name: each[place["qatc_id"]] for name, each in of_protocol.items() if place["qatc_id"] in each}
        if not of:
            continue  # visited and not timed, or failed: not a Q@C at start
        first = of.get(primary) or next(iter(of.values()))
        found.append(
            QatC(
                run=place["run_id"],
                dbms=place["dbms"],
                query=place["query"],
                number=place["query_number"],
                cardinality=place["cardinality"],
                plan=first["plan_fingerprint"],
                measured_ms=first["measured_ms"],
                times={name: _timed(row) for name, row in of.items()},
            )
        )
    return found


def _of(outcome: Outcome) -> list[dict[str, Any]]:
    return rows(outcome.times) if outcome.times is not None else []


def _timed(row: dict[str, Any]) -> Timed:
    return Timed(
        time_ms=row["time_ms"],
        low_ms=row["low_ms"],
        high_ms=row["high_ms"],
        sd_ms=row["sd_ms"],
        qes=row["qes"] or 0,
        rule=None if row["retained"] else row["rule"] or row["step"],
        strict=bool(row["strict"]),
        relaxed=bool(row["relaxed"]),
    )
