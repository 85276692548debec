"""Step 1: the sanity checks counted over the whole lab (TTPv2 §8.2, Tables X to XII)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any, Final

import ibis
import ibis.expr.types as ir

from tare.errors import UsageError
from tare.lab.answers import kept, row
from tare.lab.frames import Frames
from tare.lab.schema import OVERALL_TICKS
from tare.lab.states import QatCState
from tare.measure.records import Outcome
from tare.protocol import judge
from tare.protocol.experiment_checks import MISSING_QUERIES
from tare.protocol.method import Method
from tare.protocol.outcome import CheckCount
from tare.protocol.quantities import TYPES

ALL: Final = "all"


def experiment_wide(frames: Frames, qes: ir.Table, method: Method) -> tuple[CheckCount, ...]:
    """The experiment-wide checks, in their order. `qes`: `of_experiment`, every QE."""
    of_qatc = [c for c in method.experiment if set(c.needs) & {"missing_qes", "plans"}]
    of_qe = [c for c in method.experiment if c not in of_qatc]
    planned = kept(planned_qatcs(frames, qes))
    found = {one.name: one for one in judge.count(of_qatc, planned)}
    found |= {one.name: one for one in judge.count(of_qe, qes)}
    if MISSING_QUERIES.name in found:
        found[MISSING_QUERIES.name] = _missing(frames, planned, found[MISSING_QUERIES.name])
    return tuple(found[check.name] for check in method.experiment)


def planned_qatcs(frames: Frames, qes: ir.Table) -> ir.Table:
    """Each Q@C that was to be timed: `planned_qes`, `missing_qes`, and `plans` that its QEs show."""
    recorded = qes.group_by(of_qatc=qes.qatc_id).aggregate(
        recorded=qes.count(), plans=qes.plan_fingerprint.nunique()
    )
    runs = frames.run.select(of_run=frames.run.id, planned_qes=frames.run.qes_per_qatc)
    qatc = frames.qatc.filter(frames.qatc.state != QatCState.SAME_PLAN.value)
    qatc = qatc.select(qatc_id=qatc.id, run_id=qatc.run_id, query_id=qatc.query_id)
    joined = qatc.join(runs, qatc.run_id == runs.of_run)
    joined = joined.left_join(recorded, joined.qatc_id == recorded.of_qatc)
    has = joined.recorded.fill_null(0)
    return joined.select(
        "qatc_id",
        "query_id",
        "planned_qes",
        missing_qes=ibis.greatest(joined.planned_qes - has, 0),
        plans=joined.plans.fill_null(0),
    )


def unrunnable_queries(frames: Frames) -> ir.Table:
    """The queries that their DBMS refused, or that never ended on it, with `error`."""
    return frames.query.filter(frames.query.error.notnull())


def _missing(frames: Frames, planned: ir.Table, found: CheckCount) -> CheckCount:
    """Counted in QEs. A query that its DBMS refused has no Q@C; it lacks the QEs of one at least. What a query that
    never ran lacks has a recorded cause."""
    unrunnable = unrunnable_queries(frames)
    refused = unrunnable.anti_join(planned, unrunnable.id == planned.query_id)
    runs = frames.run.select(of_run=frames.run.id, planned_qes=frames.run.qes_per_qatc)
    refused = refused.join(runs, refused.run_id == runs.of_run)
    asked = [
        table.aggregate(**{name: table[name].sum().fill_null(0) for name in names})
        for table, names in (
            (planned, ("planned_qes", "missing_qes")),
            (refused, ("planned_qes",)),
            (planned.semi_join(unrunnable, planned.query_id == unrunnable.id), ("missing_qes",)),
        )
    ]
    of_qatcs, of_refused, of_unrunnable = (row(one) for one in asked)
    lacking = of_refused["planned_qes"]
    return replace(
        found,
        judged=of_qatcs["planned_qes"] + lacking,
        violations=of_qatcs["missing_qes"] + lacking,
        explained=of_unrunnable["missing_qes"] + lacking,
    )


def of_experiment(qes: ir.Table, needed: Sequence[str]) -> ir.Table:
    """With what the experiment-wide checks ask of a QE. One that timed out or has no query process
    lacks its measures for a reason that is a check of its own."""
    due = (qes.outcome == Outcome.OK.value) & (qes.query_processes > 0)
    lacks = {name: due & qes[name].isnull() for name in needed}
    names: Any = ibis.literal("")
    unknown: Any = ibis.literal(0)
    for name, lack in lacks.items():
        unknown = unknown + lack.cast("int64")
        names = names + ibis.cases((lack, f"{name} "), else_="")
    negative: Any = ibis.literal(0)
    for mode in OVERALL_TICKS:
        negative = negative + (qes[f"overall_{mode}"] < 0).fill_null(False).cast("int64")
    typed: Any = ibis.literal(0)
    guests: Any = qes.overall_guest + qes.overall_guest_nice
    for kind in TYPES:
        typed = typed + qes[f"{kind}_processes"]
        guests = guests + qes[f"{kind}_guest_ticks"].fill_null(0)
    return qes.mutate(
        unknown_measures=unknown,
        unknown_names=names.strip(),
        negative_overall=negative,
        untyped_processes=qes.processes - typed,
        all_guest_ticks=guests,
    )


def stops(
    found: Sequence[CheckCount], accept: Sequence[str], names: Collection[str]
) -> tuple[tuple[str, ...], str | None]:
    """The violated checks that the user accepts, or whose violations all have a recorded cause, by name; and what stops
    the analysis, if anything does. A query that its DBMS cannot run leaves the others as they are.

    `accept`: names, or "all". `names`: those that any protocol has; another raises UsageError.
    """
    for name in accept:
        if name not in names and name != ALL:
            raise UsageError(
                f"--accept {name}: no experiment-wide check has that name",
                f"give one of: {', '.join(sorted(names))}, {ALL}",
            )
    violated = [one for one in found if one.violations]
    accepted = tuple(one.name for one in violated if _is_accepted(one, accept))
    against = [one for one in violated if one.name not in accepted]
    if not against:
        return accepted, None
    said = "; ".join(f"{one.name}: {one.violations} of {one.judged} ({one.source})" for one in against)
    return accepted, f"experiment-wide sanity checks are violated: {said}"


def _is_accepted(found: CheckCount, accept: Sequence[str]) -> bool:
    return found.name in accept or ALL in accept or found.violations == found.explained
