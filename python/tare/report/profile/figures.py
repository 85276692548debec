"""Findings as the report's figures: what is not a number becomes null, names lose what no reader can see."""

from __future__ import annotations

import math

from tare.protocol.profile import found
from tare.protocol.profile.overhead import Turn
from tare.protocol.profile.validity import verdict
from tare.report.kit.names import whole
from tare.report.profile import document


def figure(of: found.Estimate | None) -> document.Figure | None:
    if of is None or not all(math.isfinite(one) for one in (of.value, of.low, of.high)):
        return None
    return document.Figure(value=of.value, low=of.low, high=of.high)


def number(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def node(of: found.Node) -> document.Node:
    return document.Node(
        path=of.path,
        parent=of.parent,
        function=of.function,
        name=whole(of.name),
        inferred=of.inferred,
        depth=of.depth,
        height=of.height,
        calls=of.calls,
        mean_ns=of.mean_ns,
        sd_ns=of.sd_ns,
        variance=figure(of.variance),
        own_mean_ns=of.own_mean_ns,
        own_variance=number(of.own_variance),
        own_covariance=figure(of.own_covariance),
        covariance=number(of.covariance),
        residue=number(of.residue),
        sites=[
            document.Site(
                address=f"{one.address:#x}" if one.address else "",
                caller=whole(one.caller),
                calls=one.calls,
                variance=number(one.variance),
            )
            for one in of.sites
        ],
        children=list(of.children),
        recursion=of.recursion,
    )


def pair(of: found.Pair) -> document.Pair:
    return document.Pair(parent=of.parent, left=of.left, right=of.right, covariance=number(of.covariance))


def factor(of: found.Factor) -> document.Factor:
    return document.Factor(
        names=[whole(one) for one in of.names],
        kind=of.kind,
        functions=list(of.functions),
        share=figure(of.share),
        height=of.height,
        specificity=of.specificity,
        score=number(of.score),
        own_covariance=figure(of.own_covariance),
        instances=of.instances,
        mean_ns=of.mean_ns,
        inferred=of.inferred,
        beneath=[whole(one) for one in of.beneath],
        others=of.others,
    )


def tail(of: found.Tail) -> document.Tail:
    return document.Tail(
        name=whole(of.name), mean_ns=of.mean_ns, tail_ns=of.tail_ns, excess=figure(of.excess)
    )


def type_(of: found.Kind) -> document.Type:
    fields = {one: getattr(of, one) for one in document.Type.model_fields}
    return document.Type.model_validate({**fields, "name": whole(of.name) or NO_LABEL})


NO_LABEL = "(no label)"


def turn(of: Turn) -> document.Turn:
    return document.Turn(**{one: getattr(of, one) for one in document.Turn.model_fields})


def overhead(of: found.Overhead | None, budget: float | None) -> document.Overhead | None:
    if of is None:
        return None
    return document.Overhead(
        windows=of.windows,
        latency=figure(of.latency),
        throughput=figure(of.throughput),
        predicted=of.predicted,
        events=of.events,
        pair_ns=of.pair_ns,
        markers=of.markers,
        loss=_loss(of.loss, budget),
        growth=number(of.growth),
        verdict=verdict(of, budget),
    )


def _loss(of: found.Loss | None, budget: float | None) -> document.Loss | None:
    if of is None:
        return None
    markers = of.markers
    return document.Loss(
        average=figure(of.average),
        in_windows=figure(of.in_windows),
        on=figure(of.on),
        predicted_average=of.predicted_average,
        predicted_on=of.predicted_on,
        allowed_average=budget,
        allowed_on=of.allowed_on,
        markers=None if markers is None else figure(markers.figure),
        markers_by=None if markers is None else markers.by,
        markers_pairs=0 if markers is None else markers.pairs,
        predicted_markers=of.predicted_markers,
        probed_share=of.probed_share,
        markers_share=of.markers_share,
        counting=of.counting,
        own=of.own,
    )


def equation(of: found.Findings) -> document.Equation:
    own = [one.own_covariance.value for one in of.nodes]
    residues = [one.residue for one in of.nodes]
    return document.Equation(
        paths=len(of.nodes),
        residue=number(max(residues, default=math.nan)),
        own_sum=number(math.fsum(own)) if own else None,
    )


def durations(of: found.Findings) -> document.Durations | None:
    if not of.transactions:
        return None
    return document.Durations(**{one: getattr(of, one) for one in document.Durations.model_fields})
