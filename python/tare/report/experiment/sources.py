"""The tables behind the charts: one protocol's QEs with where they belong and why they were dropped."""

from __future__ import annotations

import ibis.expr.types as ir

from tare.lab.frames import Frames
from tare.protocol.outcome import Outcome

RETAINED = "retained"


def parts_of(qes: ir.Table) -> tuple[str, ...]:
    """Return the names of the parts that `time_ms` is the sum of, without `part_` and `_ms`."""
    return tuple(name[5:-3] for name in qes.columns if name.startswith("part_") and name.endswith("_ms"))


def places(frames: Frames) -> ir.Table:
    """Return a table of the Q@Cs: qatc_id, run_id, query, query_number, dbms, cardinality."""
    qatc = frames.qatc
    return qatc.select(
        qatc_id=qatc.id, run_id=qatc.run_id, query=qatc.query, query_number=qatc.query_number,
        dbms=qatc.dbms, cardinality=qatc.cardinality,
    )  # fmt: skip


def qes(outcome: Outcome, frames: Frames) -> ir.Table:
    """outcome.qes with `places`, `typical_ms` (the Q@C's median measured time) and `rule`: the first that
    dropped the QE, else the first that dropped its Q@C, else "retained"."""
    assert outcome.qes is not None
    assert outcome.exclusions is not None
    qe = outcome.qes
    typical = qe.group_by("qatc_id").agg(typical_ms=qe.measured_ms.median())
    gone = outcome.exclusions
    own = _first_rule(gone.filter(gone.level == "qe"), "qe_id", "qe_rule")
    whole = _first_rule(gone.filter(gone.level == "qatc"), "qatc_id", "qatc_rule")
    of = places(frames)
    joined = (
        qe.join(of, "qatc_id", how="inner", rname="of_{name}")
        .join(typical, "qatc_id", how="left", rname="typical_{name}")
        .join(own, "qe_id", how="left", rname="own_{name}")
        .join(whole, "qatc_id", how="left", rname="whole_{name}")
    )
    otherwise = joined.retained.ifelse(RETAINED, "dropped")
    rule = joined.qe_rule.coalesce(joined.qatc_rule, otherwise)
    if "run_id" not in joined.columns:
        joined = joined.rename(run_id="of_run_id")
    return joined.mutate(rule=rule)


def _first_rule(table: ir.Table, key: str, name: str) -> ir.Table:
    place = table.step + " " + table.number.fill_null(0).cast("string").lpad(4, "0")
    placed = table.mutate(place=place)
    return placed.group_by(key).agg(**{name: placed.rule.argmin(placed.place)})
