"""Facts that several checks use: the kind of machine, and a sample of one second."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from tare.measure.machine.doctor.finding import read
from tare.measure.machine.interrupts import Burden, Interrupts
from tare.measure.machine.interrupts import read as read_interrupts
from tare.measure.machine.putback import tasks

if TYPE_CHECKING:
    from tare._probe import Probe


@dataclass(frozen=True, slots=True)
class Activity:
    """CPU time of a process during the sample, as a share of one CPU (1.0 = a whole CPU)."""

    pid: int
    name: str
    kernel: bool
    share: float


@dataclass(frozen=True, slots=True)
class Sample:
    """Processes that ran between two snapshots. Shares are of all CPU time, 0 to 1."""

    seconds: float
    activities: tuple[Activity, ...]  # busiest first, ourselves left out
    busy: float
    steal: float
    iowait: float
    forks: int
    context_switches: int
    interrupts: Burden | None  # None where they are not shown


def _interrupts() -> Interrupts | None:
    try:
        return read_interrupts()
    except OSError:
        return None


class Surroundings:
    """Read once, when the first check asks. ``seconds`` is the length of the sample."""

    def __init__(self, seconds: float = 1.0) -> None:
        self._seconds = seconds

    @cached_property
    def probe(self) -> Probe:
        """Raises ImportError where the core is not built, ProbeError where no tier works."""
        from tare._probe import Probe

        return Probe()

    @cached_property
    def sample(self) -> Sample:
        """Raises as `probe`."""
        probe = self.probe
        first, machine = {(p.pid, p.start_ns): p for p in probe.processes().processes()}, probe.machine()
        interrupted = _interrupts()
        time.sleep(self._seconds)
        now_interrupted = _interrupts()
        later, second = probe.machine(), probe.processes().processes()
        passed_ns = later.taken_ns - machine.taken_ns
        activities = []
        for process in second:
            if process.pid == os.getpid():
                continue
            before = first.get((process.pid, process.start_ns))
            now_ns = process.run_ns if process.run_ns is not None else process.user_ns + process.system_ns
            then_ns = 0
            if before is not None:
                then_ns = before.run_ns if before.run_ns is not None else before.user_ns + before.system_ns
            share = (now_ns - then_ns) / passed_ns
            if share > 0:
                activities.append(Activity(process.pid, process.comm, process.kernel, share))
        activities.sort(key=lambda activity: -activity.share)
        parts = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")  # guest is in user
        ticks = {part: getattr(later.total, part) - getattr(machine.total, part) for part in parts}
        all_ticks = max(1, sum(ticks.values()))
        return Sample(
            passed_ns / 1e9,
            tuple(activities),
            1 - (ticks["idle"] + ticks["iowait"] + ticks["steal"]) / all_ticks,
            ticks["steal"] / all_ticks,
            ticks["iowait"] / all_ticks,
            later.forks - machine.forks,
            later.context_switches - machine.context_switches,
            Burden(now_interrupted, now_interrupted.since(interrupted), passed_ns / 1e9)
            if interrupted and now_interrupted
            else None,
        )

    @cached_property
    def hypervisor(self) -> str | None:
        """Hypervisor that this machine is a guest of; None on bare metal."""
        named = read("/sys/hypervisor/type")
        if named:
            return named
        if "hypervisor" not in (read("/proc/cpuinfo") or ""):
            return None
        product = " ".join(
            filter(None, (read(f"/sys/class/dmi/id/{part}") for part in ("sys_vendor", "product_name")))
        )
        clocks = read("/sys/devices/system/clocksource/clocksource0/available_clocksource") or ""
        return product or ("KVM" if "kvm-clock" in clocks else "an unnamed hypervisor")

    @cached_property
    def container(self) -> str | None:
        """The container runtime this process is in, as far as it shows."""
        for marker, name in (("/.dockerenv", "Docker"), ("/run/.containerenv", "Podman")):
            if Path(marker).exists():
                return name
        return read("/run/systemd/container")

    @cached_property
    def names(self) -> dict[int, str]:
        """Every user process by pid."""
        return {pid: tasks.name(pid) for pid in tasks.processes() if not tasks.is_kernel(pid)}
