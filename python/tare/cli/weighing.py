"""A run from request to result: set up, weigh, sum up, write. Shared by `time` and `compare`."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from tare import _probe
from tare.cli.option_groups import RunOptions, ServerOptions, StatementOptions
from tare.cli.progress import Live
from tare.dbms.base import Session
from tare.dbms.registry import find
from tare.errors import TareError, UsageError
from tare.measure.arms import Arm
from tare.measure.choices import CacheState, Clocked
from tare.measure.environment import machine_facts
from tare.measure.machine.cpus import online
from tare.measure.machine.settings import MachineSettings, delay_accounting_on
from tare.measure.phases import Phases
from tare.measure.query import Query
from tare.measure.rig import Rig
from tare.measure.weigh import Conditions, Weigher
from tare.protocol.comparison.session_looks import SessionLooks
from tare.protocol.warmup import steady
from tare.report.asked import Asked, Attempt, Means, Places
from tare.report.build import build_result
from tare.report.result import RunResult
from tare.words import shown


@dataclass(frozen=True, slots=True)
class Target:
    """The DBMS to weigh on, and what Tare may do to it."""

    url: str
    options: ServerOptions
    allow_writes: bool = False
    settings: Mapping[str, str] = field(default_factory=dict)  # of its sessions

    def connect(self) -> Session:
        return find(self.url).connect(
            self.url,
            timeout_s=self.options.connect_timeout,
            allow_writes=self.allow_writes,
            allow_restart=self.options.allow_restart,
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
    looks: SessionLooks | None = None,
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
        if targets[0].options.machine_settings:
            _try_delay_accounting(settings)
        with ExitStack() as stack:
            arms = [
                Arm(
                    letter,
                    stack.enter_context(Rig(one.connect, one.options.tier)),
                    conditions.phases,
                    one.settings,
                )
                for letter, one in zip("AB", targets, strict=False)
            ]
            live = stack.enter_context(Live(expected, quiet))
            servers = [arm.rig.session.server for arm in arms]
            means = _means(arms[0].rig)
            weigher = Weigher(arms, queries, conditions, steady, live)
            weigher.check()
            try:
                run(weigher)
            except (TareError, KeyboardInterrupt) as error:
                if not weigher.qes:
                    raise
                stopped_by = error
                if looks is not None:
                    looks.conclude(weigher.block_starts, weigher.all_retained())
    result = build_result(
        weigher.qes,
        queries,
        [weigher.plans.get(query) for query in range(len(queries))],
        failures={query: error.what for query, error in weigher.failures.items()},
        servers=servers,
        settings=[arm.values for arm in arms],
        machine=machine_facts(),
        means=replace(means, keeps_results=weigher.keeps_results),
        asked=asked,
        command=command_line(),
        started_at=started_at,
        interrupted=isinstance(stopped_by, KeyboardInterrupt),
        error=stopped_by.what if isinstance(stopped_by, TareError) else None,
        looks=looks,
    )
    return Weighed(result, stopped_by)


def command_line() -> str:
    """The command as it was given, without passwords of databases."""
    from tare.dbms.redaction import redacted_command

    return shlex.join(["tare", *redacted_command([shown(word) for word in sys.argv[1:]])])


def _try_delay_accounting(settings: MachineSettings) -> None:
    with suppress(TareError):  # the rig then finds it off, and the result says so with its reason
        delay_accounting_on(settings)


def _means(rig: Rig) -> Means:
    reasons = {"instructions": rig.no_instructions} if rig.no_instructions else {}
    return Means(
        tier=rig.probe.tier,
        attempts=[Attempt(a.name, a.works, a.reason, a.next_step) for a in rig.probe.attempts],
        delay_accounting=_probe.delay_accounting(),
        tick_ns=_probe.TICK_NS,
        reasons=reasons,
        places=_places(rig),
    )


def _places(rig: Rig) -> Places | None:
    with suppress(OSError):
        return Places(
            frozenset(os.sched_getaffinity(rig.leader.tid)),
            frozenset(os.sched_getaffinity(0)),
            frozenset(online()),
        )
    return None


def conditions(
    runs: int, given: RunOptions, statements: StatementOptions, *, seed: int = 0, keeps_going: bool = False
) -> Conditions:
    """Return the conditions of a run. Raises UsageError for flags that contradict each other or cannot be read."""
    if given.cold and given.cache not in (CacheState.WARM, CacheState.COLD):
        raise UsageError(f"--cold and --cache {given.cache} contradict each other", "give one of them")
    return Conditions(
        runs=runs,
        cache=CacheState.COLD if given.cold else given.cache,
        timeout_s=given.timeout,
        phases=Phases.of(statements.setup, statements.prepare, statements.conclude, statements.cleanup),
        warmup=_warmup(given.warmup),
        seed=seed,
        clocked=Clocked.EXECUTION if given.execution_only else Clocked.TOTAL,
        answer=statements.answer,
        keeps_going=keeps_going,
    )


def _warmup(text: str) -> int | None:
    if text == "auto":
        return None
    if text.isascii() and text.isdigit():
        return int(text)
    raise UsageError(f"--warmup {text!r} is neither a number nor auto", "give a count such as 3, or auto")
