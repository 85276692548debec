"""Checks: what this user may change. Each is tried, by an operation that changes nothing."""

from __future__ import annotations

import os

from tare.errors import TareError
from tare.measure.machine import cpus
from tare.measure.machine.doctor.finding import Area, Finding, Status, read
from tare.measure.machine.doctor.surroundings import Surroundings
from tare.measure.machine.exclusive import exclusive
from tare.measure.machine.isolation import cgroups
from tare.measure.machine.isolation.confinement import Unavailable
from tare.measure.machine.isolation.cpuset_v1 import CpusetConfinement
from tare.measure.machine.isolation.cpuset_v2 import PartitionConfinement
from tare.measure.machine.putback.steps import sysctl_path
from tare.measure.machine.settings import DELAY_ACCOUNTING, MachineSettings, journal_directory

_CAPABILITIES = {  # bit number in CapEff: what Tare does with it (linux/capability.h)
    12: ("CAP_NET_ADMIN", "exit records by taskstats"),
    19: ("CAP_SYS_PTRACE", "I/O counters of other users' processes"),
    21: ("CAP_SYS_ADMIN", "delay accounting"),
    23: ("CAP_SYS_NICE", "affinity of other users' processes"),
    38: ("CAP_PERFMON", "instruction counters, BPF programs that trace"),
    39: ("CAP_BPF", "the BPF tier"),
}


def capabilities(around: Surroundings) -> Finding:
    why = "rights decide which tier and which settings are within reach"
    line = next(
        (row for row in (read("/proc/self/status") or "").splitlines() if row.startswith("CapEff")), ""
    )
    if not line:
        return Finding("capabilities", Area.ALLOWED, Status.UNKNOWN, "/proc/self/status has no CapEff", why)
    effective = int(line.split()[1], 16)
    missing = [text for bit, text in _CAPABILITIES.items() if not effective >> bit & 1]
    who = "root" if os.geteuid() == 0 else f"uid {os.geteuid()}"
    if not missing:
        return Finding("capabilities", Area.ALLOWED, Status.GOOD, f"{who}, with all that Tare can use", why)
    observed = f"{who}, without {', '.join(name for name, _ in missing)}"
    step = "as root or with the capability you would also have: " + "; ".join(
        f"{name}: {gives}" for name, gives in missing
    )
    return Finding("capabilities", Area.ALLOWED, Status.ADVICE, observed, why, step)


def delay_accounting(around: Surroundings) -> Finding:
    name = "delay accounting"
    why = "block-I/O delay is counted only while kernel.task_delayacct is 1, for tasks born since"
    path = sysctl_path(DELAY_ACCOUNTING)
    try:
        with exclusive(journal_directory()):
            now = path.read_text().strip()
            path.write_text(now)  # the kernel checks the right on a write of the same value, too
    except FileNotFoundError:
        return Finding(
            name, Area.ALLOWED, Status.PROBLEM, "this kernel has none", why,
            "use a kernel built with CONFIG_TASK_DELAY_ACCT",
        )  # fmt: skip
    except OSError as refused:
        now = read(str(path)) or "unknown"
        observed = f"{DELAY_ACCOUNTING} = {now}, may not be changed ({refused.strerror})"
        if now == "1":
            return Finding(name, Area.ALLOWED, Status.GOOD, observed, why)
        return Finding(
            name, Area.ALLOWED, Status.ADVICE, observed, why,
            "run as root, or have root set it: sysctl -w kernel.task_delayacct=1",
        )  # fmt: skip
    except TareError as refused:
        return Finding(name, Area.ALLOWED, Status.PROBLEM, refused.what, why, refused.next_step)
    observed = "on" if now == "1" else "off; Tare may turn it on for each measurement and puts it back"
    return Finding(name, Area.ALLOWED, Status.GOOD, observed, why, undoable=now != "1")


def drop_caches(around: Surroundings) -> Finding:
    name, why = "drop_caches", "clears the whole page cache; Tare otherwise evicts the database's own files"
    try:
        # Opening for writing is what the kernel refuses; nothing is written.
        os.close(os.open("/proc/sys/vm/drop_caches", os.O_WRONLY | os.O_CLOEXEC))
    except OSError as refused:
        return Finding(
            name, Area.ALLOWED, Status.ADVICE, f"not allowed ({refused.strerror})", why,
            "nothing for files you can read: they are evicted one by one; root may drop all",
        )  # fmt: skip
    return Finding(name, Area.ALLOWED, Status.GOOD, "allowed", why)


def cpuset(around: Surroundings) -> Finding:
    name, why = "cpuset", "reserves CPUs so that nobody else runs there, processes born meanwhile included"
    every = cpus.online()
    if len(every) == 1:
        return Finding(name, Area.ALLOWED, Status.NOT_APPLICABLE, "one CPU: nothing can be reserved", why)
    reserved = {max(every)}
    reasons = []
    for means in (PartitionConfinement, CpusetConfinement):
        try:
            with MachineSettings() as settings:
                means(settings, reserved, every - reserved)
        except (Unavailable, TareError) as refused:
            reasons.append(f"{means.name}: {str(refused).splitlines()[0]}")
        else:
            return Finding(name, Area.ALLOWED, Status.GOOD, f"works: {means.name}", why, undoable=True)
    step = "run as root" if os.geteuid() != 0 else "`tare isolate` falls back to affinity"
    return Finding(name, Area.ALLOWED, Status.ADVICE, "; ".join(reasons), why, step)


def own_cpus(around: Surroundings) -> Finding:
    name, why = "own CPUs", "a limit on CPUs or a quota slows a query down without any counter saying so"
    mine, every = os.sched_getaffinity(0), cpus.online()
    quota = _quota()
    observed = f"may run on CPU {cpus.show(mine)} of {cpus.show(every)}"
    if quota is not None:
        return Finding(
            name, Area.ALLOWED, Status.PROBLEM, f"{observed}, throttled to {quota:g} CPUs by its cgroup", why,
            "raise or remove the quota (cpu.max, or --cpus of the container)",
        )  # fmt: skip
    if mine != every:
        step = "start Tare without taskset or a cpuset around it, unless that is what you want"
        return Finding(name, Area.ALLOWED, Status.ADVICE, observed, why, step)
    return Finding(name, Area.ALLOWED, Status.GOOD, observed, why)


def _quota() -> float | None:
    """CPUs' worth of quota of our own cgroup; None without one."""
    mount, own = cgroups.v2(), cgroups.own("")
    if mount is not None and own is not None:
        limit, _, period = (read(str(cgroups.directory(mount, own) / "cpu.max")) or "max").partition(" ")
        if limit != "max":
            return int(limit) / int(period)
    own = cgroups.own("cpu")
    mount = cgroups.v1_cpu()
    if mount is not None and own is not None:
        group = cgroups.directory(mount, own)
        limit, period = (
            read(str(group / "cpu.cfs_quota_us")) or "-1",
            read(str(group / "cpu.cfs_period_us")) or "1",
        )
        if int(limit) > 0:
            return int(limit) / int(period)
    return None
