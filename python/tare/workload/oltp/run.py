"""A run of a transactional workload that has ended: what was asked, what was held, and what the server was seen to do.

Instants of the run are seconds of its measured part: second 0 begins when the first arrival may be due, warm-up
has numbers below 0. Durations of transactions are ns.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from tare.dbms.base import Server
from tare.measure.environment import MachineFacts
from tare.workload.oltp.events import CheckResult, LoadMarker, Outcome, Second


@dataclass(frozen=True, slots=True)
class Phase:
    """A stretch at one rate. None: a closed loop's, or a trace's."""

    rate: float | None  # transactions a second
    duration_s: float


@dataclass(frozen=True, slots=True)
class CurveStep:
    """Place of a run in a curve of latency over rate (`tare bench oltp curve`)."""

    curve: str  # UUID, the same for all steps
    number: int  # from 1, in the order in which steps began
    arm: int  # from 0: which of the curve's databases
    figure: str | None = None  # of response time, for which the curve has a budget: "p99"
    limit_ms: float | None = None  # the budget


@dataclass(frozen=True, slots=True)
class Asked:
    """Request that the driver was given."""

    arrivals: Literal["closed", "constant", "poisson", "trace"]
    phases: tuple[Phase, ...]
    connections: int
    seed: int  # of mix, parameters and arrivals; the same on the same data is no independent repetition
    warmup_s: float
    drain_s: float
    tries: int  # of one transaction in all
    isolation: str  # "read_committed", "repeatable_read", "serializable"
    mix: Mapping[str, float]  # by type; empty: the workload's default
    options: Mapping[str, str]  # of the workload, as given to the run; else those of the data are at work
    think: float = 0.0  # closed loop: keying and think times of the workload, times this
    shed_after_s: float | None = None  # None: nothing is shed
    trace: str | None = None  # the file's name, and the SHA-256 of its content: "arrivals.txt e3b0c442…"

    autocommit: bool = False  # transactions of one statement were sent without BEGIN and COMMIT
    protocol: str = "named"  # of request.Protocol
    step: CurveStep | None = None  # None: a run by itself
    merged_from: tuple[str, ...] = ()  # UUIDs of the clients' runs; empty: one client

    @property
    def closed(self) -> bool:
        return self.arrivals == "closed"


@dataclass(frozen=True, slots=True)
class Measure:
    """A figure of the server in one second: of its processes, or of its own statistics."""

    second: int
    name: str  # of measures/names.py: "server_cpu", "wal_bytes", …
    value: float
    unit: str  # "s/s", "bytes/s", "1/s", "bytes", "1", …


@dataclass(frozen=True, slots=True)
class Trouble:
    """Message of the DBMS when a connection was lost, or made again."""

    at_s: float
    text: str


@dataclass(frozen=True, slots=True)
class OltpRun:
    uuid: str  # the same in every lab that holds this run
    started_at: str  # UTC, ISO 8601: start of the measured part
    ended_at: str
    url: str  # without its password
    server: Server
    machine: MachineFacts
    workload: str
    loaded: LoadMarker  # as the database's marker says it: scale, seed of the data, options
    asked: Asked
    isolation: str  # as it was at work, in the DBMS's words
    outcome: Outcome
    seconds: tuple[Second, ...]  # warm-up, measured part and drain
    measures: tuple[Measure, ...]
    before: tuple[CheckResult, ...]  # conditions on the data, before the run; empty: not held against it
    after: tuple[CheckResult, ...]
    troubles: tuple[Trouble, ...] = ()
    unmeasured: Mapping[str, str] | None = (
        None  # why a server measure is missing, by its name or its source's
    )
    deviations: tuple[str, ...] = ()  # sentences: what departs from what was asked, beside `invalid`

    @property
    def options(self) -> dict[str, str]:
        """At work: those of the data, and those that the run was given instead."""
        return {**self.loaded.settings, **self.asked.options}

    @property
    def shares(self) -> dict[str, float]:
        """Share of each type in the mix, as used; together 1."""
        total = sum(self.outcome.mix) or 1.0
        return {of.name: one / total for of, one in zip(self.outcome.types, self.outcome.mix, strict=False)}

    @property
    def invalid(self) -> tuple[str, ...]:
        """Why its figures must not be taken for what was asked; empty: valid."""
        failing = tuple(
            f"condition {one.name} does not hold {when} the run: {one.failing} failing rows"
            for when, found in (("before", self.before), ("after", self.after))
            for one in found
            if one.failing
        )
        unchecked = self.before and not self.after
        why = ("the conditions were not held against the data after the run",) if unchecked else ()
        return (*self.outcome.invalid, *failing, *why)
