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
from tare.workload.oltp.told import Checked, Loaded, Outcome, Second
from tare.workload.oltp.verdict import (
    ConditionFailed,
    ConditionsUnchecked,
    ConnectionsBroke,
    Freeze,
    Invalid,
    Neighbours,
    NotJudged,
    ServerRestarted,
)

_S = 1_000_000_000  # ns


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
    """Request to the driver."""

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
    step: CurveStep | None = None  # None: a run by itself

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
    loaded: Loaded  # as the database's marker says it: scale, seed of the data, options
    asked: Asked
    isolation: str  # as it was at work, in the DBMS's words
    outcome: Outcome
    seconds: tuple[Second, ...]  # warm-up, measured part and drain
    measures: tuple[Measure, ...]
    before: tuple[Checked, ...]  # conditions on the data, before the run; empty: not held against it
    after: tuple[Checked, ...]
    troubles: tuple[Trouble, ...] = ()
    unmeasured: Mapping[str, str] | None = (
        None  # why a server measure is missing, by its name or its source's
    )
    deviations: tuple[str, ...] = ()  # sentences: what departs from what was asked, beside `invalid`
    restarted: bool | None = None  # the server, during the run; None: it cannot be known
    disturbed: Neighbours | None = None  # by others on the machine, who may have changed its figures

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
    def sustained_rate(self) -> float:
        """Transactions a second that succeeded, of those started before the schedule's end. Of runs of an earlier
        version it is estimated: those that failed are taken to have been started in time."""
        counts = self.outcome.all.counts
        if self.outcome.sustained_rate is not None:
            return self.outcome.sustained_rate
        return self.outcome.rate * counts.finished / counts.started if counts.started else 0.0

    @property
    def invalid(self) -> tuple[Invalid, ...]:
        """Reasons why its figures must not be taken for those of the requested load."""
        restarted = (ServerRestarted(),) if self.restarted else ()
        failing = (
            ConditionFailed(name=one.name, moment=moment, failing=one.failing)
            for moment, checks in self._conditions
            for one in checks
            if one.failing
        )
        unchecked = (ConditionsUnchecked(),) if self.before and not self.after else ()
        return (*restarted, *self.outcome.invalid, *failing, *unchecked)

    @property
    def _conditions(self) -> tuple[tuple[Literal["before", "after"], tuple[Checked, ...]], ...]:
        return ("before", self.before), ("after", self.after)

    @property
    def not_judged(self) -> tuple[NotJudged, ...]:
        """Judgements that its figures do not allow. With an empty `invalid` the run is neither valid nor invalid."""
        return (*self.outcome.not_judged, *((self.disturbed,) if self.disturbed else ()))

    @property
    def freezes(self) -> tuple[Freeze, ...]:
        """Freezes that no broken connections explain. Whole seconds for runs of an earlier version."""
        breaks = [one for one in self.outcome.invalid if isinstance(one, ConnectionsBroke)]
        found = _frozen_seconds(self.seconds) if self.outcome.freezes is None else self.outcome.freezes
        return tuple(one for one in found if not any(_overlap(one, broke) for broke in breaks))

    @property
    def is_valid(self) -> bool:
        """Whether everything was judged and held. A run may be neither valid nor invalid: see `not_judged`."""
        return not self.invalid and not self.not_judged


def _overlap(freeze: Freeze, broke: ConnectionsBroke) -> bool:
    ends_ns = freeze.start_ns + freeze.length_ns
    return broke.at_ns <= ends_ns and (broke.back_ns is None or freeze.start_ns <= broke.back_ns)


def _frozen_seconds(seconds: tuple[Second, ...]) -> tuple[Freeze, ...]:
    """Seconds of the measured part in which transactions were due or running and none ended."""
    found: list[Freeze] = []
    for one in seconds:
        waiting = one.backlog + one.running
        if one.number < 0 or one.counts.finished or not waiting:
            continue
        start_ns, length_ns = one.number * _S, _S
        if found and found[-1].start_ns + found[-1].length_ns == start_ns:
            start_ns, length_ns = found[-1].start_ns, found.pop().length_ns + _S
        found.append(Freeze(start_ns=start_ns, length_ns=length_ns, waiting=waiting))
    return tuple(found)
