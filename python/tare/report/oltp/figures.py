"""The driver's distributions as the report's figures."""

from __future__ import annotations

from tare.protocol.oltp.precision import Batches, Estimate, Figures
from tare.protocol.oltp.precision import Precision as How
from tare.report.oltp.document import Counts, Figure, Precision, Times, Type
from tare.workload.oltp import events
from tare.workload.oltp.distribution import MS, QUANTILES, Distribution, quantile_name


def type_(of: events.TypeResult, share: float | None, how: dict[str, How]) -> Type:
    """`how`: the precision of each of the three."""
    return Type(
        name=of.name,
        share=share,
        counts=counts(of.counts),
        response=times(of.response, how["response"]),
        service=times(of.service, how["service"]),
        lag=times(of.lag, how["lag"]),
    )


def counts(counts: events.Counts) -> Counts:
    return Counts.model_validate(counts.model_dump())


def times(of: Distribution, how: How) -> Times:
    found = Figures(of, how)
    return Times(
        n=of.count,
        mean=figure(found.mean),
        variance=figure(found.variance),
        sd=figure(found.sd),
        cv=figure(found.cv),
        p=of.norm,
        norm=of.lp_norm_ms,
        power_mean=figure(found.power_mean),
        least=of.min / MS if of.count else None,
        quantiles={quantile_name(share): figure(found.quantile(share)) for share in QUANTILES},
        largest=of.max / MS if of.count else None,
    )


def figure(of: Estimate | None) -> Figure | None:
    return None if of is None else Figure(value=of.value, low=of.low, high=of.high)


def precision(how: How) -> Precision:
    if isinstance(how, Batches):
        return Precision(batches=how.batches, seconds=how.seconds, inflation=how.inflation, why=None)
    return Precision(batches=None, seconds=None, inflation=None, why=how.why)
