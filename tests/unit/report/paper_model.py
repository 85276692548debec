"""A model result as the paper's own data would give it: TTPv2 Table VI, for two DBMSes and pooled."""

from __future__ import annotations

from tare.protocol.model import tables
from tare.protocol.model.result import ModelResult, Observed, Relationship, Verdict
from tare.protocol.model.verdict import verdict


def observed(one: Relationship, dbms: str | None, r: float, p: float = 0.0) -> Observed:
    return Observed(one, dbms, 555_850, r, p, verdict(one.predicted, r, p), None)


def paper(name: str = "ttp2", dbmses: tuple[str, ...] = ("mariadb", "postgresql")) -> ModelResult:
    """TTPv1 prints no r: there each cell has what its level predicts."""
    model = tables.load(name)
    by_level = {"high": 0.8, "medium": 0.5, "low": 0.1}
    found = tuple(
        observed(one, dbms, by_level[one.predicted] if one.published is None else one.published)
        for dbms in (None, *dbmses)
        for one in model.relationships
    )
    return ModelResult(name, model.title, model.citation, 555_850, dbmses, found)


def silenced(result: ModelResult, measure: str) -> ModelResult:
    """The result as if this measure had been the same in every QE."""
    found = tuple(
        Observed(
            one.relationship, one.dbms, one.n, None, None, Verdict.NON_VARYING,
            f"the same in every QE: {measure}", (measure,),
        )
        if measure in (one.relationship.cause, one.relationship.effect)
        else one
        for one in result.observed
    )  # fmt: skip
    return ModelResult(result.model, result.title, result.citation, result.qes, result.dbmses, found)
