"""Facts about the Q@C and the DBMS that TTPv1's Step 2 needs for a QE."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from operator import or_
from typing import Final

import ibis
import ibis.expr.types as ir

from tare.lab.answers import kept
from tare.protocol import judge
from tare.protocol.order_statistics import median, placed
from tare.protocol.qatcs import computation
from tare.protocol.ttp1.checks import OF_ITS_QATC, QE_CHECKS, STOPPED_OR_PHANTOM, TIMED_OUT

IOWAIT_SHARE: Final[Mapping[str, float]] = {
    "db2": 0.0,
    "mysql": 0.01,
    "mariadb": 0.01,  # as MySQL, of which it is a branch
}
"""Iowait that a DBMS's queries may show, as a share of the query's user ticks (TTPv1 §6, §7.5 Step 2-(iv)).

A DBMS that is not listed waits for I/O in earnest: its iowait is shared out by the regression of Step 4, and
Step 2-(iv) says nothing of it."""


def context(qes: ir.Table) -> ir.Table:
    """Adds `qatc_computation_mean`, `qatc_computation_sd` (ticks), `iowait_allowed` (ticks; NULL: any),
    and `median_iowait` (ticks): over the QEs that Steps 2-(i) and 2-(ii) leave to the Q@C."""
    spread = computation(qes, "query_cpu_ticks")
    spread = kept(
        spread.select(
            of_qatc="qatc_id", qatc_computation_mean="computation_mean", qatc_computation_sd="computation_sd"
        )
    )
    qes = qes.left_join(spread, qes.qatc_id == spread.of_qatc).drop("of_qatc")
    shares = [(qes.dbms == dbms, share) for dbms, share in IOWAIT_SHARE.items()]
    qes = qes.mutate(iowait_allowed=ibis.cases(*shares, else_=None) * qes.query_user_ticks.cast("float64"))
    gone = reduce(
        or_, (judge.violated(c, qes) for c in (*QE_CHECKS, OF_ITS_QATC, TIMED_OUT, STOPPED_OR_PHANTOM))
    )
    narrow = qes.select("qe_id", "qatc_id", "overall_iowait", left=~gone & qes.overall_iowait.notnull())
    rows = placed(narrow.filter(narrow.left).drop("left"), "qatc_id", "overall_iowait")
    medians = kept(rows.group_by(of_qatc="qatc_id").aggregate(median_iowait=median(rows, "overall_iowait")))
    return qes.left_join(medians, qes.qatc_id == medians.of_qatc).drop("of_qatc")
