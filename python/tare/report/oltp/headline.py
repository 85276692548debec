"""The findings of a run in a few sentences: whether it is valid, what a user waited, where it stood still."""

from __future__ import annotations

from collections.abc import Iterator

from tare.report.numbers import bytes_text, thousands
from tare.report.oltp import words
from tare.report.oltp.document import OltpReport, Times, Type
from tare.report.words import counted, joined, number, two_digits

DIFFERENCE = (
    "Service time runs from when the driver could send a transaction, response time from when it was due: what lies "
    "between is the wait for a free connection, which a user waits too and a driver that only times its "
    "statements never shows."
)
CLOSED = (
    "In a closed loop each connection sends its next transaction when the last has ended, so that a slow server is "
    "asked for less: its times are no measure of what users wait who come when they come."
)


def headline(report: OltpReport) -> Iterator[str]:
    """The report's own `headline` is not looked at."""
    yield verdict(report)
    if report.all.response.n:
        yield _times(report)
    yield from _stalls(report)
    yield from _failures(report.all)
    yield _checks(report)
    yield _own(report)


def verdict(report: OltpReport) -> str:
    """First line: whether the figures may be relied on, and what speaks against it."""
    disturbed = [words.disturbance(one) for one in report.disturbances]
    if report.invalid:
        more = f" It was disturbed, too: {joined(disturbed)}." if disturbed else ""
        return f"This run is not valid: {joined(report.invalid)}.{more}"
    if disturbed:
        return f"Disturbed: {joined(disturbed)}, so that its times are not the server's alone. {_opened(report)}."
    return f"Valid: {confirmation(report)}."


def _opened(report: OltpReport) -> str:
    text = confirmation(report)
    return text[0].upper() + text[1:]


def confirmation(report: OltpReport) -> str:
    """Rate that a valid run sustained; without a full stop."""
    held = report.held
    if held.intended_rate is None or held.off is None:
        return f"a closed loop of {report.asked.connections} connections, {words.rate(held.rate)}"
    return (
        f"{words.due(held.intended_rate, report.asked)} and {words.rate(held.rate)} were completed "
        f"({words.percent_off(held.off)}), over {words.seconds(words.lasting(report.asked))}"
    )


def _times(report: OltpReport) -> str:
    longest = words.duration(report.all.response.largest or 0)
    figures = f"{_mean_and_p99(report.all.response)}, the longest {longest}."
    if report.held.intended_rate is None:
        return f"Service time: {figures}"
    return f"Response time: {figures} Service time: {_mean_and_p99(report.all.service)}."


def _mean_and_p99(of: Times) -> str:
    mean, p99 = of.mean, of.quantiles["p99"]
    assert mean is not None
    assert p99 is not None
    return f"mean {words.with_interval(mean)}, 99 of 100 within {words.with_interval(p99)}"


def _stalls(report: OltpReport) -> Iterator[str]:
    if not report.stalls:
        return
    longest = max(report.stalls, key=lambda stall: stall.duration_s)
    total = words.seconds(sum(stall.duration_s for stall in report.stalls))
    often = len(report.stalls) > 1
    times, in_all, most = (
        (f" {len(report.stalls)} times", " in all", "the longest time ") if often else ("", "", "")
    )
    yield (
        f"It stood still{times} for {total}{in_all}: transactions were due or running and none ended, "
        f"{most}{words.span(longest)}, with {thousands(longest.waiting)} waiting at its end."
    )


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
