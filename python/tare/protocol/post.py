"""Step 5: post sanity checks over the calculated times (TTPv2 Table XIV), and the precision (Table XVII)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import ibis
import ibis.expr.types as ir

from tare.lab.answers import row
from tare.protocol import judge
from tare.protocol.check import Check, Ground
from tare.protocol.monotonicity import RELAXED, STRICT, adjacent
from tare.protocol.outcome import Level, PostCheck, Precision
from tare.protocol.quantities import MODEL
from tare.protocol.ttp2.qatc_checks import EXCESSIVE

EXCESSIVE_VARIATION: Final = Check(
    1,
    "excessive variation in calculated query time",
    "TTPv2 Table XIV",
    Level.QATC,
    (
        Ground(
            ("time_sd", "time_mean"),
            lambda m: m.time_sd > EXCESSIVE * m.time_mean,
            "standard deviation {time_sd:.2f} ms, mean {time_mean:.2f}",
        ),
    ),
    missing={"time_sd": "one QE has no variation"},
)

Found = tuple[float | None, str, str | None, tuple[str, ...]]  # value, unit, reason, detail


def monotone(timed: ir.Table) -> ir.Table:
    """Adjacent retained Q@Cs by their calculated times."""
    some = timed.filter(timed.dropped_at == 0)
    return adjacent(
        some.select(
            "qatc_id", "query_id", "plan_fingerprint", "cardinality",
            time=some.time_ms, time_sd=some.time_sd, unit=ibis.literal("ms"),
        )
    )  # fmt: skip


def post_checks(timed: ir.Table, qes: ir.Table, names: tuple[str, ...], source: str) -> tuple[PostCheck, ...]:
    """`timed`: each Q@C with its time and the step that dropped it; `qes`: derived, at start."""
    retained = timed.filter(timed.dropped_at == 0)
    pairs = monotone(timed)
    makers: Mapping[str, Callable[[], Found]] = {
        EXCESSIVE_VARIATION.name: lambda: _share(EXCESSIVE_VARIATION, retained),
        STRICT.name: lambda: _share(STRICT, pairs),
        RELAXED.name: lambda: _share(RELAXED, pairs),
        RETAINED: lambda: _difference(retained),
        DROPPED: lambda: _difference(timed.filter(timed.dropped_at != 0)),
        NON_VARYING: lambda: non_varying(qes),
    }
    return tuple(
        PostCheck(number, name, source, *makers[name]()) for number, name in enumerate(names, start=1)
    )


RETAINED: Final = "relative difference of measured and calculated time for retained Q@Cs"
DROPPED: Final = "relative difference of measured and calculated time for dropped Q@Cs"
NON_VARYING: Final = "non-varying model measures"

SIX: Final = (EXCESSIVE_VARIATION.name, STRICT.name, RELAXED.name, RETAINED, DROPPED, NON_VARYING)


def _share(check: Check, table: ir.Table) -> Found:
    found = judge.count((check,), table)[0]
    if not found.judged:
        return None, "share", found.unjudged or "there is nothing to judge", ()
    return found.share, "share", None, (f"{found.violations} of {found.judged}",)


def _difference(timed: ir.Table) -> Found:
    """Mean over the Q@Cs of |measured - calculated| / measured."""
    share = (timed.measured_ms - timed.time_ms).abs() / timed.measured_ms
    found = row(timed.aggregate(value=share.mean(), n=share.count()))
    if not found["n"]:
        return None, "share", "no such Q@C has both times", ()
    return found["value"], "share", None, (f"{found['n']} Q@Cs",)


def non_varying(qes: ir.Table) -> Found:
    """Model measures that have the same value in every QE; those never measured are told apart."""
    asked: dict[str, Any] = {}
    for name in MODEL:
        asked[f"{name}_low"], asked[f"{name}_high"] = qes[name].min(), qes[name].max()
    found = row(qes.aggregate(**asked))
    unknown = [name for name in MODEL if found[f"{name}_low"] is None]
    same = tuple(n for n in MODEL if n not in unknown and found[f"{n}_low"] == found[f"{n}_high"])
    reason = f"never measured: {', '.join(unknown)}" if unknown else None
    return float(len(same)), "count", reason, same


def precision(timed: ir.Table) -> Precision:
    """Standard deviation over the median, of measured and of calculated time, averaged over the retained."""
    kept_ones = timed.dropped_at == 0
    found = row(
        timed.aggregate(
            share=kept_ones.cast("float64").mean(),
            qes=timed.n.mean(where=kept_ones),
            measured=(timed.measured_sd / timed.measured_median).mean(where=kept_ones),
            calculated=(timed.time_sd / timed.time_ms).mean(where=kept_ones & (timed.time_ms > 0)),
        )
    )
    return Precision(found["share"], found["qes"], found["measured"], found["calculated"])
