"""A causal model held against the data, as JSON: every relationship, pooled and by DBMS."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tare.protocol.model.result import ModelResult, Observed, tally

SCHEMA_NAME = "tare-model/1"


def render(result: ModelResult) -> str:
    """Indented, with its last newline."""
    return json.dumps(document(result), ensure_ascii=False, indent=2) + "\n"


def document(result: ModelResult) -> Mapping[str, Any]:
    """Plain values. `p` is 0 where it is below 1e-308; where there is no `r`, `reason` says why."""
    return {
        "schema": SCHEMA_NAME,
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
