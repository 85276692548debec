"""The doctor's round: every check in the order it is shown. Add a check by adding it here."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tare.errors import TareError
from tare.measure.machine.doctor import (
    core,
    crashed,
    interrupting,
    memory,
    neighbours,
    probing,
    processor,
    rights,
    storage,
    timekeeping,
)
from tare.measure.machine.doctor.finding import Area, Finding, Status
from tare.measure.machine.doctor.surroundings import Surroundings

Check = Callable[[Surroundings], Finding | Iterator[Finding]]

# The sample comes first: what the other checks do must not be in it.
CHECKS: tuple[tuple[Area, Check], ...] = (
    (Area.DISTURBANCE, neighbours.other_processes),
    (Area.DISTURBANCE, neighbours.steal),
    (Area.DISTURBANCE, interrupting.device_interrupts),
    (Area.DISTURBANCE, neighbours.databases),
    (Area.DISTURBANCE, neighbours.daemons),
    (Area.DISTURBANCE, crashed.left_over),
    (Area.DISTURBANCE, memory.pressure),
    (Area.DISTURBANCE, memory.free),
    (Area.DISTURBANCE, memory.swap),
    (Area.DISTURBANCE, memory.huge_pages),
    (Area.DISTURBANCE, processor.virtual_machine),
    (Area.DISTURBANCE, processor.governor),
    (Area.DISTURBANCE, processor.turbo),
    (Area.DISTURBANCE, processor.smt),
    (Area.DISTURBANCE, core.own_core),
    (Area.DISTURBANCE, processor.isolated),
    (Area.DISTURBANCE, processor.clocksource),
    (Area.DISTURBANCE, timekeeping.synchronisation),
    (Area.DISTURBANCE, storage.scheduler),
    (Area.DISTURBANCE, storage.write_cache),
    (Area.ALLOWED, probing.tiers),
    (Area.ALLOWED, probing.instructions),
    (Area.ALLOWED, rights.capabilities),
    (Area.ALLOWED, rights.delay_accounting),
    (Area.ALLOWED, rights.cpuset),
    (Area.ALLOWED, rights.own_cpus),
    (Area.ALLOWED, rights.drop_caches),
)


def examine(seconds: float = 1.0) -> list[Finding]:
    """Runs every check; ``seconds`` is how long the machine is watched. A check that the
    system refuses gives a finding of its own, and the others go on."""
    around = Surroundings(seconds)
    findings: list[Finding] = []
    for area, check in CHECKS:
        try:
            found = check(around)
            findings.extend([found] if isinstance(found, Finding) else found)
        except (OSError, ImportError, TareError) as refused:
            name = check.__name__.replace("_", " ")
            findings.append(Finding(name, area, Status.UNKNOWN, str(refused), "it could not be looked at"))
    return findings


def can_measure(findings: list[Finding]) -> bool:
    """Whether any tier of the probe works."""
    return any(finding.status is Status.GOOD and finding.name.startswith("tier ") for finding in findings)
