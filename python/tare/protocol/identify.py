"""Process that ran the query of each Q@C (TTPv2 §7.2), for a whole lab.

*told*: the server named its backend in every QE, and the adapter gave it, with its parallel workers,
the role of the query process. *paper*: among the DBMS's processes that are in every QE of the Q@C,
the one with the highest total of user and system ticks over all of them. A tie is ambiguous.
"""

from __future__ import annotations

import ibis
import ibis.expr.types as ir

from tare.lab.answers import value
from tare.lab.frames import Frames


def query_processes(frames: Frames, by_paper: bool = False) -> ir.Table:
    """By Q@C: `of_qatc`, `told`, `query_pid` (the paper's way only), `tied` (how many share the
    highest total, 0 if none does), `tied_low`, `tied_high` (the lowest and highest pid of those)."""
    qe = frames.qe
    ways = qe.group_by(of_qatc=qe.qatc_id).aggregate(
        qes=qe.count(), told=ibis.literal(False) if by_paper else (qe.leader_pid.count() == qe.count())
    )
    if not by_paper and not value(qe.leader_pid.isnull().sum()):
        return ways.select(
            "of_qatc",
            "told",
            query_pid=ibis.null("int64"),
            tied=ibis.literal(0, "int64"),
            tied_low=ibis.null("int64"),
            tied_high=ibis.null("int64"),
        )
    chosen = _highest(frames, ways.filter(~ways.told))
    joined = ways.left_join(chosen, ways.of_qatc == chosen.qatc)
    return joined.select(
        "of_qatc",
        "told",
        query_pid=joined.tied_low,
        tied=ibis.cases((joined.sharing > 1, joined.sharing), else_=0).cast("int64"),
        tied_low=joined.tied_low,
        tied_high=joined.tied_high,
    )


def _highest(frames: Frames, untold: ir.Table) -> ir.Table:
    """The candidates with the highest total in each of these Q@Cs. The lowest pid stands for a tie."""
    process = frames.process
    candidates = process.filter(process.role.isin(["query", "utility"]))
    candidates = candidates.join(untold, candidates.qatc_id == untold.of_qatc)
    totals = candidates.group_by("qatc_id", "pid").aggregate(
        seen=candidates.qe_id.nunique(),
        of=candidates.qes.max(),
        total=(candidates.user_ticks + candidates.system_ticks).sum(),
    )
    everywhere = totals.filter(totals.seen == totals.of)
    best = everywhere.mutate(highest=everywhere.total.max().over(group_by=everywhere.qatc_id))
    best = best.filter(best.total == best.highest)
    return best.group_by(qatc=best.qatc_id).aggregate(
        sharing=best.count(), tied_low=best.pid.min(), tied_high=best.pid.max()
    )
