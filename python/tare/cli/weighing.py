"""A run from request to result: set up, weigh, sum up, write. Shared by `time` and `compare`."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from tare import _probe
from tare.cli.progress import Live
from tare.dbms.base import Session
from tare.dbms.registry import find
from tare.errors import TareError
from tare.interruption import Interrupts
from tare.measure.arms import Arm
from tare.measure.backoff import Patience
from tare.measure.choices import Tier
from tare.measure.environment import machine_facts
from tare.measure.machine.isolation.run import is_isolated
from tare.measure.machine.settings import MachineSettings, try_delay_accounting
from tare.measure.placement import placement_of
from tare.measure.query import Query
from tare.measure.rig import Rig
from tare.measure.rig_keeper import RigKeeper
from tare.measure.weigh import Conditions, Weigher
from tare.protocol.comparison.session_blocks import SessionGate
from tare.protocol.warmup import steady
from tare.report.asked import Asked, Attempt, Means
from tare.report.build import build_result
from tare.report.result import RunResult


@dataclass(frozen=True, slots=True)
class Target:
    """The DBMS to weigh on, and what Tare may do to it."""

    url: str
    connect_timeout_s: float
    allow_writes: bool
    allow_restart: bool
    tier: Tier | None
    machine_settings: bool
    settings: Mapping[str, str] = field(default_factory=dict)  # of its sessions

    def connect(self) -> Session:
        return find(self.url).connect(
            self.url,
            timeout_s=self.connect_timeout_s,
            allow_writes=self.allow_writes,
            allow_restart=self.allow_restart,
        )


@dataclass(frozen=True, slots=True)
class Weighed:
    """A result, whole or cut short, and what cut it short."""

    result: RunResult
    stopped_by: BaseException | None


def weigh(
    targets: Sequence[Target],
    queries: Sequence[Query],
    conditions: Conditions,
    asked: Asked,
    run: Callable[[Weigher], None],
    quiet: bool,
    expected: int | None,
    gate: SessionGate | None = None,
) -> Weighed:
    """Weigh `queries` as `run` orders, each on the target of its arm. What fails after the first reading is kept with
    the result.

    Raises TareError for what fails before: then there is nothing to keep.
    """
    for target in targets:
        find(target.url)  # an unknown scheme is said before anything is touched
    started_at = datetime.now(UTC).isoformat(timespec="seconds")
    stopped_by: BaseException | None = None
    with MachineSettings() as settings:
        if targets[0].machine_settings:
            try_delay_accounting(settings)
        live = Live(expected, quiet)
        patience = Patience(Interrupts(), live.say)
        with ExitStack() as stack:
            arms = [
                Arm(
                    letter,
                    stack.enter_context(RigKeeper(target.connect, patience, target.tier)),
                    target.settings,
                )
                for letter, target in zip("AB", targets, strict=False)
            ]
            stack.enter_context(live)
            servers = [arm.rigs.open().session.server for arm in arms]
            means = _means(arms[0].rigs.open())
            weigher = Weigher(arms, queries, conditions, steady, live, patience)
            weigher.check()
            try:
                run(weigher)
            except (TareError, KeyboardInterrupt) as error:
                if not weigher.qes:
                    raise
                stopped_by = error
    result = build_result(
        weigher.qes,
        queries,
        weigher.plans,
        servers=servers,
        settings=[arm.values for arm in arms],
        machine=machine_facts(),
        means=means,
        asked=replace(asked, isolated=is_isolated()),
        command=command_line(),
        started_at=started_at,
        interrupted=isinstance(stopped_by, KeyboardInterrupt),
        error=stopped_by.what if isinstance(stopped_by, TareError) else None,
        gate=gate,
        errors=weigher.query_errors,
    )
    return Weighed(result, stopped_by)


def command_line() -> str:
    """The command as it was given, without passwords of databases."""
    from tare.dbms.url import redacted_command

    return shlex.join(["tare", *redacted_command(sys.argv[1:])])


def _means(rig: Rig) -> Means:
    reasons = {"instructions": rig.no_instructions} if rig.no_instructions else {}
    return Means(
        tier=rig.probe.tier,
        attempts=[Attempt(a.name, a.works, a.reason, a.next_step) for a in rig.probe.attempts],
        delay_accounting=_probe.delay_accounting(),
        tick_ns=_probe.TICK_NS,
        reasons=reasons,
        placement=placement_of(rig.leader),
    )
