"""Sentences about a query and a run that stand with its numbers."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tare.protocol import measures
from tare.protocol.exact import lost_to_preemption
from tare.report.numbers import bytes_text, fixed, ms_text, percent, places_for, scale_for
from tare.report.result import (
    AnswerResult,
    CacheResult,
    CheckResult,
    Environment,
    MeasureResult,
    PlanResult,
    QueryResult,
)
from tare.report.words import dbms_name

PREEMPTIONS_SEEN = 0.001  # of the CPU time

_PARTS = {
    "cpu": "CPU",
    "block_io": "block I/O",
    "run_queue": "run queue",
    "throttled": "throttled",
    "sleep": "sleep",
    "steal": "steal",
    "residue": "residue",
}
"""Parts of the elapsed view by their names, as one line has them."""

PART_WORDS = {
    "cpu": "on a CPU",
    "block_io": "waiting for the disk",
    "run_queue": "waiting for a CPU",
    "throttled": "throttled by a CPU quota",
    "sleep": "asleep (a lock, another process or the client)",
    "steal": "taken by the hypervisor",
    "residue": "in no part that was measured",
}
"""The same parts in sentences and tables."""


def runs(query: QueryResult) -> str:
    timed = sum(qe.sample is not None for qe in query.qes)
    text = f"{timed} run{'' if timed == 1 else 's'}"
    return f"{text} after {query.warmup.runs} warm-up" if query.warmup.runs else text


def statement(sql: str) -> str:
    """On one line, without the comment lines that head a file."""
    return " ".join(" ".join(line for line in sql.splitlines() if not line.lstrip().startswith("--")).split())


@dataclass(frozen=True, slots=True)
class MeanParts:
    """Means over the executions of which every part is known: they add up to the mean wall time. ms."""

    wall: float
    parts: Mapping[str, float]  # by the name of the part
    runs: int

    @property
    def text(self) -> str:
        scale = scale_for("ms", [self.wall])
        places = places_for(self.wall / scale.factor, 4)
        shown = [
            f"{_PARTS[name]} {fixed(part / scale.factor, places)}"
            for name, part in self.parts.items()
            if abs(part / scale.factor) >= 0.5 * 10**-places
        ]
        total = f"{fixed(self.wall / scale.factor, places)} {scale.unit}"
        return f"{total} = {' + '.join(shown)} ({self.runs} runs)"


def mean_parts(query: QueryResult) -> MeanParts | None:
    """None where no execution has every part."""
    throttled = query.measures.throttled_ms
    unknown = throttled is None or throttled.median is None
    names = [name for name in _PARTS if name != "throttled" or not unknown]
    measured = [getattr(query.measures, f"{name}_ms").samples for name in ("wall", *names)]
    whole = [values for values in zip(*measured, strict=False) if None not in values]
    if not whole:
        return None
    wall, *parts = (statistics.fmean(column) for column in zip(*whole, strict=True))
    return MeanParts(wall, dict(zip(names, parts, strict=True)), len(whole))


def answer(found: AnswerResult, *, with_hash: bool = True) -> str:
    if found.rows is None:
        return "unknown"
    rows = f"{found.rows} row{'' if found.rows == 1 else 's'}"
    if found.bytes is not None:
        rows += f", {bytes_text(found.bytes)}"
    shown = f"{rows}, hash {found.hash}" if found.hash and with_hash else rows
    if not found.consistent:
        allowed = ", as --answer any allows" if found.compared == "any" else ""
        return f"{shown} in the first timed run; others differ{allowed}"
    apart = f", floating-point values to {found.difference:.1g} of themselves" if found.difference else ""
    confirmed = f", and as {found.second_source}'s" if found.second_source else ""
    return f"{shown}, the same in every run{apart}{confirmed}"


def preempted(query: QueryResult) -> str | None:
    """Bound on what CPU time lost to preemptions; None where it is below what a reader can see."""
    cpu, found = query.resources.cpu_ms.median, query.resources.preemptions
    if found is None or found.median is None or not cpu:
        return None
    share = lost_to_preemption(found.median, cpu)
    if share < PREEMPTIONS_SEEN:
        return None
    return f"{fixed(found.median, 0)} preemptions: up to {percent(share)} of it is booked to the preempting threads"


def answer_as_asked(found: AnswerResult) -> bool:
    return found.consistent or found.compared == "any"


def plan(found: PlanResult) -> str:
    if found.fingerprint is None:
        return "unknown"
    return f"{found.fingerprint}, {'the same in every run' if found.consistent else 'not the only one'}"


def cache(found: CacheResult) -> str:
    return f"{cache_state(found)}: {found.evidence}"


def cache_state(found: CacheResult) -> str:
    verdict = {True: "proved", False: "NOT reached", None: "not proved"}[found.reached]
    return f"{found.asked}, {verdict}"


def failed_checks(query: QueryResult) -> Iterator[CheckResult]:
    return (check for check in query.checks if check.violated)


def check(found: CheckResult) -> str:
    where = f"{found.violated} of {found.judged} QEs, e.g. " if found.qes else ""
    return f"{found.name} ({found.source}, {found.number}): {where}{found.evidence[0].text}"


def missing(query: QueryResult) -> Iterator[tuple[str, str]]:
    """Labels of measures without a value, and why; those with one reason together."""
    yield from _gathered(query, lambda m: m.reason if m.median is None else None)


def missing_everywhere(queries: Sequence[QueryResult]) -> list[tuple[str, str]]:
    """Measures that no query has, for the same reason, so that it is said once. Of a single query, nothing."""
    if len(queries) < 2:
        return []
    found = [list(missing(query)) for query in queries]
    return [one for one in found[0] if all(one in other for other in found[1:])]


def notes(query: QueryResult) -> Iterator[tuple[str, str]]:
    """Labels of measures that have a value and something to bear in mind."""
    yield from _gathered(query, lambda m: m.note if m.median is not None else None)


def _gathered(query: QueryResult, choose: Callable[[MeasureResult], str | None]) -> Iterator[tuple[str, str]]:
    found: dict[str, list[str]] = {}
    for label, measure in labelled(query):
        why = choose(measure)
        if why is not None:
            on_one_line = "; ".join(line.strip() for line in why.splitlines())
            found.setdefault(on_one_line, []).append(label)
    for why, labels in found.items():
        yield ", ".join(labels), why


def environment(env: Environment) -> Iterator[tuple[str, str]]:
    """Machine, server and Tare itself."""
    machine = env.machine
    cpus = f"{machine.online_cpus} CPU{'' if machine.online_cpus == 1 else 's'}"
    if machine.usable_cpus < machine.online_cpus:
        cpus += f" ({machine.usable_cpus} usable)"
    virtual = f" under {machine.hypervisor}" if machine.hypervisor else ""
    yield (
        "machine",
        f"{machine.cpu_model}{virtual}, {cpus}, {bytes_text(machine.memory_bytes)}; "
        f"{env.operating_system}, Linux {env.kernel}",
    )
    yield "server", f"{dbms_name(env.server.dbms)} {env.server.version}"
    delay = {True: "on", False: "off", None: "not in this kernel"}[env.probe.delay_accounting]
    yield "probe", f"tier {env.probe.tier}, delay accounting {delay}"
    cost = env.tare.cost
    own = ""
    if cost.cpu_ms is not None and cost.snapshots_ms is not None and cost.rss_bytes is not None:
        share = "" if cost.share_of_wall is None else f" ({percent(cost.share_of_wall)} of wall)"
        own = (
            f": {ms_text(cost.cpu_ms)} CPU a QE{share}, snapshots {ms_text(cost.snapshots_ms)} outside the clocks, "
            f"{bytes_text(cost.rss_bytes)} of memory"
        )
    yield "Tare", f"{env.tare.version}{own}"


def labelled(query: QueryResult) -> Iterator[tuple[str, MeasureResult]]:
    """Every measure with its label; "all" marks a sum over processes whose label the leader has too."""
    for one in (*measures.ELAPSED, measures.INSTRUCTIONS):
        if (found := getattr(query.measures, one.name)) is not None:
            yield one.label, found
    yield "TTPv2", query.measures.ttp2_ms
    own = {one.label for one in measures.ELAPSED}
    for one in measures.RESOURCES:
        if (found := getattr(query.resources, one.name)) is not None:
            yield (f"all {one.label}" if one.label in own else one.label), found
