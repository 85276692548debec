"""Checks: which of the kernel's counters this user can read. Each is tried."""

from __future__ import annotations

import os
from collections.abc import Iterator

from tare.measure.machine.doctor.finding import Area, Finding, Status, read
from tare.measure.machine.doctor.surroundings import Surroundings

_NO_PMU = "on a virtual machine ask its host for a virtual PMU; else see `dmesg | grep -i perf`"
_TIER_WHY = {
    "bpf": "the cheapest and completest snapshots, every exit, and a scheduler trace as audit",
    "taskstats": "cheap snapshots, exit records and block-I/O delays without BPF",
    "procfs": "what is left without privileges: the world-readable files of /proc",
}


def _text(refused: ImportError | OSError) -> str:
    """The reason alone, without the error number."""
    reason = refused.strerror if isinstance(refused, OSError) else None
    return (reason or str(refused)).splitlines()[0]


def tiers(around: Surroundings) -> Iterator[Finding]:
    try:
        probe = around.probe
    except (ImportError, OSError) as refused:
        yield Finding(
            "probe", Area.ALLOWED, Status.PROBLEM, _text(refused), "without it nothing can be measured",
            "reinstall tare-db, or build it with `make build`",
        )  # fmt: skip
        return
    for attempt in probe.attempts:
        status = Status.GOOD if attempt.works else Status.ADVICE
        used = "works, used" if attempt.name == probe.tier else "works"
        yield Finding(
            f"tier {attempt.name}", Area.ALLOWED, status, used if attempt.works else attempt.reason,
            _TIER_WHY.get(attempt.name, "one of the probe's ways to read the kernel"),
            "" if attempt.works else attempt.next_step,
        )  # fmt: skip


def instructions(around: Surroundings) -> Finding:
    name, why = "instruction counter", "user-mode instructions are the steadiest cost there is"
    try:
        from tare._probe import count_instructions

        counter = count_instructions([os.getpid()])
        before = counter.read()
        sum(range(10_000))
        counted = counter.read() - before
        counter.close()
    except (ImportError, OSError) as refused:
        paranoid = read("/proc/sys/kernel/perf_event_paranoid")
        step = _NO_PMU
        if os.geteuid() != 0 and paranoid is not None and int(paranoid) > 2:
            step = "as root: sysctl -w kernel.perf_event_paranoid=2, or grant CAP_PERFMON"
        return Finding(name, Area.ALLOWED, Status.ADVICE, _text(refused), why, step)
    if counted <= 0:
        return Finding(name, Area.ALLOWED, Status.ADVICE, "opens, but counts nothing", why, _NO_PMU)
    return Finding(name, Area.ALLOWED, Status.GOOD, f"works ({counted} counted for a short loop)", why)
