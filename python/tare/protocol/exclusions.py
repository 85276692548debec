"""Why each QE and each Q@C was dropped: a row for every rule that holds on it, with the values."""

from __future__ import annotations

from collections.abc import Iterator

import ibis
import ibis.expr.types as ir

from tare.protocol import judge
from tare.protocol.check import Check
from tare.protocol.method import Method

NO_QE_LEFT = "no QE is left"
STEP_2 = "step 2"  # as a whole: what leaves a Q@C without QEs may be several of its sub-steps


def exclusions(qes: ir.Table, qatcs: ir.Table, method: Method) -> ir.Table:
    """Return the exclusions of QEs with all their measures, by Step 2, and of Q@Cs, by Step 3."""
    return ibis.union(*_rows(qes, qatcs, method), distinct=False)


def _rows(qes: ir.Table, qatcs: ir.Table, method: Method) -> Iterator[ir.Table]:
    for step in method.drops:
        for check in step.checks:
            yield _of(check, qes, step.name, "qe")
    none = qatcs.filter(qatcs.retained_qes == 0)
    yield _row(
        none, "qatc", STEP_2, ibis.null("int64"), NO_QE_LEFT, method.drops[-1].source,
        none.qes.cast("string") + " QEs were dropped, and it had no other",
    )  # fmt: skip
    for qatc_step in method.qatc_drops:
        for check in qatc_step.checks:
            yield _of(check, qatcs, qatc_step.name, "qatc")


def _of(check: Check, table: ir.Table, step: str, level: str) -> ir.Table:
    found = table.filter(judge.violated(check, table))
    number = ibis.literal(check.number, "int64")
    return _row(found, level, step, number, check.name, check.source, judge.evidence(check, found))


def _row(
    table: ir.Table, level: str, step: str, number: ir.Value, rule: str, source: str, said: ir.Value
) -> ir.Table:
    return table.select(
        level=ibis.literal(level),
        qe_id=table.qe_id.cast("int64") if level == "qe" else ibis.null("int64"),
        qatc_id=table.qatc_id,
        step=ibis.literal(step),
        number=number,
        rule=ibis.literal(rule),
        source=ibis.literal(source),
        evidence=said,
    )
