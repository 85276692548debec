"""The session of `tare executor run`: the lab, the machine's settings, the signals."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

from tare.cli.experiment_show import observing
from tare.experiment.fleet import Fleet, default_name
from tare.interruption import Interrupted, Interrupts
from tare.lab.jobs import need_server
from tare.lab.store import open_lab
from tare.measure.choices import Tier
from tare.measure.machine.settings import MachineSettings, try_delay_accounting
from tare.protocol.warmup import steady


def work(
    lab: str,
    name: str | None,
    kinds: str,
    once: bool,
    place: Path | None,
    allow_restart: bool,
    connect_timeout_s: float,
    tier: Tier | None,
    *,
    machine_settings: bool,
) -> int:
    """Work on jobs; the exit code. Raises UsageError, LabError."""
    with open_lab(lab) as opened, MachineSettings() as settings, Interrupts(_say_ending) as interrupts:
        need_server(opened)
        if machine_settings:
            try_delay_accounting(settings)
        fleet = Fleet(
            lab=opened,
            name=name or default_name(),
            kinds=frozenset(one.strip() for one in kinds.split(",")),
            place=(place or Path.cwd() / "tare.dbms").absolute(),
            tier=tier,
            allow_restart=allow_restart,
            connect_timeout_s=connect_timeout_s,
            steady=steady,
            interrupts=interrupts,
            observing=lambda run, walks, sizes: observing(run, walks, sizes, None),
            say=_say,
        )
        try:
            fleet.work(once=once)
        except Interrupted as signal:
            return 0 if signal.exit_code != 130 else signal.exit_code
    return 0


def _say(what: str) -> None:
    print(f"tare: {what}", file=sys.stderr, flush=True)


def _say_ending() -> None:
    """From a signal's handler: no buffer that the interrupted code may hold is touched."""
    with suppress(OSError):
        os.write(2, b"\ntare: ending after the current execution; once more to end at once\n")
