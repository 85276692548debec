"""Outcomes of protocols as JSON: checks, drop tables, post checks, precision and every Q@C's time."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from tare.lab.answers import rows
from tare.protocol.fewer import Fewer
from tare.protocol.outcome import Outcome

SCHEMA_NAME = "tare-protocol/1"


def render(outcomes: Sequence[Outcome], fewer: Mapping[str, Sequence[Fewer]]) -> str:
    """Indented, with its last newline. `fewer`: by protocol, where it was asked for."""
    document = {
        "schema": SCHEMA_NAME,
        "protocols": [_outcome(one, fewer.get(one.protocol, ())) for one in outcomes],
    }
    return json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def _outcome(outcome: Outcome, fewer: Sequence[Fewer]) -> Mapping[str, Any]:
    return {
        "protocol": outcome.protocol,
        "title": outcome.title,
        "citation": outcome.citation,
        "tick_ns": outcome.tick_ns,
        "min_qes": outcome.min_qes,
        "checks": [{**asdict(one), "level": one.level.value, "share": one.share} for one in outcome.checks],
        "accepted": list(outcome.accepted),
        "stopped": outcome.stopped,
        "remaining": [asdict(one) for one in outcome.remaining],
        "post": [asdict(one) for one in outcome.post],
        "precision": asdict(outcome.precision),
        "deviations": list(outcome.deviations),
        "coefficients": {dbms: dict(of) for dbms, of in outcome.coefficients.items()},
        "fewer": [{**asdict(one), "share": one.share} for one in fewer],
        "times": None if outcome.times is None else _rows(outcome),
    }


def _rows(outcome: Outcome) -> list[dict[str, Any]]:
    assert outcome.times is not None
    return rows(outcome.times.order_by("qatc_id"))
