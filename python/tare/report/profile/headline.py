"""The findings of a profile in a few sentences: what makes it invalid, what explains the variance, what it cost."""

from __future__ import annotations

from collections.abc import Iterator

from tare.protocol.profile.found import Findings
from tare.report.profile import words
from tare.report.profile.document import Factor, Overhead, ProfileReport
from tare.report.profile.names import Names, worded
from tare.report.words import counted, joined

_STATES = {
    "interrupted": "The recording was interrupted: this is what there was until then.",
    "server ended": "The server ended in mid-run: this is what was recorded until then.",
}

_LEAST_WAITING = 0.01  # of Var(T)
_LEAST_UNSEEN = 0.25  # of Var(T)


def grave_warnings(findings: Findings, valid: bool) -> list[str]:
    """Those of `findings.warnings` that come before any finding: what makes the profile invalid, which the analysis
    puts first, and that it has too few transactions, which tells how many there are and how many are needed."""
    if not findings.transactions:
        return []
    grave = [] if valid else [*findings.warnings[:1]]
    if findings.enough is not None:
        numbers = f"{findings.transactions:,} ", f" {findings.enough:,} "
        few = (one for one in findings.warnings if all(number in f" {one} " for number in numbers))
        grave += [one for one in few if one not in grave][:1]
    return grave


def headline(report: ProfileReport) -> Iterator[str]:
    """What comes after the grave warnings. The report's own `headline` is not looked at."""
    if report.transactions:
        yield f"{_verdict(report)}; {overhead(report.overhead)}."
    else:
        yield "This profile is not valid: it holds no transaction that counts."
    if report.of.state in _STATES:
        yield _STATES[report.of.state]
    if report.transactions:
        yield from _unseen(report)
        yield from _times(report)
        yield from _kinds(report)
        yield from _waiting(report)


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
    """Without a full stop."""
    if of is None:
        return "what the profiling itself took was not measured"
    if of.latency is None:
        return (
            f"about {words.percent(of.predicted)} overhead by the profiling itself, by arithmetic: there were too few "
            "windows to measure it"
        )
    return f"{words.plus_minus(of.latency)} overhead by the profiling itself"


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
