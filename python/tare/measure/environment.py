"""The conditions of a run: machine, kernel, operating system, Tare itself."""

from __future__ import annotations

import os
import platform
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tare.version import VERSION


@dataclass(frozen=True, slots=True)
class MachineFacts:
    cpu_model: str
    online_cpus: int
    usable_cpus: int  # those this process may run on
    memory_bytes: int
    hypervisor: str | None
    kernel: str
    operating_system: str
    python: str
    tare: str


def machine_facts() -> MachineFacts:
    cpuinfo = Path("/proc/cpuinfo").read_text(errors="replace")
    return MachineFacts(
        cpu_model=_field(cpuinfo, "model name") or _field(cpuinfo, "Processor") or platform.machine(),
        online_cpus=os.cpu_count() or 1,
        usable_cpus=len(os.sched_getaffinity(0)),
        memory_bytes=os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"),
        hypervisor=_hypervisor(cpuinfo),
        kernel=platform.release(),
        operating_system=_operating_system(),
        python=platform.python_version(),
        tare=VERSION,
    )


def _field(cpuinfo: str, name: str) -> str | None:
    for line in cpuinfo.splitlines():
        key, _, value = line.partition(":")
        if key.strip() == name:
            return value.strip()
    return None


_CLOCKS = {"kvm-clock": "KVM", "hyperv_clocksource_tsc_page": "Hyper-V", "xen": "Xen"}


def _hypervisor(cpuinfo: str) -> str | None:
    """None on bare metal. A guest is known by its CPU flag, and named by the clock it is offered."""
    if "hypervisor" not in (_field(cpuinfo, "flags") or "").split():
        return None
    with suppress(OSError):
        clocks = (
            Path("/sys/devices/system/clocksource/clocksource0/available_clocksource").read_text().split()
        )
        for clock, name in _CLOCKS.items():
            if clock in clocks:
                return name
    with suppress(OSError):
        return Path("/sys/class/dmi/id/sys_vendor").read_text().strip()
    return "a hypervisor"


def _operating_system() -> str:
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        return platform.system()
