"""What pages and Markdown show of a run: the document's numbers as text, in rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tare.report.numbers import bytes_text, thousands
from tare.report.oltp import words
from tare.report.oltp.document import OltpReport, Times, Type
from tare.report.words import two_digits
from tare.workload.oltp.distribution import QUANTILES, quantile_name

TIMES = {"response": "response", "service": "service", "lag": "start lag"}

_QUANTILES = tuple(quantile_name(share) for share in QUANTILES)

TIMES_HEADINGS = ("mean", *_QUANTILES, "longest")
"""Of the table of times, ms."""

SPREAD_HEADINGS = ("sd", "variance, ms²", "cv", "L_p")
"""Of the table of how much times differ, in ms where nothing else is said."""

_ENDS = tuple(name for name in words.COUNTS if not name.startswith("retried_"))
_ALWAYS = ("offered", "started", "committed", "rolled_back", "errors", "unstarted", "retried")


@dataclass(frozen=True, slots=True)
class Cell:
    value: str
    interval: str = ""

    @property
    def text(self) -> str:
        return f"{self.value} {self.interval}".rstrip()


def every_type(report: OltpReport) -> list[Type]:
    """All together first."""
    return [report.all, *report.types]


def times_rows(report: OltpReport) -> Iterator[dict[str, Any]]:
    """A row for each type and time, with what was measured of it."""
    kinds = ["response", "service", "lag"] if report.held.intended_rate is not None else ["service"]
    for one in every_type(report):
        if one.service.n:
            yield {
                "name": "all types" if one is report.all else one.name,
                "n": thousands(one.service.n),
                "rows": [
                    {
                        "times": TIMES[kind],
                        "kind": kind,
                        "cells": times_cells(getattr(one, kind)),
                        "spread": spread_cells(getattr(one, kind)),
                    }
                    for kind in kinds
                ],
            }


def times_cells(of: Times) -> list[Cell]:
    """In the order of TIMES_HEADINGS."""
    quantiles = (Cell(*words.cells(of.quantiles[name], 3)) for name in _QUANTILES)
    return [Cell(*words.cells(of.mean)), *quantiles, Cell(words.largest(of.largest))]


def spread_cells(of: Times) -> list[Cell]:
    """In the order of SPREAD_HEADINGS."""
    return [Cell(*words.cells(one)) for one in (of.sd, of.variance, of.cv, of.power_mean)]


def ends(report: OltpReport) -> dict[str, Any]:
    """What became of the arrivals; columns in which nothing happened are left out, but for the main ones."""
    found = [(one, _counts(one)) for one in every_type(report)]
    shown = [name for name in _ENDS if name in _ALWAYS or any(counts[name] for _, counts in found)]
    return {
        "headings": ["asked", *(words.COUNTS[name] for name in shown)],
        "rows": [
            {
                "name": "all types" if one is report.all else one.name,
                "cells": [
                    "" if one.share is None else two_digits(one.share),
                    *(thousands(counts[name]) for name in shown),
                ],
            }
            for one, counts in found
        ],
    }


def _counts(of: Type) -> dict[str, int]:
    counts = of.counts
    return {name: getattr(counts, name) for name in _ENDS}


def asked(report: OltpReport) -> list[tuple[str, str]]:
    one, data = report.asked, report.data
    arrivals = {
        "closed": "closed loop: each connection sends its next when the last has ended",
        "constant": "open loop, evenly spaced",
        "poisson": "open loop, Poisson",
        "trace": f"open loop, by a trace: {one.trace}",
    }[one.arrivals]
    found = [
        (
            "workload",
            ", ".join((f"{data.workload}, scale {data.scale:g}", *_pairs(data.options))),
        ),
        ("arrivals", arrivals),
        ("schedule", phases(report)),
        ("connections", thousands(one.connections)),
        ("mix", ", ".join(f"{name} {share:.4g}%" for name, share in one.mix.items() if share)),
        ("isolation", one.isolation.replace("_", " ")),
        ("warm-up, drain", f"{words.seconds(one.warmup_s)}, {words.seconds(one.drain_s)}"),
        ("tries of a transaction", str(one.tries)),
        ("seeds", f"data {data.seed}, run {one.seed}"),
    ]
    if one.options:
        found.insert(5, ("options", ", ".join(_pairs(one.options))))
    if one.think:
        found.append(("think time", f"the workload's, times {one.think:g}"))
    if one.shed_after_s is not None:
        found.append(("shed if later than", words.seconds(one.shed_after_s)))
    return found


def _pairs(options: Mapping[str, str]) -> Iterator[str]:
    return (f"{name} = {value}" for name, value in options.items())


def held(report: OltpReport) -> list[tuple[str, str]]:
    one = report.held
    each = f", {one.own_cpu_ms_each:.2g} ms a transaction" if one.own_cpu_ms_each else ""
    off = f" ({words.percent_off(one.off)})" if one.off is not None else ""
    found = [
        ("rate", f"{words.rate(one.rate)}{off}"),
        ("measured part", words.seconds(round(one.took_s, 2))),
        ("warm-up with its drain", f"{words.seconds(round(one.warmup_s, 2))}, {_warmup(report)}"),
        ("isolation at work", one.isolation),
        ("connections made again", thousands(one.reconnects)),
        ("stood still", _stood_still(report)),
        ("driver's CPU", f"{words.seconds(round(one.own_cpu_s, 2))}{each}"),
        ("driver's memory", f"{bytes_text(one.own_peak_rss_bytes)} at most"),
        ("conditions on the data", _conditions(report)),
    ]
    if one.samples:
        found.append(("samples kept", thousands(one.samples)))
    return found


def phases(report: OltpReport) -> str:
    return ", then ".join(
        words.seconds(one.duration_s)
        if one.rate is None
        else f"{words.rate(one.rate)} for {words.seconds(one.duration_s)}"
        for one in report.asked.phases
    )


def _warmup(report: OltpReport) -> str:
    counts = report.held.warmup
    return f"{thousands(counts.committed + counts.rolled_back)} transactions"


def _stood_still(report: OltpReport) -> str:
    if not report.stalls:
        return "in no second"
    listed = [words.span(one.first, one.last) for one in report.stalls]
    return ", ".join(listed[:4]) + (f" and {len(listed) - 4} times more" if len(listed) > 4 else "")


def _conditions(report: OltpReport) -> str:
    if not report.checks:
        return "not held against it"
    failing = sum(bool(one.before or one.after) for one in report.checks)
    return f"{failing} of {len(report.checks)} do not hold" if failing else f"all {len(report.checks)} hold"


def precision(report: OltpReport) -> str:
    """How the intervals were had, in a sentence or two."""
    one = report.precision["response" if report.held.intended_rate is not None else "service"]
    if one.why is not None or one.inflation is None:
        return f"No interval can be given ({one.why}): the figures describe the transactions of this run and no others."
    times = f"{one.inflation:.1f}" if one.inflation < 100 else f"{one.inflation:,.0f}"
    alike = (
        "transactions that follow each other were no more alike than any two"
        if one.inflation < 1.05
        else f"transactions that follow each other were alike, so that {times} of them tell as much as one"
    )
    return (
        f"In brackets: 95% intervals. By {one.batches} batches of {one.seconds} s, {alike}; n over that is what every "
        "interval rests on (percentiles: order statistics; mean and variance: the wider of a plain and a logarithmic "
        "scale, the variance by the fourth moment). "
        "Assumed: neighbours are alike in all figures no more than in their means. A figure "
        "without brackets describes the transactions of this run and no others: they are too few, or too much alike, "
        "for more."
    )


def failing(report: OltpReport) -> list[Any]:
    return [one for one in report.checks if one.rows]
