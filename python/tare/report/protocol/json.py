"""Outcomes of protocols and a model's result, as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from tare.lab.answers import rows
from tare.protocol.fewer import Fewer
from tare.protocol.model.groups import tally
from tare.protocol.model.result import ModelResult, Observed
from tare.protocol.outcome import Outcome

PROTOCOL_SCHEMA = "tare-protocol/1"
MODEL_SCHEMA = "tare-model/1"


# Protocols -------------------------------------------------------------------------------
def render(outcomes: Sequence[Outcome], fewer: Mapping[str, Sequence[Fewer]]) -> str:
    """Indented, with its last newline. `fewer`: by protocol, where it was requested."""
    document = {
        "schema": PROTOCOL_SCHEMA,
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


# Models -----------------------------------------------------------------------------------
def render_model(result: ModelResult) -> str:
    """Indented, with its last newline."""
    return json.dumps(_model(result), ensure_ascii=False, indent=2) + "\n"


def _model(result: ModelResult) -> Mapping[str, Any]:
    """Plain values. `p` is 0 where it is below 1e-308; where there is no `r`, `reason` says why."""
    return {
        "schema": MODEL_SCHEMA,
        "model": result.model,
        "title": result.title,
        "citation": result.citation,
        "qes": result.qes,
        "retained_by": result.retained_by,
        "dbmses": list(result.dbmses),
        "pooled": _scope(result, None),
        "by_dbms": {dbms: _scope(result, dbms) for dbms in result.dbmses},
    }


def _scope(result: ModelResult, dbms: str | None) -> Mapping[str, Any]:
    observed = result.of(dbms)
    return {
        "verdicts": {verdict.value: count for verdict, count in tally(observed).items()},
        "relationships": [_row(one) for one in observed],
    }


def _row(one: Observed) -> Mapping[str, Any]:
    of = one.relationship
    return {
        "name": of.name,
        "group": of.group,
        "cause": of.cause,
        "effect": of.effect,
        "predicted": of.predicted.value,
        "source": of.source,
        "published_r": of.published,
        "qes": one.n,
        "r": one.r,
        "p": one.p,
        "verdict": one.verdict.value,
        "reason": one.reason,
    }
