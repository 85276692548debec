"""A timing protocol over a whole lab: Steps 1 to 5, as Ibis expressions on whatever engine holds it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import ibis
import ibis.expr.types as ir

from tare.errors import UsageError
from tare.lab.answers import kept, row, rows, value
from tare.lab.frames import Frames
from tare.lab.workspace import seldom_collected
from tare.protocol import judge, step1
from tare.protocol.derived import derived
from tare.protocol.dropping import drop_qatcs, drop_qes, remaining
from tare.protocol.exact.method import EXACT
from tare.protocol.exclusions import NO_QE_LEFT, STEP_2, exclusions
from tare.protocol.method import Method
from tare.protocol.monotonicity import RELAXED, STRICT, adjacent
from tare.protocol.outcome import CheckCount, Outcome, Precision
from tare.protocol.post import monotone, post_checks, precision
from tare.protocol.timing import time_qatcs, timed_qes
from tare.protocol.ttp1.method import TTP1
from tare.protocol.ttp2.method import TTP2

METHODS = {method.name: method for method in (TTP1, TTP2, EXACT)}
ACCEPTABLE = {check.name for method in METHODS.values() for check in method.experiment}


@seldom_collected()
def run_protocol(
    frames: Frames, name: str, *, min_qes: int = 6, accept: Sequence[str] = (), by_paper: bool = False
) -> Outcome:
    """See `tare.protocol.run_protocol`."""
    return Analysis(frames, method_of(name), min_qes, by_paper).outcome(accept)


def method_of(name: str) -> Method:
    """Raises UsageError for a name that there is not."""
    if name not in METHODS:
        raise UsageError(f"{name}: no such protocol", f"give one of {', '.join(METHODS)}")
    return METHODS[name]


class Analysis:
    """Analysis of a set of runs by a protocol, with the tables that its steps hand on."""

    def __init__(
        self, frames: Frames, method: Method, min_qes: int, by_paper: bool, first: int | None = None
    ) -> None:
        """`first`: as if no Q@C had more QEs than these."""
        self.frames, self.method, self.min_qes = frames, method, min_qes
        qes = derived(frames, by_paper=by_paper)
        qes = step1.of_experiment(qes if first is None else qes.filter(qes.number <= first), method.needed)
        self.at_start = method.context(qes) if method.context else qes
        self.judged = drop_qes(self.at_start, method)
        self.qatcs = drop_qatcs(self.judged, method, min_qes)

    def outcome(self, accept: Sequence[str]) -> Outcome:
        found = self._experiment_wide()
        accepted, stopped = step1.stops(found, accept, ACCEPTABLE)
        common: dict[str, Any] = {
            "protocol": self.method.name,
            "title": self.method.title,
            "citation": self.method.citation,
            "tick_ns": int(value(self.frames.run.tick_ns.max()) or 0),
            "min_qes": self.min_qes,
            "checks": (*found, *self._checks()),
            "accepted": accepted,
            "stopped": stopped,
            "deviations": self._deviations(),
        }
        if stopped:
            return Outcome(
                **common, remaining=(), post=(), precision=Precision(None, None, None, None),
                coefficients={}, times=None, qes=None, exclusions=None,
            )  # fmt: skip
        method = self.method
        coefficients = method.fit(self._retained_qes()) if method.fit else {}
        qes = timed_qes(self.judged, method, coefficients)
        timed = kept(self._timed(qes))
        return Outcome(
            **common,
            remaining=remaining(self.judged, self.qatcs, method),
            post=post_checks(timed, self.at_start, method.post, method.post_source),
            precision=precision(timed),
            coefficients=coefficients,
            times=self._times(timed),
            qes=qes.select(
                "qe_id", "qatc_id", "run_order", "number", "retained", "time_ms", "measured_ms",
                *(part.name for part in method.parts.values()),
            ),
            exclusions=exclusions(self.at_start, self.qatcs, method),
        )  # fmt: skip

    def _experiment_wide(self) -> tuple[CheckCount, ...]:
        return step1.experiment_wide(self.frames, self.at_start, self.method)

    def _checks(self) -> tuple[CheckCount, ...]:
        """Step 1's checks of QEs and of Q@Cs; monotonicity there is of the query's computation time."""
        pairs = adjacent(
            self._with_places(self.qatcs).select(
                "qatc_id", "query_id", "plan_fingerprint", "cardinality", time="computation_mean",
                time_sd="computation_sd", unit=ibis.literal("ticks"),
            )
        )  # fmt: skip
        return (
            *judge.count(self.method.qe_checks, self.at_start),
            *judge.count(self.method.qatc_checks, self.qatcs),
            *judge.count(self.method.monotonicity, pairs),
        )

    def _retained_qes(self) -> ir.Table:
        """The QEs that Step 2 retained, of the Q@Cs that Step 3 did."""
        whole = self.qatcs.filter(self.qatcs.dropped_at == 0)
        retained = self.judged.filter(self.judged.retained)
        return retained.semi_join(whole, retained.qatc_id == whole.qatc_id)

    def _timed(self, qes: ir.Table) -> ir.Table:
        """Every Q@C at start with the step that dropped it and, where it has one, its time."""
        times = time_qatcs(qes, self.qatcs)
        times = times.rename(of_qatc="qatc_id")
        joined = self.qatcs.left_join(times, self.qatcs.qatc_id == times.of_qatc).drop("of_qatc")
        return self._with_places(joined)

    def _with_places(self, qatcs: ir.Table) -> ir.Table:
        """With what names a Q@C: its run, query, DBMS, cardinality and plan."""
        q = self.frames.qatc
        places = q.select(
            "run_id", "query_id", "query", "query_number", "dbms", "cardinality", "plan_fingerprint", of=q.id
        )
        return qatcs.join(places, qatcs.qatc_id == places.of).drop("of")

    def _times(self, timed: ir.Table) -> ir.Table:
        pairs = monotone(timed)
        broken = pairs.select(
            of_pair="qatc_id", strict=judge.violated(STRICT, pairs), relaxed=judge.violated(RELAXED, pairs)
        )
        joined = timed.left_join(broken, timed.qatc_id == broken.of_pair)
        whole = joined.dropped_at == 0
        steps = [STEP_2, *(step.name for step in self.method.qatc_drops)]
        return joined.select(
            "qatc_id", "run_id", "query_id", "query", "query_number", "dbms", "cardinality",
            "plan_fingerprint",
            qes=joined.retained_qes,
            retained=whole,
            step=ibis.cases(
                *((joined.dropped_at == i, step) for i, step in enumerate(steps, start=1)), else_=None
            ),
            rule=self._rule(joined),
            **{name: ibis.cases((whole, joined[name]), else_=None) for name in ("time_ms", "low_ms", "high_ms")},
            sd_ms=joined.time_sd,
            measured_ms=joined.measured_ms,
            measured_sd_ms=joined.measured_sd,
            strict=joined.strict.fill_null(False),
            relaxed=joined.relaxed.fill_null(False),
        )  # fmt: skip

    def _rule(self, qatcs: ir.Table) -> ir.StringValue:
        """The first rule of the sub-step that dropped the Q@C."""
        rules: list[tuple[Any, Any]] = [(qatcs.dropped_at == 1, NO_QE_LEFT)]
        for place, step in enumerate(self.method.qatc_drops, start=2):
            for check in step.checks:
                rules.append(((qatcs.dropped_at == place) & judge.violated(check, qatcs), check.name))
        return ibis.cases(*rules, else_=None).cast("string")

    def _deviations(self) -> tuple[str, ...]:
        said: list[str] = []
        for run in rows(self.frames.run.select("deviations")):
            said += json.loads(run["deviations"]) if run["deviations"] else []
        unrunnable = step1.unrunnable_queries(self.frames)
        of_run = self.frames.run.select(of_run="id", dbms="dbms")
        unrunnable = unrunnable.join(of_run, unrunnable.run_id == of_run.of_run)
        for query in rows(unrunnable.select("name", "dbms", "error").order_by("name", "dbms")):
            said.append(
                f"{query['dbms']} cannot run the query {query['name']}, which has no times: {query['error']}"
            )
        found = row(self.qatcs.aggregate(
            qatcs=self.qatcs.count(),
            several=(self.qatcs.cpus > 1).cast("int64").sum(),
            told=self.qatcs.told.cast("int64").sum(),
        ))  # fmt: skip
        if self.method.several_cpus and found["several"]:
            said.append(
                f"{found['several']} of {found['qatcs']} Q@Cs were measured on more than one CPU: "
                f"{self.method.several_cpus}"
            )
        if self.method.told_is_deviation and found["told"]:
            said.append(
                f"in {found['told']} of {found['qatcs']} Q@Cs the query process is known from the server, "
                "not inferred from its use of the processor"
            )
        return tuple(dict.fromkeys(said))
