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
    yield _row(
        qatcs, qatcs.retained_qes == 0, "qatc", STEP_2, ibis.null("int64"), NO_QE_LEFT, method.drops[-1].source,
        qatcs.qes.cast("string") + " QEs were dropped, and it had no other",
    )  # fmt: skip
    for qatc_step in method.qatc_drops:
        for check in qatc_step.checks:
            yield _of(check, qatcs, qatc_step.name, "qatc")


def _of(check: Check, table: ir.Table, step: str, level: str) -> ir.Table:
    number = ibis.literal(check.number, "int64")
    holds, said = judge.violated(check, table), judge.evidence(check, table)
    return _row(table, holds, level, step, number, check.name, check.source, said)


def _row(
    table: ir.Table, holds: ir.BooleanValue, level: str, step: str, number: ir.Value, rule: str, source: str,
    said: ir.Value,
) -> ir.Table:  # fmt: skip
    """A row wherever `holds`. The few columns are selected first: a filter over all measures takes long to compile."""
    judged = table.select(
        level=ibis.literal(level),
        qe_id=table.qe_id.cast("int64") if level == "qe" else ibis.null("int64"),
        qatc_id=table.qatc_id,
        step=ibis.literal(step),
        number=number,
        rule=ibis.literal(rule),
        source=ibis.literal(source),
        evidence=said,
        holds=holds,
    )
    return judged.filter(judged.holds).drop("holds")
