"""Reasons why two runs cannot be compared, each with what stands on either side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from tare.protocol.oltp.disturbance import disturbances
from tare.workload.oltp.run import Asked, OltpRun

_TOLERANCE = 0.01  # of a rate, as the driver's
_WAITS = 0.1  # of round trips, beyond which runs differ in them


def objections(a: OltpRun, b: OltpRun) -> list[str]:
    """Sentences. Empty: the runs differ in nothing but what they were made to compare."""
    return [*concerns("A", a), *concerns("B", b), *_differing(a, b), *_held(a, b)]


def concerns(name: str, run: OltpRun) -> Iterator[str]:
    """Faults of a run by itself."""
    for why in run.invalid:
        yield f"run {name} is not valid: {why}"
    for disturbance in disturbances(run):
        yield (
            f"run {name} was disturbed ({disturbance.source}): {disturbance.share:.0%} of its machine's CPUs "
            "were taken from it"
        )


def waits(run: OltpRun) -> float | None:
    """Round trips for each transaction. None: not counted."""
    finished = run.outcome.all.counts.finished
    return None if run.outcome.round_trips is None or not finished else run.outcome.round_trips / finished


def notes(runs: Sequence[tuple[str, OltpRun]]) -> list[str]:
    """Notes that a reader needs on runs that may be compared."""
    counted = [(name, waited) for name, run in runs if (waited := waits(run)) is not None]
    if len(counted) < 2:
        return []
    least, most = min(waited for _, waited in counted), max(waited for _, waited in counted)
    if most <= least * (1 + _WAITS):
        return []
    each = ", ".join(f"{waited:.1f} in {name}" for name, waited in counted)
    return [
        f"a transaction waits for different numbers of round trips ({each}): part of the difference is that of the "
        "protocols, more so over a network than on a socket"
    ]


SERVER: Sequence[tuple[str, Callable[[OltpRun], str]]] = (
    ("DBMS", lambda run: run.server.dbms),
    ("version", lambda run: run.server.version),
)

SAME: Sequence[tuple[str, Callable[[OltpRun], str]]] = (
    ("workload", lambda run: run.workload),
    ("scale", lambda run: f"{run.loaded.scale:g}"),
    ("seed of the data", lambda run: str(run.loaded.seed)),
    ("options of the data", lambda run: _pairs(run.loaded.settings)),
    ("options at work", lambda run: _pairs(run.options)),
    ("mix", lambda run: _mix(run)),
    ("arrivals", lambda run: run.asked.arrivals + (f" from {run.asked.trace}" if run.asked.trace else "")),
    ("phases", lambda run: phases(run.asked)),
    ("connections", lambda run: str(run.asked.connections)),
    ("clients", lambda run: str(len(run.asked.merged_from) or 1)),
    ("isolation", lambda run: _level(run.isolation)),
    ("autocommit", lambda run: "on" if run.asked.autocommit else "off"),
    ("protocol of statements", lambda run: run.asked.protocol),
    ("tries", lambda run: str(run.asked.tries)),
    ("think time", lambda run: f"{run.asked.think:g}"),
    ("shedding", lambda run: "none" if run.asked.shed_after_s is None else f"{run.asked.shed_after_s:g} s"),
    ("machine", lambda run: _machine(run)),
)


def _differing(a: OltpRun, b: OltpRun) -> Iterator[str]:
    for what, of in SAME:
        first, second = of(a), of(b)
        if first != second:
            yield f"{what}: {first} in A, {second} in B"


def _held(a: OltpRun, b: OltpRun) -> Iterator[str]:
    """The same rate was asked for and not held alike."""
    if a.asked.closed or b.asked.closed or phases(a.asked) != phases(b.asked):
        return
    first, second = a.outcome.rate, b.outcome.rate
    if abs(first - second) > _TOLERANCE * max(first, second):
        yield f"rate held: {first:.4g}/s in A, {second:.4g}/s in B"


def phases(asked: Asked) -> str:
    """As a user would say them: "300/s for 30 s, then 400/s for 30 s"."""
    return ", then ".join(
        f"{one.duration_s:g} s" if one.rate is None else f"{one.rate:g}/s for {one.duration_s:g} s"
        for one in asked.phases
    )


def _mix(run: OltpRun) -> str:
    return ", ".join(f"{name} {share:.2%}" for name, share in run.shares.items() if share)


_LEVELS = ("read committed", "repeatable read", "serializable")


def _level(words: str) -> str:
    """Name of an isolation level, which DBMSes spell alike but for hyphens and capitals; the rest is a setting."""
    plain = words.lower().replace("-", " ")
    return next((level for level in _LEVELS if plain.startswith(level)), words)


def _pairs(of: Mapping[str, str]) -> str:
    return ", ".join(f"{name}={value}" for name, value in sorted(of.items())) or "none"


def _machine(run: OltpRun) -> str:
    one = run.machine
    return f"{one.cpu_model}, {one.usable_cpus} CPUs, {one.memory_bytes / 2**30:.1f} GiB, Linux {one.kernel}"
