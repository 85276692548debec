"""Each Q@C as checks and Step 3 look at it: what its QEs are together."""

from __future__ import annotations

from typing import Any

import ibis
import ibis.expr.types as ir

from tare.measure.records import Outcome
from tare.protocol.named import deviation


def computation(qes: ir.Table, measure: str) -> ir.Table:
    """By `qatc_id`: `computation_mean`, `computation_sd` of the measure over QEs that ran to their end."""
    used = _of_ended(qes, measure)
    sums = qes.group_by("qatc_id").aggregate(**_sums(used))
    return sums.select("qatc_id", **_spread(sums))


def of_qes(qes: ir.Table, measure: str) -> ir.Table:
    """Return a row per Q@C over QEs that are marked `retained`.

    qes, retained_qes, qes_with_query (of the retained), ended_qes; of those that ran to their end:
    computation_mean, computation_sd (ticks), first_wall (that of the first), later_wall_max, _mean, _sd
    (ticks; NULL below three measured times); of the retained: mean_wall_ticks.
    """
    ended = qes.outcome == Outcome.OK.value
    marked = qes.mutate(
        ended=ended,
        used=_of_ended(qes, measure),
        wall=ibis.cases((ended, qes.wall_ticks), else_=None),
        first=ibis.cases((ended, qes.run_order), else_=None).min().over(group_by="qatc_id"),
    )
    m = marked.mutate(
        first_of=ibis.cases((marked.ended & (marked.run_order == marked.first), marked.wall), else_=None),
        later=ibis.cases((marked.ended & (marked.run_order != marked.first), marked.wall), else_=None),
    )
    sums = m.group_by("qatc_id").aggregate(
        qes=m.count(),
        retained_qes=m.retained.cast("int64").sum(),
        qes_with_query=(m.retained & (m.query_processes > 0)).cast("int64").sum(),
        ended_qes=m.ended.cast("int64").sum(),
        **_sums(m.used),
        walls=m.wall.count(),
        first_wall=m.first_of.max(),
        later_wall_max=m.later.max(),
        later_wall_mean=m.later.mean(),
        later_wall_sd=m.later.std(how="sample"),
        mean_wall_ticks=m.wall_ticks.mean(where=m.retained),
        cpus=m.online_cpus.max(),
        told=m.told.cast("int64").min() == 1,
    )
    enough = (sums.walls == sums.ended_qes) & (sums.walls > 2)
    return sums.mutate(
        **_spread(sums),
        **{
            name: _where(enough, sums[name])
            for name in ("first_wall", "later_wall_max", "later_wall_mean", "later_wall_sd")
        },
    ).drop("used_n", "used_sum", "used_squares", "walls")


def _where(condition: Any, value: Any) -> Any:
    return ibis.cases((condition, value), else_=None)


def _of_ended(qes: ir.Table, measure: str) -> Any:
    return ibis.cases((qes.outcome == Outcome.OK.value, qes[measure]), else_=None)


def _sums(used: Any) -> dict[str, Any]:
    return {"used_n": used.count(), "used_sum": used.sum(), "used_squares": (used * used).sum()}


def _spread(sums: ir.Table) -> dict[str, Any]:
    n, total, squares = sums.used_n, sums.used_sum, sums.used_squares
    return {
        "computation_mean": _where(n > 0, total / n),
        "computation_sd": _where(n > 1, deviation(ibis.greatest(n, 2), total, squares)),
    }
