"""Checks: what makes a CPU run faster at one time than at another."""

from __future__ import annotations

from pathlib import Path

from tare.measure.machine import cpus
from tare.measure.machine.doctor.finding import Area, Finding, Status, disturbance, read
from tare.measure.machine.doctor.surroundings import Surroundings

_CPU = "/sys/devices/system/cpu"


def _absent(around: Surroundings, name: str, why: str) -> Finding:
    """A switch that the kernel does not show: in a guest it is the host's affair."""
    if around.hypervisor:
        return Finding(
            name,
            Area.DISTURBANCE,
            Status.NOT_APPLICABLE,
            f"the host's affair (guest of {around.hypervisor})",
            why,
        )
    return Finding(name, Area.DISTURBANCE, Status.UNKNOWN, "this kernel shows no such switch", why)


def virtual_machine(around: Surroundings) -> Finding:
    why = "in a guest, CPU time may be taken away (steal), and frequency, caches and disk are shared unseen"
    if around.hypervisor is None:
        return Finding("virtual machine", Area.DISTURBANCE, Status.GOOD, "bare metal", why)
    inside = f", in a container ({around.container})" if around.container else ""
    return Finding(
        "virtual machine", Area.DISTURBANCE, Status.ADVICE, f"guest of {around.hypervisor}{inside}", why,
        "compare only runs on the same machine; interleave what you compare (`tare compare`)",
    )  # fmt: skip


def governor(around: Surroundings) -> Finding:
    name, why = "frequency governor", "a governor that follows the load makes the first milliseconds slower"
    found = {path.read_text().strip() for path in Path(_CPU).glob("cpu[0-9]*/cpufreq/scaling_governor")}
    if not found:
        return _absent(around, name, why)
    observed = ", ".join(sorted(found))
    step = "as root: cpupower frequency-set -g performance"
    return disturbance(name, observed, why, is_quiet=found == {"performance"}, advice=step)


def turbo(around: Surroundings) -> Finding:
    name, why = "turbo", "the clock depends on heat and on what the other cores do"
    intel, boost = read(f"{_CPU}/intel_pstate/no_turbo"), read(f"{_CPU}/cpufreq/boost")
    if intel is None and boost is None:
        return _absent(around, name, why)
    if intel == "1" or (intel is None and boost == "0"):
        return Finding(name, Area.DISTURBANCE, Status.GOOD, "off", why)
    switch = "echo 1 > " + f"{_CPU}/intel_pstate/no_turbo" if intel else f"echo 0 > {_CPU}/cpufreq/boost"
    return Finding(name, Area.DISTURBANCE, Status.ADVICE, "on", why, f"as root: {switch}")


def smt(around: Surroundings) -> Finding:
    name, why = "SMT", "a busy sibling on the same core slows a query down without taking its CPU"
    pairs = {cpus.show(cpus.siblings(cpu)) for cpu in cpus.online() if len(cpus.siblings(cpu)) > 1}
    if pairs:
        step = f"as root: echo off > {_CPU}/smt/control"
        if len(pairs) > 1:  # one core must stay for everybody else
            step = f"reserve a whole core (`tare isolate --cpu {max(pairs)}`), or {step}"
        observed = f"on; cores {'; '.join(sorted(pairs))}"
        return Finding(name, Area.DISTURBANCE, Status.ADVICE, observed, why, step)
    if around.hypervisor:
        return Finding(
            name, Area.DISTURBANCE, Status.NOT_APPLICABLE, "none in this guest; whether its CPUs share "
            "cores is the host's affair (see own core)", why,
        )  # fmt: skip
    return Finding(name, Area.DISTURBANCE, Status.GOOD, "off, or the CPU has none", why)


def clocksource(around: Surroundings) -> Finding:
    name, why = (
        "clock source",
        "reading the clock by a system call costs microseconds where tsc takes tens of ns",
    )
    source = read("/sys/devices/system/clocksource/clocksource0/current_clocksource")
    if source is None:
        return Finding(name, Area.DISTURBANCE, Status.UNKNOWN, "not shown by this kernel", why)
    fast = source in ("tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page")
    step = "see `dmesg | grep -i tsc` for why the kernel does not trust the TSC"
    return disturbance(name, source, why, is_quiet=fast, advice=step)


def isolated(around: Surroundings) -> Finding:
    name, why = (
        "isolated CPUs",
        "CPUs isolated at boot are free of the scheduler's balancing, the quietest there are",
    )
    found = read(f"{_CPU}/isolated")
    return Finding(
        name,
        Area.DISTURBANCE,
        Status.GOOD,
        found or "none at boot; `tare isolate` reserves them at run time",
        why,
    )
