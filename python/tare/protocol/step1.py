"""Step 1: the sanity checks counted over the whole lab (TTPv2 §8.2, Tables X to XII)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any, Final

import ibis
import ibis.expr.types as ir

from tare.errors import UsageError
from tare.lab.answers import row, rows
from tare.lab.frames import Frames
from tare.lab.kept import kept
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
        found[MISSING_QUERIES.name] = _missing(planned, found[MISSING_QUERIES.name])
    return tuple(found[check.name] for check in method.experiment)


def planned_qatcs(frames: Frames, qes: ir.Table) -> ir.Table:
    """Each Q@C that was to be timed: `planned_qes`, `missing_qes`, and `plans` that its QEs show.

    Without those of a query that its DBMS cannot run: no QE of it was lost (see `refused`)."""
    recorded = qes.group_by(of_qatc=qes.qatc_id).aggregate(
        recorded=qes.count(), plans=qes.plan_fingerprint.nunique()
    )
    runs = frames.run.select(of_run=frames.run.id, planned_qes=frames.run.qes_per_qatc)
    qatc = frames.qatc.filter(frames.qatc.state != QatCState.SAME_PLAN.value)
    qatc = qatc.select(qatc_id=qatc.id, run_id=qatc.run_id, query_id=qatc.query_id)
    qatc = qatc.anti_join(frames.query.filter(frames.query.error.notnull()), qatc.query_id == frames.query.id)
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


def _missing(planned: ir.Table, found: CheckCount) -> CheckCount:
    """Counted in QEs."""
    sums = row(
        planned.aggregate(
            planned_qes=planned.planned_qes.sum().fill_null(0),
            missing_qes=planned.missing_qes.sum().fill_null(0),
        )
    )
    return replace(found, judged=sums["planned_qes"], violations=sums["missing_qes"])


def refused(frames: Frames) -> list[str]:
    """The deviation of each DBMS that cannot run some of the queries."""
    runs = frames.run.select("dbms", of_run=frames.run.id)
    queries = frames.query.join(runs, frames.query.run_id == runs.of_run)
    queries = queries.filter(queries.error.notnull()).select("dbms", "number", "name").distinct()
    names: dict[str, list[str]] = {}
    for query in rows(queries.order_by(["dbms", "number", "name"])):
        names.setdefault(query["dbms"], []).append(query["name"])
    return [
        f"queries that {dbms} cannot run have no time on it: {', '.join(missing)}"
        for dbms, missing in names.items()
    ]


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


def check_accepted(accept: Sequence[str], names: Collection[str]) -> None:
    """Raises UsageError for what is neither "all" nor among `names`, those of any protocol."""
    for name in accept:
        if name not in names and name != ALL:
            raise UsageError(
                f"--accept {name}: no experiment-wide check has that name",
                f"give one of: {', '.join(sorted(names))}, {ALL}",
            )


def stops(found: Sequence[CheckCount], accept: Sequence[str]) -> tuple[tuple[str, ...], str | None]:
    """The violated checks that the user accepts, by name; and what stops the analysis, if anything does.

    `accept`: names, of other protocols too, or "all"."""
    violated = [one for one in found if one.violations]
    accepted = tuple(one.name for one in violated if one.name in accept or ALL in accept)
    against = [one for one in violated if one.name not in accepted]
    if not against:
        return accepted, None
    said = "; ".join(f"{one.name}: {one.violations} of {one.judged} ({one.source})" for one in against)
    return accepted, f"experiment-wide sanity checks are violated: {said}"
