"""Deviations of a run from the protocols' set-up (TTPv2 §8.1, step 3): what is really known, no more."""

from __future__ import annotations

import os
from collections.abc import Iterator

from tare.measure.choices import Tier
from tare.measure.environment import MachineFacts
from tare.measure.machine.doctor import neighbours, processor, timekeeping
from tare.measure.machine.doctor.finding import Status
from tare.measure.machine.doctor.surroundings import Surroundings
from tare.measure.rig import Rig

_LOOKED_AT = (
    (processor.turbo, "turbo mode was on"),
    (neighbours.daemons, "periodic daemons were left running"),
    (timekeeping.synchronisation, "the clock was not synchronised"),
)


def usable_cpus(rig: Rig) -> int:
    """CPUs that the DBMS's query process or the executor may run on."""
    own = os.sched_getaffinity(0)
    try:
        return len(own | os.sched_getaffinity(rig.leader.tid))
    except ProcessLookupError:
        return len(own)


def deviations(rig: Rig, machine: MachineFacts) -> list[str]:
    """Sentences without a full stop, in the order of importance."""
    return [*_of_machine(rig, machine), *_of_reading(rig), *_of_setup()]


def _of_machine(rig: Rig, machine: MachineFacts) -> Iterator[str]:
    cpus = usable_cpus(rig)
    if cpus > 1:
        yield (
            f"the DBMS and the executor could use {cpus} CPUs, not one: TTPv2's I/O estimate, which takes half of "
            "the overall IOWait, is not applicable"
        )
    if machine.hypervisor is not None:
        yield f"a virtual machine ({machine.hypervisor}): its host may take CPU time away and share caches and disk"


def _of_reading(rig: Rig) -> Iterator[str]:
    if rig.probe.tier != Tier.BPF:
        yield f"the kernel was read through {rig.probe.tier}, not BPF: the leader's sleep and steal are unknown"
    if rig.no_delay:
        yield f"delay accounting was off, so block-I/O delay is unknown: {rig.no_delay}"
    if rig.listener is None:
        yield f"no exit records, so processes that ended within a QE are unknown: {rig.no_listener}"


def _of_setup() -> Iterator[str]:
    around = Surroundings()
    for check, sentence in _LOOKED_AT:
        if check(around).status is Status.ADVICE:
            yield sentence
