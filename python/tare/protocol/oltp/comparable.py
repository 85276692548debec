"""Reasons for which two runs cannot be compared, each with the values of both."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from tare.workload.oltp.run import Asked, OltpRun

_TOLERANCE = 0.01  # of a rate, as the driver's


def objections(a: OltpRun, b: OltpRun) -> list[str]:
    """Sentences. Empty: the runs differ in nothing but what they were made to compare. Whether each of them is valid
    is not among them."""
    return [*_differing(a, b), *_held(a, b)]


_SAME: Sequence[tuple[str, Callable[[OltpRun], str]]] = (
    ("workload", lambda run: run.workload),
    ("scale", lambda run: f"{run.loaded.scale:g}"),
    ("seed of the data", lambda run: str(run.loaded.seed)),
    ("options of the data", lambda run: _pairs(run.loaded.settings)),
    ("options at work", lambda run: _pairs(run.options)),
    ("mix", lambda run: _mix(run)),
    ("arrivals", lambda run: run.asked.arrivals + (f" from {run.asked.trace}" if run.asked.trace else "")),
    ("phases", lambda run: phases(run.asked)),
    ("connections", lambda run: str(run.asked.connections)),
    ("isolation", lambda run: _level(run.isolation)),
    ("tries", lambda run: str(run.asked.tries)),
    ("think time", lambda run: f"{run.asked.think:g}"),
    ("shedding", lambda run: "none" if run.asked.shed_after_s is None else f"{run.asked.shed_after_s:g} s"),
    ("machine", lambda run: _machine(run)),
)


def _differing(a: OltpRun, b: OltpRun) -> Iterator[str]:
    for what, of in _SAME:
        first, second = of(a), of(b)
        if first != second:
            yield f"{what}: {first} in A, {second} in B"


def _held(a: OltpRun, b: OltpRun) -> Iterator[str]:
    """The same rate was asked for and not held alike."""
    if a.asked.closed or b.asked.closed or phases(a.asked) != phases(b.asked):
        return
    if a.outcome.not_judged or b.outcome.not_judged:
        return  # an objection already; their rates are not known to 1%
    first, second = a.sustained_rate, b.sustained_rate
    if abs(first - second) > _TOLERANCE * max(first, second):
        yield f"rate held: {first:.4g}/s in A, {second:.4g}/s in B"


def phases(asked: Asked) -> str:
    """Return the phases in words: "300/s for 30 s, then 400/s for 30 s"."""
    return ", then ".join(
        f"{one.duration_s:g} s" if one.rate is None else f"{one.rate:g}/s for {one.duration_s:g} s"
        for one in asked.phases
    )


def _mix(run: OltpRun) -> str:
    return ", ".join(f"{name} {share:.2%}" for name, share in run.shares.items() if share)


_LEVELS = ("read committed", "repeatable read", "serializable")


def _level(words: str) -> str:
    """Return the level's name without hyphens and capitals, in which DBMSes differ."""
    plain = words.lower().replace("-", " ")
    return next((level for level in _LEVELS if plain.startswith(level)), words)


def _pairs(of: Mapping[str, str]) -> str:
    return ", ".join(f"{name}={value}" for name, value in sorted(of.items())) or "none"


def _machine(run: OltpRun) -> str:
    one = run.machine
    return f"{one.cpu_model}, {one.usable_cpus} CPUs, {one.memory_bytes / 2**30:.1f} GiB, Linux {one.kernel}"
