"""Run made of those of several clients that loaded one database at the same time.

Counts and distributions add up exactly. What does not is stated among the deviations: clients begin at different
instants, and a second's percentiles are those of the client that has the largest.
"""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import reduce
from operator import add

from tare.errors import UsageError
from tare.protocol.oltp.comparable import SAME, SERVER
from tare.workload.oltp.distribution import merge
from tare.workload.oltp.events import Counts, DriverCost, Outcome, Second, Stall, Summary, TypeResult
from tare.workload.oltp.run import Asked, OltpRun, Phase

LEAST_OVERLAP = 0.9
"""Share of the schedule in which all clients must send."""

_S = 1e9
_CLOCK_S = 1.0  # by which a machine's date may be moved between two clients' starts
_OF_MACHINE = "machine_"  # measures of a machine, which has one client where clients run on several

_OWN = ("phases", "connections", "clients", "machine")
"""Facts by which runs that are compared must not differ, and clients of one load may."""

_ALIKE: Sequence[tuple[str, Callable[[OltpRun], str]]] = (
    *SERVER,
    *(fact for fact in SAME if fact[0] not in _OWN),
    ("lengths of phases", lambda run: ", ".join(f"{phase.duration_s:g} s" for phase in run.asked.phases)),
    ("norm", lambda run: f"{run.outcome.all.response.norm:g}"),
)


def merge_clients(runs: Mapping[str, OltpRun]) -> OltpRun:
    """Merge runs, named as in the lab. Raises UsageError for runs that are not clients of one load."""
    _refuse(runs)
    ordered = sorted(runs.items(), key=lambda item: _start_s(item[1]))
    clients = [run for _, run in ordered]
    first = clients[0]
    is_one_machine = all(_same_boot(first, run) for run in clients)
    offsets = [_offset_s(first, run) for run in clients]
    return replace(
        first,
        uuid=str(uuid.uuid5(uuid.NAMESPACE_OID, " ".join(sorted(run.uuid for run in clients)))),
        ended_at=max(clients, key=lambda run: datetime.fromisoformat(run.ended_at)).ended_at,
        asked=_asked(clients),
        outcome=_outcome(ordered, offsets),
        seconds=tuple(_seconds(clients, offsets)),
        measures=tuple(
            measure
            for measure in first.measures
            if is_one_machine or not measure.name.startswith(_OF_MACHINE)
        ),
        before=next((run.before for run in clients if run.before), ()),
        after=next((run.after for run in reversed(clients) if run.after), ()),
        troubles=tuple(
            replace(trouble, at_s=trouble.at_s + offset, text=f"{name}: {trouble.text}")
            for (name, run), offset in zip(ordered, offsets, strict=True)
            for trouble in run.troubles
        ),
        deviations=tuple(_deviations(ordered, offsets, is_one_machine=is_one_machine)),
    )


# Refusals ------------------------------------------------------------------------------------
def _refuse(runs: Mapping[str, OltpRun]) -> None:
    names, clients = list(runs), list(runs.values())
    if len(clients) < 2 or len({run.uuid for run in clients}) < len(clients):
        raise UsageError("a merge needs two or more different runs", "name each client's run once: o3 o4")
    for name, run in runs.items():
        if run.asked.step is not None or run.asked.merged_from:
            what = "a step of a curve" if run.asked.step is not None else "merged already"
            raise UsageError(f"{name} is {what}", "name runs of `tare bench oltp run`, one for each client")
    for what, fact in _ALIKE:
        differing = next((name for name, run in runs.items() if fact(run) != fact(clients[0])), None)
        if differing is not None:
            raise UsageError(
                f"{names[0]} and {differing} differ in {what}: {fact(clients[0])}, {fact(runs[differing])}",
                "merge runs that the clients made with the same options, but for --rate, --connections and --seed",
            )
    seeds: dict[int, str] = {}
    for name, run in runs.items():
        if run.asked.seed in seeds:
            raise UsageError(
                f"{seeds[run.asked.seed]} and {name} have the same seed: they sent the same transactions",
                "run the clients again, each with its own --seed or with none",
            )
        seeds[run.asked.seed] = name
    starts = [_start_s(run) for run in clients]
    length = _length_s(clients[0])
    if length - (max(starts) - min(starts)) < LEAST_OVERLAP * length:
        raise UsageError(
            f"the measured parts of {', '.join(names)} begin {max(starts) - min(starts):.1f} s apart, of {length:g} s",
            "start the clients together, with the same --warmup, or let them run longer",
        )


def _start_s(run: OltpRun) -> float:
    return datetime.fromisoformat(run.started_at).timestamp()


def _same_boot(a: OltpRun, b: OltpRun) -> bool:
    """Whether two clients ran on one machine: alike, and started at the same instant."""
    booted = [_start_s(run) - run.outcome.started_ns / _S for run in (a, b)]
    return a.machine == b.machine and abs(booted[0] - booted[1]) < _CLOCK_S


def _offset_s(first: OltpRun, run: OltpRun) -> float:
    """Begin of a measured part after the first one's: by the monotonic clock, or between machines by the date."""
    if _same_boot(first, run):
        return (run.outcome.started_ns - first.outcome.started_ns) / _S
    return _start_s(run) - _start_s(first)


def _length_s(run: OltpRun) -> float:
    return sum(phase.duration_s for phase in run.asked.phases)


# Parts of the merged run ---------------------------------------------------------------------
def _asked(clients: Sequence[OltpRun]) -> Asked:
    first = clients[0].asked
    rates = [[run.asked.phases[place].rate for run in clients] for place in range(len(first.phases))]
    return replace(
        first,
        phases=tuple(
            Phase(_sum(each), phase.duration_s) for each, phase in zip(rates, first.phases, strict=True)
        ),
        connections=sum(run.asked.connections for run in clients),
        merged_from=tuple(run.uuid for run in clients),
    )


def _outcome(ordered: Sequence[tuple[str, OltpRun]], offsets: Sequence[float]) -> Outcome:
    outcomes = [run.outcome for _, run in ordered]
    first = outcomes[0]
    ends_ns = [offset * _S + outcome.took_ns for offset, outcome in zip(offsets, outcomes, strict=True)]
    round_trips = _sum(outcome.round_trips for outcome in outcomes)
    return first.model_copy(
        update={
            "took_ns": int(max(ends_ns)),
            "intended_rate": _sum(outcome.intended_rate for outcome in outcomes),
            "rate": sum(outcome.rate for outcome in outcomes),
            "invalid": tuple(f"{name}: {reason}" for name, run in ordered for reason in run.outcome.invalid),
            "types": tuple(
                _type_result([outcome.types[place] for outcome in outcomes])
                for place in range(len(first.types))
            ),
            "all": _type_result([outcome.all for outcome in outcomes]),
            "warmup": _added(outcome.warmup for outcome in outcomes),
            "reconnects": sum(outcome.reconnects for outcome in outcomes),
            "own": DriverCost(
                cpu_ns=sum(outcome.own.cpu_ns for outcome in outcomes),
                peak_rss_bytes=sum(outcome.own.peak_rss_bytes for outcome in outcomes),
            ),
            "samples": 0,
            "stalls": _stalls(outcomes, offsets),
            "round_trips": None if round_trips is None else int(round_trips),
        }
    )


def _type_result(parts: Sequence[TypeResult]) -> TypeResult:
    return TypeResult(
        name=parts[0].name,
        counts=_added(part.counts for part in parts),
        response=merge(part.response for part in parts),
        service=merge(part.service for part in parts),
        lag=merge(part.lag for part in parts),
    )


def _stalls(outcomes: Sequence[Outcome], offsets: Sequence[float]) -> tuple[Stall, ...] | None:
    """Stretches that are stalls of every client. None: a client's are not known."""
    found: list[Stall] | None = None
    for outcome, offset in zip(outcomes, offsets, strict=True):
        if outcome.stalls is None:
            return None
        shift = int(offset * _S)
        moved = [
            stall.model_copy(update={"from_ns": stall.from_ns + shift, "to_ns": stall.to_ns + shift})
            for stall in outcome.stalls
        ]
        found = moved if found is None else list(_common(found, moved))
    return tuple(found or ())


def _common(some: Sequence[Stall], others: Sequence[Stall]) -> Iterator[Stall]:
    for a in some:
        for b in others:
            begin, end = max(a.from_ns, b.from_ns), min(a.to_ns, b.to_ns)
            if begin < end:
                yield Stall(from_ns=begin, to_ns=end, waiting=a.waiting + b.waiting)


def _seconds(clients: Sequence[OltpRun], offsets: Sequence[float]) -> Iterator[Second]:
    """Seconds of all clients, on the clock of the first, to the nearest second."""
    by_number: dict[int, list[Second]] = defaultdict(list)
    for run, offset in zip(clients, offsets, strict=True):
        for second in run.seconds:
            number = second.number + round(offset)
            by_number[min(number, -1) if second.number < 0 else number].append(second)
    for number, parts in sorted(by_number.items()):
        yield Second(
            number=number,
            phase=max(part.phase for part in parts),
            counts=_added(part.counts for part in parts),
            backlog=sum(part.backlog for part in parts),
            running=sum(part.running for part in parts),
            response=_summary([(part.response, part.counts.finished) for part in parts]),
            service=_summary([(part.service, part.counts.finished) for part in parts]),
            own_cpu_ns=sum(part.own_cpu_ns for part in parts),
        )


def _summary(parts: Sequence[tuple[Summary | None, int]]) -> Summary | None:
    known = [(summary, count) for summary, count in parts if summary is not None and count]
    if not known:
        return None
    total = sum(count for _, count in known)
    return Summary(
        mean=sum(summary.mean * count for summary, count in known) / total,
        p50=max(summary.p50 for summary, _ in known),
        p95=max(summary.p95 for summary, _ in known),
        p99=max(summary.p99 for summary, _ in known),
        max=max(summary.max for summary, _ in known),
    )


def _deviations(
    ordered: Sequence[tuple[str, OltpRun]], offsets: Sequence[float], *, is_one_machine: bool
) -> Iterator[str]:
    names = ", ".join(f"{name} (seed {run.asked.seed})" for name, run in ordered)
    yield (
        f"merged from {len(ordered)} clients: {names}; the last began {max(offsets):.2f} s after the first, and "
        "their seconds are put together to the nearest second"
    )
    yield (
        "the percentiles of a single second are those of the client that has the largest; those of the whole run are "
        "of all transactions"
    )
    if not is_one_machine:
        yield "the clients ran on different machines: the first one's CPU measures are left out"
    for name, run in ordered:
        yield from (f"{name}: {deviation}" for deviation in run.deviations)


def _added(several: Iterable[Counts]) -> Counts:
    return reduce(add, several)


def _sum(values: Iterable[float | None]) -> float | None:
    """None if any is unknown."""
    total = 0.0
    for value in values:
        if value is None:
            return None
        total += value
    return total
