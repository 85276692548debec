"""Step 4: a time for each QE, and from those the Q@C's median (TTPv2 §8.5)."""

from __future__ import annotations

import ibis
import ibis.expr.types as ir

from tare.lab.answers import kept, value
from tare.measure.records import Outcome
from tare.protocol import judge
from tare.protocol.method import Coefficients, Method
from tare.protocol.order_statistics import bounds, median, placed


def timed_qes(qes: ir.Table, method: Method, coefficients: Coefficients) -> ir.Table:
    """With `time_ms` and its parts, NULL for a QE that did not end or that no query process is in.

    A protocol's coefficients, by DBMS, become columns that its equations may use."""
    for name in sorted({name for of_dbms in coefficients.values() for name in of_dbms}):
        values = [(qes.dbms == dbms, float(of[name])) for dbms, of in coefficients.items() if name in of]
        qes = qes.mutate(**{f"coefficient_{name}": ibis.cases(*values, else_=0.0)})
    with_times = judge.define(qes, (*method.equations, *method.parts.values()))
    ended = (qes.outcome == Outcome.OK.value) & (qes.query_processes > 0)
    names = ["time_ms", *(part.name for part in method.parts.values())]
    return with_times.mutate(
        **{name: ibis.cases((ended, with_times[name].cast("float64")), else_=None) for name in names}
    )


def time_qatcs(qes: ir.Table, qatcs: ir.Table) -> ir.Table:
    """Return a row per Q@C that has a time: over its retained QEs; where it was dropped, over all its QEs
    that have one. n, time_ms (the median), low_ms, high_ms, time_mean, time_sd, measured_ms (mean),
    measured_sd, measured_median."""
    steps = qatcs.select(of_qatc="qatc_id", dropped_at="dropped_at")
    joined = qes.join(steps, qes.qatc_id == steps.of_qatc)
    used = (
        joined.time_ms.notnull() & joined.measured_ms.notnull() & (joined.retained | (joined.dropped_at != 0))
    )
    narrow = joined.select("qe_id", "qatc_id", "time_ms", "measured_ms", used=used)
    narrow = narrow.filter(narrow.used).drop("used")
    rows = placed(placed(narrow, "qatc_id", "time_ms"), "qatc_id", "measured_ms")
    low, high = bounds(rows, "time_ms", int(value(qatcs.qes.max()) or 0))
    return kept(
        rows.group_by("qatc_id").aggregate(
            n=rows.count(),
            time_ms=median(rows, "time_ms"),
            low_ms=low,
            high_ms=high,
            time_mean=rows.time_ms.mean(),
            time_sd=rows.time_ms.std(how="sample"),
            measured_ms=rows.measured_ms.mean(),
            measured_sd=rows.measured_ms.std(how="sample"),
            measured_median=median(rows, "measured_ms"),
        )
    )
