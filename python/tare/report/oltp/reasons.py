"""Why a run is not valid, and what its figures do not show, in words. No other part of Tare words these facts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tare.report.numbers import ms_text, thousands
from tare.report.oltp import words
from tare.report.words import joined, two_digits
from tare.workload.oltp import verdict
from tare.workload.oltp.verdict import Fact, Freeze

_S = 1e9  # ns
_UNSUCCESSFUL = {
    "deadlocks": "given up after deadlocks",
    "serialization_failures": "given up after serialization failures",
    "lock_timeouts": "given up after lock time-outs",
    "lost": "lost with their connection",
    "errors": "ended in an error of the DBMS",
}


def reasons(facts: Sequence[Fact]) -> list[str]:
    """A clause for each, without a full stop. That connections broke says when the server restarted."""
    restarted = any(isinstance(one, verdict.ServerRestarted) for one in facts)
    broke = any(isinstance(one, verdict.ConnectionsBroke) for one in facts)
    told = [one for one in facts if not (broke and isinstance(one, verdict.ServerRestarted))]
    told.sort(key=lambda one: not isinstance(one, verdict.ConnectionsBroke))  # the cause comes first
    return [reason(one, restarted=restarted) for one in told]


def reason(fact: Fact, *, restarted: bool = False) -> str:
    """`restarted`: the server did during the run."""
    match fact:
        case verdict.Sentence():
            return fact.text
        case verdict.ServerRestarted():
            return "the server restarted during the run"
        case verdict.ConnectionsBroke():
            return _broke(fact, restarted)
        case verdict.CutShort():
            why = fact.failure or "it was asked to stop"
            return f"it was cut short after {fact.after_ns / _S:.1f} s of {fact.length_ns / _S:.1f} s: {why}"
        case verdict.RateMissed():
            off = 100 * (fact.rate / fact.intended_rate - 1)
            return (
                f"it missed its rate: {fact.rate:.2f}/s were started of {fact.intended_rate:.2f}/s intended "
                f"({off:+.1f}%)"
            )
        case verdict.BacklogGrew():
            return (
                f"its backlog grew: at least {thousands(fact.third)} transactions were due and not started all "
                f"through its third quarter, at least {thousands(fact.last)} all through its last"
            )
        case verdict.Shed():
            return f"{_of(fact.count, fact.offered)} were shed, being more than {words.seconds(fact.late_ns / _S)} late"
        case verdict.Unstarted():
            when = (
                "before it was cut short"
                if fact.drain_ns is None
                else f"within {words.seconds(fact.drain_ns / _S)} after the last was due"
            )
            return f"{_of(fact.count, fact.offered)} were never started {when}"
        case verdict.Abandoned():
            return f"{thousands(fact.count)} transactions did not end while the driver waited; they are counted as lost"
        case verdict.Unsuccessful():
            return _unsuccessful(fact)
        case verdict.ConditionFailed():
            return f"condition {fact.name} does not hold {fact.moment} the run: {words.rows(fact.failing)} failing"
        case verdict.ConditionsUnchecked():
            return "the conditions were not checked on the data after the run"
        case verdict.RateLate():
            return (
                f"its rate was not judged: {_of(fact.late, fact.offered)} were started after the schedule's end, "
                f"which a delay of {words.seconds(fact.delay_ns / _S)} explains in a run of {fact.length_ns / _S:.1f} s"
            )
        case verdict.RateTooFew():
            return (
                f"its rate was not judged: {thousands(fact.offered)} transactions are too few to show a difference "
                "of 1%"
            )
        case verdict.BacklogShort():
            return (
                "its backlog was not judged: it grew in the last quarter, which a delay of "
                f"{words.seconds(fact.delay_ns / _S)} explains in a run of {fact.length_ns / _S:.1f} s"
            )
        case verdict.Disturbed():
            return _disturbed(fact)
        case verdict.Unwatched():
            return (
                f"Tare could read the machine in {thousands(fact.seconds)} of {thousands(fact.of_seconds)} s only, as "
                "where others keep the CPUs busy"
            )
    raise AssertionError(f"{type(fact).__name__} has no words")


def not_judged(facts: Sequence[Fact]) -> str:
    """The sentence of a run that is neither valid nor invalid, without its subject and full stop."""
    every = reasons(facts)
    neighbours = (verdict.Disturbed, verdict.Unwatched)
    if all(isinstance(one, neighbours) for one in facts):
        return f"was disturbed: {'; '.join(every)}"
    if any(isinstance(one, neighbours) for one in facts):
        return f"cannot be judged: {'; '.join(every)}"
    return f"is too short to be judged: {'; '.join(every)}"


def stood_still(freezes: Sequence[Freeze]) -> str:
    """Put one or more freezes into words: the longest, and how many there are."""
    longest = max(freezes, key=lambda one: one.length_ns)
    length = words.seconds(longest.length_ns / _S)
    where = (
        f"from {_at(longest.start_ns)} on, with {thousands(longest.waiting)} transactions waiting at its end"
    )
    if len(freezes) == 1:
        return f"stood still for {length} {where}"
    return f"stood still {len(freezes)} times, for up to {length} ({where})"


def spans(freezes: Sequence[Freeze]) -> Iterator[str]:
    """Each freeze in short: "2.02 s from 12.0 s on"."""
    return (f"{words.seconds(one.length_ns / _S)} from {_at(one.start_ns)} on" for one in freezes)


def _at(ns: int) -> str:
    return f"{ns / _S:.1f} s"


def _of(count: int, offered: int) -> str:
    return f"{thousands(count)} of {thousands(offered)} transactions"


def _broke(fact: verdict.ConnectionsBroke, restarted: bool) -> str:
    which = (
        "its only connection"
        if fact.connections == 1
        else f"{thousands(fact.broken)} of {thousands(fact.connections)} connections"
    )
    again = (
        "no connection could be opened again"
        if fact.back_ns is None
        else f"the first was open again after {ms_text(max(0, fact.back_ns - fact.at_ns) / 1e6)}"
    )
    if restarted:
        return f"the server restarted at {_at(fact.at_ns)}: {which} broke, and {again}"
    return f"{which} broke at {_at(fact.at_ns)}, and {again}"


def _unsuccessful(fact: verdict.Unsuccessful) -> str:
    ends = {text: count for name, text in _UNSUCCESSFUL.items() if (count := getattr(fact, name))}
    every = joined([f"{thousands(count)} {text}" for text, count in ends.items()])
    share = two_digits(sum(ends.values()) / fact.offered)
    return f"{share} of {thousands(fact.offered)} transactions did not succeed: {every}"


def _disturbed(fact: verdict.Disturbed) -> str:
    users = [("others", fact.others_ratio), ("the hypervisor", fact.steal_ratio)]
    used = joined([f"{who} used {two_digits(share)}" for who, share in users if share >= 0.05])
    return (
        f"{used} of the CPUs in {thousands(fact.seconds)} of {thousands(fact.of_seconds)} s, which kept "
        f"transactions waiting for an estimated {two_digits(fact.wait_ratio)} of their service time"
    )
