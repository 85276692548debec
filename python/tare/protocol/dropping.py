"""Steps 2 and 3: which QEs and which Q@Cs are left (TTPv2 §8.3, §8.4; TTPv1 §7.5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ibis
import ibis.expr.types as ir

from tare.lab.answers import kept, row
from tare.protocol import judge
from tare.protocol.check import Check
from tare.protocol.method import Method
from tare.protocol.outcome import Remaining
from tare.protocol.qatcs import of_qes

_CARRIED = (
    "qe_id", "qatc_id", "dbms", "run_order", "number", "outcome", "wall_ticks", "measured_ms", "tick_ns",
    "query_processes", "online_cpus", "told",
)  # fmt: skip


def drop_qes(qes: ir.Table, method: Method) -> ir.Table:
    """Step 2. `dropped_by`: which of its sub-steps, from 1, dropped the QE; and `retained`; with the
    measures that later steps need."""
    where = [(_any(step.checks, qes), place) for place, step in enumerate(method.drops, start=1)]
    carried = dict.fromkeys((*_CARRIED, method.computation, *method.needed))
    judged = kept(qes.select(*carried, dropped_by=ibis.cases(*where, else_=0)))
    return judged.mutate(retained=judged.dropped_by == 0)


def drop_qatcs(qes: ir.Table, method: Method, min_qes: int) -> ir.Table:
    """Step 3, over QEs marked by Step 2. Adds `min_qes` and `dropped_at`: 0 for a Q@C that is retained,
    1 where no QE was left to Step 3, 2 and more for its sub-steps."""
    qatcs = of_qes(qes, method.computation).mutate(min_qes=ibis.literal(min_qes))
    where = [(_any(step.checks, qatcs), place) for place, step in enumerate(method.qatc_drops, start=2)]
    return kept(
        qatcs.mutate(dropped_at=ibis.cases((qatcs.retained_qes == 0, 1), *where, else_=0)),
    )


def remaining(qes: ir.Table, qatcs: ir.Table, method: Method) -> tuple[Remaining, ...]:
    """Return the rest after each sub-step (TTPv2 Table XIII)."""
    of_qes = _tally(qes, {f"qes_{p}": qes.dropped_by == p for p in range(1, len(method.drops) + 1)})
    left = {f"left_{p}": _left(qatcs, p) for p in range(1, len(method.qatc_drops) + 2)}
    held: Any = {name: qatcs.retained_qes.sum(where=still).fill_null(0) for name, still in left.items()}
    of_qatcs = _tally(qatcs, left) | {
        f"held_{name}": value for name, value in row(qatcs.aggregate(**held)).items()
    }
    return _rows(of_qes, of_qatcs, method)


def _rows(of_qes: dict[str, int], of_qatcs: dict[str, int], method: Method) -> tuple[Remaining, ...]:
    """Sub-steps of Step 2 leave Q@Cs alone but for those that lose their last QE, which the last shows."""
    qes, qatcs = of_qes["all"], of_qatcs["all"]
    rows = [Remaining("at start", method.start_source, qes, qatcs, 0, 0)]
    for place, step in enumerate(method.drops, start=1):
        dropped = of_qes[f"qes_{place}"]
        left = of_qatcs["left_1"] if place == len(method.drops) else qatcs
        rows.append(Remaining(f"after {step.name}", step.source, qes - dropped, left, dropped, qatcs - left))
        qes, qatcs = qes - dropped, left
    for place, qatc_step in enumerate(method.qatc_drops, start=2):
        left, held = of_qatcs[f"left_{place}"], of_qatcs[f"held_left_{place}"]
        rows.append(
            Remaining(f"after {qatc_step.name}", qatc_step.source, held, left, qes - held, qatcs - left)
        )
        qes, qatcs = held, left
    return tuple(rows)


def _left(qatcs: ir.Table, place: int) -> Any:
    return (qatcs.dropped_at == 0) | (qatcs.dropped_at > place)


def _tally(table: ir.Table, conditions: dict[str, Any]) -> dict[str, int]:
    counts = {name: condition.cast("int64").sum().fill_null(0) for name, condition in conditions.items()}
    return row(table.aggregate(all=table.count(), **counts))


def _any(checks: Sequence[Check], table: ir.Table) -> Any:
    found: Any = ibis.literal(False)
    for check in checks:
        found = found | judge.violated(check, table)
    return found
