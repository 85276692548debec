"""The findings of a run in a few sentences: whether and for what one may rely on it first, then what a user waited."""

from __future__ import annotations

from collections.abc import Iterator

from tare.report.numbers import bytes_text, ms_text, thousands
from tare.report.oltp import words
from tare.report.oltp.document import OltpReport, Times, Type
from tare.report.oltp.reasons import not_judged, reason, reasons, stood_still
from tare.report.words import counted, joined, number, sentence, two_digits
from tare.workload.oltp.run import OltpRun
from tare.workload.oltp.verdict import Unsuccessful

DIFFERENCE = (
    "Service time runs from when the driver could send a transaction, response time from when it was due: what lies "
    "between is the wait for a free connection, which a user waits too and a driver that only times its "
    "statements never shows."
)
CLOSED = (
    "In a closed loop each connection sends its next transaction when the last has ended, so that a slow server is "
    "asked for less: its times are no measure of what users wait who come when they come."
)


def headline(report: OltpReport, run: OltpRun) -> Iterator[str]:
    """`report` is of `run`; its own `headline` is not looked at."""
    yield verdict(report, run)
    if report.all.response.n:
        yield _times(report)
    if not any(isinstance(one, Unsuccessful) for one in run.invalid):
        yield from _failures(report.all)
    yield _checks(report)
    yield _own(report)


def verdict(report: OltpReport, run: OltpRun) -> str:
    """Whether and for what one may rely on the run, with every finding that speaks against it."""
    if run.is_valid and not run.freezes:
        return f"Valid: {confirmation(report)}."
    if run.is_valid:
        return f"Valid, but it {stood_still(run.freezes)}: {confirmation(report)}."
    still = [f"It also {stood_still(run.freezes)}."] if run.freezes else []
    if run.invalid:
        disturbed = [sentence(reason(run.disturbed))] if run.disturbed else []
        return " ".join((f"This run is not valid: {'; '.join(reasons(run.invalid))}.", *still, *disturbed))
    return " ".join((f"This run {not_judged(run.not_judged)}.", *still))


def confirmation(report: OltpReport) -> str:
    """Rate of successful transactions that a run sustained; without a full stop."""
    held = report.held
    sustained = words.rate(held.rate if held.sustained_rate is None else held.sustained_rate)
    if held.intended_rate is None:
        return f"a closed loop of {report.asked.connections} connections, {sustained} succeeded"
    return (
        f"{words.due(held.intended_rate, report.asked)} and {sustained} succeeded"
        f"{words.percent_off(held.sustained_off)}, over {words.seconds(words.lasting(report.asked))}"
    )


def _times(report: OltpReport) -> str:
    longest = ms_text(report.all.response.largest or 0)
    figures = f"{_mean_and_p99(report.all.response)}, the longest {longest}."
    if report.held.intended_rate is None:
        return f"Service time: {figures}"
    return f"Response time: {figures} Service time: {_mean_and_p99(report.all.service)}."


def _mean_and_p99(of: Times) -> str:
    mean, p99 = of.mean, of.quantiles["p99"]
    assert mean is not None
    assert p99 is not None
    return f"mean {words.with_interval(mean)}, 99 of 100 within {words.with_interval(p99)}"


def _failures(every: Type) -> Iterator[str]:
    counts = every.counts
    called = {**words.COUNTS, "lost": "lost with their connection"}
    failed = {called[name]: n for name in words.FAILED if (n := getattr(counts, name))}
    if failed and counts.offered:
        share = sum(failed.values()) / counts.offered
        named = joined([f"{thousands(n)} {name}" for name, n in failed.items()])
        yield f"{two_digits(share)} of the transactions did not end as the workload has it: {named}."


def _checks(report: OltpReport) -> str:
    if not report.checks:
        return "No condition was held against the data."
    failing = [one for one in report.checks if one.before or one.after]
    if failing:
        return (
            f"Of {counted(len(report.checks), 'condition')} on the data {counted(len(failing), 'does', 'do')} not "
            f"hold: {joined([one.name for one in failing])}."
        )
    moments = [
        moment
        for moment in ("before", "after")
        if all(getattr(one, moment) is not None for one in report.checks)
    ]
    n = len(report.checks)
    every = "The one condition" if n == 1 else "Both conditions" if n == 2 else f"All {number(n)} conditions"
    holds = "holds" if n == 1 else "hold"
    return (
        f"{every} on the data {holds} {joined(moments)} the run."
        if moments
        else f"{every} on the data {holds}."
    )


def _own(report: OltpReport) -> str:
    held = report.held
    each = f", {held.own_cpu_ms_each:.2g} ms for each transaction" if held.own_cpu_ms_each else ""
    return (
        f"The driver itself took {words.seconds(held.own_cpu_s)} of CPU{each}, and "
        f"{bytes_text(held.own_peak_rss_bytes)} of memory at most."
    )
