"""The findings of a profile in a few sentences: what makes it invalid, what explains the variance, what it cost.

A server that ended or hangs comes first, then what spoils the figures. The overhead is in the sentence that names the
first factor only where its interval says something.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tare.lab.profile_about import State
from tare.protocol.profile.found import Doubt, Findings, Invalidity, Reservation
from tare.protocol.profile.measured import Measure
from tare.protocol.profile.validity import Verdict
from tare.report.kit.names import Names
from tare.report.profile import words
from tare.report.profile.document import Factor, Figure, Loss, Overhead, ProfileReport
from tare.report.profile.names import worded
from tare.report.words import counted, joined

_INTERRUPTED = "The recording was interrupted: this is what there was until then."

_NONE_AFTER = (
    "No transaction ended in the last window, with no function watched: either the load ended, or the server hangs in "
    "a way that its threads do not show. Look at it."
)

_BEFORE = (Invalidity.LEFT_OUT, Doubt.FEW)
"""Reservations that come before any finding."""

_BEHIND = (Invalidity.OVER_BUDGET, Invalidity.NOT_MEASURABLE, Invalidity.NOT_STEADY)
"""Reservations that come behind the first finding."""

_MOST_SHED = 4  # functions by name

_LEAST_WAITING = 0.01  # of Var(T)
_LEAST_UNSEEN = 0.25  # of Var(T)


def before_findings(findings: Findings) -> list[Reservation]:
    """Reservations that come before any finding: that transactions are left out, and that they are too few."""
    return [one for one in findings.reservations if one.kind in _BEFORE] if findings.transactions else []


def behind_first(findings: Findings) -> list[Reservation]:
    """Reservations that come behind the first finding: that the budget was not kept, or is not confirmed."""
    return [one for one in findings.reservations if one.kind in _BEHIND] if findings.transactions else []


def headline(report: ProfileReport, behind: Sequence[str] = ()) -> Iterator[str]:
    """Sentences after those that come before any finding. `behind`: sentences that follow the first of these. The
    report's own `headline` is not looked at."""
    if report.transactions:
        cost = overhead(report.overhead)
        yield f"{_verdict(report)}; {cost}." if cost else f"{_verdict(report)}."
        if report.overhead is not None and report.overhead.loss is not None:
            yield loss(report.overhead, report.overhead.loss)
    else:
        yield "This profile is not valid: it holds no transaction that counts."
    yield from behind
    if report.failure is None and report.rates.before and report.rates.after == 0:
        yield _NONE_AFTER
    if report.of.state == State.INTERRUPTED:
        yield _INTERRUPTED
    yield from _shed(report)
    if report.transactions:
        yield from _unseen(report)
        yield from _times(report)
        yield from _kinds(report)
        yield from _waiting(report)


def _shed(report: ProfileReport) -> Iterator[str]:
    for one in report.shed:
        names = [words.middle(name, 60) for name in one.functions[:_MOST_SHED]]
        more = len(one.functions) - len(names)
        listed = joined([*names, *([counted(more, "other")] if more else [])])
        what = "throughput" if one.measure == Measure.THROUGHPUT else "longer transactions"
        figure = words.with_interval(one.overhead)
        allowed = words.percent(report.of.budget if one.allowed is None else one.allowed)
        yield (
            f"In round {one.round} probes cost {figure} in {what}, above the {allowed} allowed: Tare let go of "
            f"{listed}."
        )


def _verdict(report: ProfileReport) -> str:
    n = f"{words.thousands(report.transactions)} transaction{'' if report.transactions == 1 else 's'}"
    if report.durations is not None and report.durations.sd_ns == 0:
        return f"No variance to explain: {n} took {words.ns(report.durations.mean_ns)} each"
    if not report.factors or report.factors[0].share is None:
        return f"Nothing but the transaction itself was watched in {n}"
    first = report.factors[0]
    verb = "explain" if first.kind == "pair" else "explains"
    so_far = "So far " if report.enough is not None else ""
    return f"{so_far}{named(first)} {verb} {words.with_interval(first.share)} of the variance of {n}"


def _unseen(report: ProfileReport) -> Iterator[str]:
    own = next((one.own_covariance for one in report.nodes if one.parent is None), None)
    if own is not None and own.value >= _LEAST_UNSEEN and report.factors:
        yield f"{words.with_interval(own)} of it is the transaction's own: in no function that was watched."


def named(of: Factor, most: int = 60) -> str:
    """A factor in running text; `most`: characters of each of its names."""
    names = Names((*of.names, *of.beneath))
    if of.kind == "pair":
        return f"{joined([names.cut(one, most) for one in of.names])} together"
    return worded(of, lambda name: names.cut(name, most))


def overhead(of: Overhead | None) -> str:
    """Without a full stop; empty where its interval says nothing."""
    if of is None:
        return "what the profiling itself took was not measured"
    if of.loss is not None:
        return ""  # a sentence of its own
    if of.verdict in (Verdict.TOO_WIDE, Verdict.UNSTEADY):
        return ""
    if of.latency is None:
        return (
            f"about {words.percent(of.predicted)} overhead by the profiling itself, by arithmetic: there were too few "
            "windows to measure it"
        )
    return f"{words.plus_minus(of.latency)} overhead by the profiling itself"


def loss(of: Overhead, lost: Loss) -> str:
    """A sentence: measured, predicted and allowed, over the whole profile and while all probes were on."""
    average = _measured(of, lost.average, lost.allowed_average)
    on = _measured(of, lost.on, lost.allowed_on)
    return (
        f"Throughput lost to the profiling: {average} over the whole profile "
        f"({_bounds(lost.predicted_average, lost.allowed_average)}), and {on} while all probes were on "
        f"({_bounds(lost.predicted_on, lost.allowed_on)})."
    )


def _measured(of: Overhead, figure: Figure | None, allowed: float | None) -> str:
    if figure is None or of.verdict in (Verdict.TOO_FEW, Verdict.UNSTEADY):
        return "not measured"
    if allowed is not None and figure.high - figure.low > allowed and figure.low <= allowed < figure.high:
        return f"not measurable under this load ({words.interval(figure)})"
    return words.with_interval(figure)


def _bounds(predicted: float, allowed: float | None) -> str:
    limit = "" if allowed is None else f", allowed {words.percent(allowed)}"
    return f"predicted {words.percent(predicted)}{limit}"


def _times(report: ProfileReport) -> Iterator[str]:
    of = report.durations
    if of is not None:
        ratio = f" ({of.sd_ns / of.mean_ns:.2f} times the mean)" if of.mean_ns else ""
        whose = "In the server, without waiting for the client, a" if report.server_time else "A"
        yield (
            f"{whose} transaction took {words.ns(of.mean_ns)} in the mean with a standard deviation of "
            f"{words.ns(of.sd_ns)}{ratio}; 99 of 100 took {words.ns(of.p99_ns)} at most, the longest "
            f"{words.ns(of.max_ns)}."
        )


def _kinds(report: ProfileReport) -> Iterator[str]:
    if len(report.types) > 1 and report.between_types is not None:
        yield (
            f"{words.percent(report.between_types)} of the variance lies between {counted(len(report.types), 'type')} "
            "of transactions: it is inherent in what was asked for. The rest is within types, and may be avoidable."
        )


def _waiting(report: ProfileReport) -> Iterator[str]:
    if report.on_cpu is not None:
        yield (
            f"{words.with_interval(report.on_cpu)} of the variance is CPU time; the rest is time off the CPU: waiting, "
            "or ready to run."
        )
    if report.waiting is not None and abs(report.waiting) >= _LEAST_WAITING:
        yield f"{words.percent(report.waiting)} of it is waiting for the client between statements."
