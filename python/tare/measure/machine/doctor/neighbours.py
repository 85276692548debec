"""Checks: who else is on this machine, now and later."""

from __future__ import annotations

from pathlib import Path

from tare.measure.machine import cpus
from tare.measure.machine.daemons import PERIODIC
from tare.measure.machine.doctor.finding import Area, Finding, Status, disturbance
from tare.measure.machine.doctor.surroundings import Surroundings
from tare.measure.machine.putback import tasks

_LOUD = 0.02  # of one CPU
_SHOWN = 5
_DBMS = {
    "postgres", "postmaster", "mysqld", "mariadbd", "mongod", "redis-server", "valkey-server",
    "clickhouse-serv", "sqlservr", "db2sysc", "oracle", "tnslsnr", "cockroach", "etcd", "influxd",
    "neo4j", "memcached",
}  # fmt: skip


def other_processes(around: Surroundings) -> Finding:
    name = "other processes"
    why = (
        "whoever runs on the query's CPU makes it wait, and on another CPU takes caches and memory bandwidth"
    )
    sample = around.sample
    loud = [activity for activity in sample.activities if activity.share >= _LOUD]
    observed = (
        f"{sample.busy:.0%} of {len(cpus.online())} CPUs busy in {sample.seconds:.1f} s, "
        f"{sample.forks} forks, {sample.context_switches} context switches"
    )
    if not loud:
        return Finding(
            name, Area.DISTURBANCE, Status.GOOD, f"{observed}; nobody above {_LOUD:.0%} of a CPU", why
        )
    who = ", ".join(f"{activity.name} ({activity.pid}) {activity.share:.0%}" for activity in loud[:_SHOWN])
    more = f" and {len(loud) - _SHOWN} more" if len(loud) > _SHOWN else ""
    return Finding(
        name, Area.DISTURBANCE, Status.ADVICE, f"{observed}; {who}{more}", why,
        "end them, or keep them off the query's CPU: tare isolate", undoable=len(cpus.online()) > 1,
    )  # fmt: skip


def steal(around: Surroundings) -> Finding:
    name, why = "steal", "the hypervisor ran somebody else: the paper's protocol discards such executions"
    share, now = _steal_since_boot(), around.sample.steal
    if around.hypervisor is None and share == now == 0:
        return Finding(name, Area.DISTURBANCE, Status.NOT_APPLICABLE, "bare metal", why)
    observed = f"{now:.2%} of CPU time in the sample, {share:.2%} since boot"
    step = "use a dedicated host or vCPU; read steal beside every result"
    return disturbance(name, observed, why, is_quiet=now == 0 and share < 0.001, advice=step)


def _steal_since_boot() -> float:
    """Share of all CPU time since boot."""
    ticks = [int(field) for field in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    return ticks[7] / max(1, sum(ticks))


def databases(around: Surroundings) -> Finding:
    name = "DBMS servers"
    why = "another server's check-points and vacuums are I/O that no query asked for (TTPv2 §3.3)"
    found = {pid: comm for pid, comm in around.names.items() if comm in _DBMS}
    roots = {pid: comm for pid, comm in found.items() if tasks.parent(pid) not in found}
    if not roots:
        return Finding(name, Area.DISTURBANCE, Status.GOOD, "none running", why)
    observed = ", ".join(f"{comm} ({pid})" for pid, comm in roots.items())
    step = (
        "stop those that are not measured" if len(roots) > 1 else "stop it if it is not the one you measure"
    )
    return Finding(name, Area.DISTURBANCE, Status.ADVICE, observed, why, step)


def daemons(around: Surroundings) -> Finding:
    name, why = "periodic daemons", "they wake up by the clock, in the middle of a run"
    found = {pid: comm for pid, comm in around.names.items() if comm in PERIODIC}
    timers = _timers()
    if not found and not timers:
        return Finding(name, Area.DISTURBANCE, Status.GOOD, "none of the known ones runs", why)
    parts = [f"{comm} ({pid}) {PERIODIC[comm]}" for pid, comm in found.items()]
    if timers:
        parts.append(f"systemd timers: {', '.join(timers)}")
    step = (
        "tare isolate --stop-daemons"
        if found
        else "as root, for the time of a long run: systemctl stop NAME.timer"
    )
    return Finding(name, Area.DISTURBANCE, Status.ADVICE, "; ".join(parts), why, step, undoable=bool(found))


def _timers() -> list[str]:
    """Enabled timers, where systemd runs the machine; else they never fire."""
    if not Path("/run/systemd/system").is_dir() or tasks.name(1) != "systemd":
        return []
    homes = (
        Path("/etc/systemd/system/timers.target.wants"),
        Path("/usr/lib/systemd/system/timers.target.wants"),
    )
    return sorted({timer.stem for home in homes if home.is_dir() for timer in home.glob("*.timer")})
