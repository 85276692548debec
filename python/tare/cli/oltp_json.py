"""A transactional run as JSON: all that is known of it, times in ms where a name says so."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from tare.report.oltp.reasons import reasons
from tare.workload.oltp.distribution import QUANTILES, Distribution, quantile_name
from tare.workload.oltp.run import OltpRun
from tare.workload.oltp.told import OfType


def document(run: OltpRun, lab_run: int | None) -> dict[str, Any]:
    """`lab_run`: its number in the lab."""
    outcome = run.outcome
    return {
        "run": lab_run,
        "uuid": run.uuid,
        "valid": run.is_valid,
        "invalid": reasons(run.invalid),
        "not_judged": reasons(run.not_judged),
        "invalid_facts": [one.model_dump() for one in run.invalid],
        "not_judged_facts": [one.model_dump() for one in run.not_judged],
        "freezes": [one.model_dump() for one in run.freezes],
        "restarted": run.restarted,
        "workload": run.workload,
        "loaded": run.loaded.model_dump(),
        "server": {
            "dbms": run.server.dbms,
            "version": run.server.version,
            "url": run.url,
            "settings": dict(run.server.settings),
        },
        "isolation": run.isolation,
        "machine": asdict(run.machine),
        "asked": asdict(run.asked),
        "started_at": run.started_at,
        "ended_at": run.ended_at,
        "intended_rate": outcome.intended_rate,
        "rate": outcome.rate,
        "sustained_rate": run.sustained_rate,
        "all": _type(outcome.all),
        "types": [_type(one) for one in outcome.types],
        "mix": dict(zip((one.name for one in outcome.types), outcome.mix, strict=False)),
        "driver": outcome.own.model_dump(),
        "reconnects": outcome.reconnects,
        "warmup": {"ns": outcome.warmup_ns, "counts": outcome.warmup.model_dump()},
        "samples": outcome.samples,
        "seconds": [one.model_dump(exclude={"event"}) for one in run.seconds],
        "measures": [asdict(one) for one in run.measures],
        "unmeasured": dict(run.unmeasured or {}),
        "before": [one.model_dump(exclude={"event"}) for one in run.before],
        "after": [one.model_dump(exclude={"event"}) for one in run.after],
        "troubles": [asdict(one) for one in run.troubles],
        "deviations": list(run.deviations),
    }


def _type(one: OfType) -> dict[str, Any]:
    return {
        "name": one.name,
        "counts": one.counts.model_dump(),
        "response": _figures(one.response),
        "service": _figures(one.service),
        "lag": _figures(one.lag),
    }


def _figures(of: Distribution) -> dict[str, Any]:
    """Figures for a reader, and the distribution itself for whoever merges it."""
    quantiles = of.quantiles(QUANTILES)
    return {
        "count": of.count,
        "mean_ms": of.mean / 1e6 if of.count else None,
        "sd_ms": None if of.sd is None else of.sd / 1e6,
        "variance_ms2": None if of.variance is None else of.variance / 1e12,
        "cv": of.cv,
        "norm": of.norm,
        "lp_norm_ms": of.lp_norm_ms,
        "power_mean_ms": of.power_mean_ms,
        **{
            f"{quantile_name(share)}_ms": None if value is None else value / 1e6
            for share, value in zip(QUANTILES, quantiles, strict=True)
        },
        "max_ms": of.max / 1e6 if of.count else None,
        "distribution": of.model_dump(),
    }
