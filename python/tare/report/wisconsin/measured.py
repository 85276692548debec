"""The benchmark's times: each query on each system, by the clock and by the exact protocol, with its access path."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tare.lab.answers import rows
from tare.lab.states import QatCState
from tare.protocol.compare import compare
from tare.protocol.outcome import Outcome
from tare.protocol.statistics import median_interval
from tare.report.wisconsin.access import Found, found_in
from tare.report.wisconsin.document import Ratio, SpeedUp, System, Time, Timed
from tare.report.wisconsin.stored import StoredQatC
from tare.report.wisconsin.systems import Named
from tare.workload.wisconsin.kinds import Generation, Organisation
from tare.workload.wisconsin.query import WisconsinQuery


@dataclass(frozen=True)
class Seen:
    """A query on a system at one size. `samples`: elapsed ms of its QEs, infinite where one timed out."""

    system: System
    query: WisconsinQuery
    size: int
    samples: tuple[float, ...]
    found: Found | None
    timed: Timed
    stored: StoredQatC


class Measurements:
    """All of them, in the order of systems, queries and sizes."""

    def __init__(self, systems: Sequence[System], queries: Sequence[WisconsinQuery], seen: Sequence[Seen]):
        self.systems, self.queries, self.seen = systems, queries, seen
        self._by_name = {
            (one.system.label, one.query.generation, one.query.name, one.size): one for one in seen
        }

    def of(self, system: System, query: WisconsinQuery, size: int) -> Seen | None:
        return self._by_name.get((system.label, query.generation, query.name, size))

    def may_use_index(self, speed_up: SpeedUp) -> bool:
        """Whether the plan of the faster or slower organisation has an index in it, as far as it is known."""
        key = (speed_up.system, Generation(speed_up.generation), speed_up.query, speed_up.size)
        seen = self._by_name.get(key)
        return seen is not None and seen.found is not None and seen.found.may_use_index

    def sizes(self, generation: Generation) -> list[int]:
        return sorted({one.size for one in self.seen if one.query.generation is generation})

    def on(self, system: System) -> Iterator[Seen]:
        return (one for one in self.seen if one.system == system)

    def alike(self, one: Seen, organisation: Organisation) -> Seen | None:
        """The same operation, on the same system at the same size, in another organisation."""
        return next(
            (
                other
                for other in self.on(one.system)
                if other.size == one.size
                and other.query.generation is one.query.generation
                and other.query.operation == one.query.operation
                and other.query.organisation is organisation
            ),
            None,
        )


def measurements(
    named: Named,
    queries: Sequence[WisconsinQuery],
    stored: Sequence[StoredQatC],
    exact: Outcome,
) -> Measurements:
    known = {(one.generation, one.name): one for one in queries}
    order = {key: place for place, key in enumerate(known)}
    places = {one.label: (place, one) for place, one in enumerate(named.systems)}
    times = {row["qatc_id"]: row for row in rows(exact.times)} if exact.times is not None else {}
    found = []
    for one in stored:
        query = known.get((named.generations[one.run], one.query))
        if query is None or one.state is not QatCState.TIMED or not one.qes:
            continue
        system = places[named.labels[one.run]][1]
        found.append(_seen(system, query, one, times.get(one.id), exact.stopped))
    found.sort(
        key=lambda seen: (
            places[seen.system.label][0],
            order[seen.query.generation, seen.query.name],
            seen.size,
        )
    )
    return Measurements(named.systems, queries, found)


def _seen(
    system: System,
    query: WisconsinQuery,
    stored: StoredQatC,
    row: Mapping[str, Any] | None,
    stopped: str | None,
) -> Seen:
    samples = tuple(qe.elapsed_ms if qe.ok and qe.elapsed_ms is not None else math.inf for qe in stored.qes)
    access = found_in(system.dbms, stored.plan, query)
    why = stopped and f"the protocol was stopped: {stopped}"
    if row is not None and row["time_ms"] is None:
        why = row["rule"] or row["step"]
    return Seen(
        system,
        query,
        stored.size,
        samples,
        access,
        Timed(
            system=system.label,
            run=stored.run,
            generation=query.generation.value,
            query=query.name,
            size=stored.size,
            elapsed=elapsed(samples),
            exact=None
            if row is None or row["time_ms"] is None
            else Time(ms=row["time_ms"], low_ms=row["low_ms"], high_ms=row["high_ms"], n=row["qes"] or 0),
            exact_why=why,
            timeouts=sum(not qe.ok for qe in stored.qes),
            access=access.text if access else "",
            plan=stored.fingerprint,
        ),
        stored,
    )


def elapsed(samples: Sequence[float]) -> Time:
    """Return the elapsed time. An execution that timed out took longer than all others: a median or bound that falls on
    one is not known."""
    interval = median_interval(samples)
    return Time(
        ms=_finite(statistics.median(samples)),
        low_ms=_finite(interval.low) if interval else None,
        high_ms=_finite(interval.high) if interval else None,
        n=len(samples),
    )


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def ratio(below: Seen, above: Seen) -> Ratio | None:
    """How many times as long `above` takes as `below`; None where one timed out."""
    samples = (*below.samples, *above.samples)
    if not all(0 < value < math.inf for value in samples):
        return None
    found = compare(below.samples, above.samples)
    if found.ratio is None:
        return None
    bounds = found.ratio.ci95
    return Ratio(
        estimate=found.ratio.estimate,
        low=bounds.low if bounds else None,
        high=bounds.high if bounds else None,
        n=(found.runs_a, found.runs_b),
        established=found.verdict == "different",
    )
