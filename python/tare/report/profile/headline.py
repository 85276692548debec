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
from tare.report.kit.names import Names, middle
from tare.report.numbers import thousands
from tare.report.profile.document import Factor, Overhead, ProfileReport
from tare.report.profile.names import worded
from tare.report.profile.words import share, time
from tare.report.words import counted, joined

_INTERRUPTED = "The recording was interrupted: this is what there was until then."

_NONE_AFTER = (
    "No transaction ended in the last window, with no function watched: either the load ended, or the server hangs in "
    "a way that its threads do not show. Look at it."
)

_BEFORE = (Invalidity.LEFT_OUT, Doubt.FEW)
"""Reservations that come before any finding."""

BEHIND = (Invalidity.OVER_BUDGET, Invalidity.NOT_MEASURABLE, Invalidity.NOT_STEADY)
"""Reservations that come behind the first finding."""

_MOST_SHED = 4  # functions by name

_LEAST_WAITING = 0.01  # of Var(T)
_LEAST_UNSEEN = 0.25  # of Var(T)


def before_findings(findings: Findings) -> list[Reservation]:
    """Reservations that come before any finding: that transactions are left out, and that they are too few."""
    return [one for one in findings.reservations if one.kind in _BEFORE] if findings.transactions else []


def behind_first(findings: Findings) -> list[Reservation]:
    """Reservations that come behind the first finding: that the budget was not kept, or is not confirmed."""
    return [one for one in findings.reservations if one.kind in BEHIND] if findings.transactions else []


def headline(report: ProfileReport, behind: Sequence[str] = ()) -> Iterator[str]:
    """Sentences after those that come before any finding. `behind`: sentences that follow the first of these. The
    report's own `headline` is not looked at."""
    if report.transactions:
        cost = overhead(report.overhead)
        yield f"{_verdict(report)}; {cost}." if cost else f"{_verdict(report)}."
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
        names = [middle(name, 60) for name in one.functions[:_MOST_SHED]]
        more = len(one.functions) - len(names)
        listed = joined([*names, *([counted(more, "other")] if more else [])])
        what = "throughput" if one.measure == Measure.THROUGHPUT else "longer transactions"
        figure = share(one.overhead).text
        yield (
            f"In round {one.round} probes cost {figure} in {what}, above the budget of "
            f"{share(report.of.budget).text}: Tare let go of {listed}."
        )


def _verdict(report: ProfileReport) -> str:
    n = f"{thousands(report.transactions)} transaction{'' if report.transactions == 1 else 's'}"
    if report.durations is not None and report.durations.sd_ns == 0:
        return f"No variance to explain: {n} took {time(report.durations.mean_ns).text} each"
    if not report.factors or report.factors[0].share is None:
        return f"Nothing but the transaction itself was watched in {n}"
    first = report.factors[0]
    verb = "explain" if first.kind == "pair" else "explains"
    so_far = "So far " if report.enough is not None else ""
    return f"{so_far}{named(first)} {verb} {share(first.share).text} of the variance of {n}"


def _unseen(report: ProfileReport) -> Iterator[str]:
    own = next((one.own_covariance for one in report.nodes if one.parent is None), None)
    if own is not None and own.value >= _LEAST_UNSEEN and report.factors:
        yield f"{share(own).text} of it is the transaction's own: in no function that was watched."


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
    if of.verdict in (Verdict.TOO_WIDE, Verdict.UNSTEADY):
        return ""
    if of.latency is None:
        return (
            f"about {share(of.predicted).text} overhead by the profiling itself, by arithmetic: there were too few "
            "windows to measure it"
        )
    return f"{share(of.latency).text} overhead by the profiling itself"


def _times(report: ProfileReport) -> Iterator[str]:
    of = report.durations
    if of is not None:
        ratio = f" ({of.sd_ns / of.mean_ns:.2f} times the mean)" if of.mean_ns else ""
        whose = "In the server, without waiting for the client, a" if report.server_time else "A"
        yield (
            f"{whose} transaction took {time(of.mean_ns).text} in the mean with a standard deviation of "
            f"{time(of.sd_ns).text}{ratio}; 99 of 100 took {time(of.p99_ns).text} at most, the longest "
            f"{time(of.max_ns).text}."
        )


def _kinds(report: ProfileReport) -> Iterator[str]:
    if len(report.types) > 1 and report.between_types is not None:
        yield (
            f"{share(report.between_types).text} of the variance lies between {counted(len(report.types), 'type')} "
            "of transactions: it is inherent in what was requested. The rest is within types, and may be avoidable."
        )


def _waiting(report: ProfileReport) -> Iterator[str]:
    if report.on_cpu is not None:
        yield (
            f"{share(report.on_cpu).text} of the variance is CPU time; the rest is time off the CPU: waiting, "
            "or ready to run."
        )
    if report.waiting is not None and abs(report.waiting) >= _LEAST_WAITING:
        yield f"{share(report.waiting).text} of it is waiting for the client between statements."
