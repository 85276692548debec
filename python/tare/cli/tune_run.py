"""Tuning runs of `tare tune run`, `search` and `resume`: measured, kept and reported."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tare.cli import destinations
from tare.cli.oltp_call import database
from tare.cli.oltp_live import shown
from tare.dbms.url import redacted
from tare.errors import UsageError
from tare.measure.machine.settings import MachineSettings, delay_accounting_on
from tare.tune.journal import restore
from tare.tune.prepare import Hear
from tare.tune.record import Tuning
from tare.tune.session import TuningSession
from tare.tune.specification import ArmSpec, BlocksSpec, GoalSpec, LoadSpec, TuneSpecification
from tare.tune.store import load as read
from tare.workload.oltp.workloads import known


@dataclass(frozen=True)
class Call:
    """Options that both commands share."""

    db: str
    lab: str
    dir: Path | None
    tunings: Path
    allow_changes: bool
    allow_clients: bool
    given: Mapping[str, str | None]
    title: str | None

    def __post_init__(self) -> None:
        destinations.check(self.given)


@dataclass(frozen=True)
class SearchRequest:
    """`tare tune search`. `arms`: candidates of --set; `knobs`: settings of the table, None for all; `functions`: only
    settings that govern one of these."""

    load: LoadSpec
    blocks: BlocksSpec
    goal: GoalSpec
    arms: tuple[ArmSpec, ...]
    has_knobs: bool
    knobs: tuple[str, ...] | None
    functions: tuple[str, ...] | None
    budget_s: float


def measure(call: Call, specification: TuneSpecification, seed: int | None) -> int:
    """Measure a new run; the exit code."""
    load = specification.load

    def work(session: TuningSession) -> Tuning:
        arms = len(specification.arm) + 2
        with _progress(call, load, specification.blocks, "", arms, specification.blocks.count) as hear:
            return session.run(specification, hear, seed=seed)

    return _take(call, load.workload, work)


def search(call: Call, asked: SearchRequest, seed: int | None) -> int:
    """Search among candidates; the exit code."""

    def work(session: TuningSession) -> Tuning:
        arms = {arm.name: arm for arm in asked.arms}
        if asked.has_knobs:
            found, restarting = session.candidates(asked.knobs, asked.functions)
            arms = {arm.name: arm for arm in found} | arms
            if restarting:
                print(
                    f"tare: left out, since each needs a restart of the server: {', '.join(restarting)}",
                    file=sys.stderr,
                )
        specification = TuneSpecification(
            load=asked.load, blocks=asked.blocks, goal=asked.goal, arm=tuple(arms.values())
        )
        progress = partial(_progress, call, asked.load, asked.blocks)
        return session.search(specification, asked.budget_s, progress, seed=seed)

    return _take(call, asked.load.workload, work)


def extend(call: Call, text: str, blocks: int) -> int:
    """Add blocks to a run; the exit code."""
    tuning = read(call.tunings, text)
    specification = tuning.specification

    def work(session: TuningSession) -> Tuning:
        with _progress(call, specification.load, specification.blocks, "", len(tuning.arms), blocks) as hear:
            return session.resume(tuning, blocks, hear)

    return _take(call, specification.load.workload, work)


def deliver_tuning(tuning: Tuning, given: Mapping[str, str | None], title: str | None) -> bool:
    """Write the requested forms, or print the story; whether an arm has a result."""
    from tare.report.kit.deliver import deliver
    from tare.report.tune.build import build
    from tare.report.tune.story import story

    report = build(tuning, title)
    deliver(story(report), report, given)
    return report.is_result


def _take(call: Call, workload: str, work: Callable[[TuningSession], Tuning]) -> int:
    known(workload)
    _put_back_first()
    with MachineSettings() as settings:
        delay_accounting_on(settings)
        with database(call.db, workload, call.lab, call.dir) as url:
            tuning = work(
                TuningSession(
                    url, call.tunings, allow_changes=call.allow_changes, allow_clients=call.allow_clients
                )
            )
    has_result = deliver_tuning(tuning, call.given, call.title)
    if call.given.get("json") != "-":
        print(f"kept as t{tuning.number} in {call.tunings}", file=sys.stderr)
    return 0 if has_result else 1


def _put_back_first() -> None:
    """Put back what killed runs left, so that no changed setting becomes a baseline. Raises UsageError."""
    for restored in restore():
        if restored.failure is not None:
            raise UsageError(
                f"a killed run left {restored.what} of {restored.url} changed: {restored.failure}",
                "start that server and run `tare tune restore`",
            )


def _progress(
    call: Call, load: LoadSpec, shape: BlocksSpec, what: str, arms: int, blocks: int
) -> AbstractContextManager[Hear]:
    title = f"{load.workload} on {redacted(call.db)}{what and ', '}{what}, {arms} arms, {blocks} blocks"
    return shown(
        title,
        load.rate,
        (blocks + 1) * shape.window_s * arms,
        quiet="-" in call.given.values() or not sys.stderr.isatty(),
    )
