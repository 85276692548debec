"""Who else used the machine's CPUs while a run was measured, by the server measures of its seconds.

The kernel's count of all CPUs' busy time, less what the server, the driver and Tare used, is what all other programs
used together: also those too short-lived for any list of processes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from tare.workload.oltp.run import OltpRun

LEAST_SHARE = 0.1
"""Share of the machine's CPUs above which a disturbance is a finding."""

_S = 1e9
_OURS = ("tare_cpu", "tare_session_cpu")


class Source(StrEnum):
    NEIGHBOURS = "neighbours"  # programs that are neither the server, nor the driver, nor Tare
    STEAL = "steal"  # the hypervisor


@dataclass(frozen=True, slots=True)
class Disturbance:
    """CPUs that a source took, on average over the schedule's seconds."""

    source: Source
    cpus: float
    share: float  # of all CPUs of the machine


def disturbances(run: OltpRun) -> list[Disturbance]:
    """Disturbances beyond LEAST_SHARE; the largest first."""
    online = run.machine.online_cpus
    means = ((source, _mean(values)) for source, values in _by_source(run))
    found = [
        Disturbance(source, cpus, cpus / online) for source, cpus in means if cpus > LEAST_SHARE * online
    ]
    return sorted(found, key=lambda one: -one.cpus)


def neighbours(run: OltpRun) -> dict[int, float]:
    """CPUs of programs that are not ours, by second of the schedule for which they are known."""
    driver = _driver(run)
    found = {second: _others(values, driver[second], run) for second, values in _by_second(run).items()}
    return {second: others for second, others in found.items() if others is not None}


def _by_source(run: OltpRun) -> Iterator[tuple[Source, list[float]]]:
    """CPUs taken in each second of the schedule for which it is known."""
    measured = _by_second(run)
    yield Source.NEIGHBOURS, list(neighbours(run).values())
    yield Source.STEAL, [values["machine_steal"] for values in measured.values() if "machine_steal" in values]


def _driver(run: OltpRun) -> dict[int, float]:
    """CPUs of the driver, by second."""
    return {second.number: second.own_cpu_ns / _S for second in run.seconds}


def _by_second(run: OltpRun) -> dict[int, dict[str, float]]:
    """Measures by name, by second of the schedule."""
    scheduled = sum(phase.duration_s for phase in run.asked.phases)
    driver = _driver(run)
    measured: defaultdict[int, dict[str, float]] = defaultdict(dict)
    for measure in run.measures:
        if 0 <= measure.second < scheduled and measure.second in driver:
            measured[measure.second][measure.name] = measure.value
    return measured


def _others(values: Mapping[str, float], driver: float, run: OltpRun) -> float | None:
    """CPUs of programs that are not ours. SQLite works within the driver."""
    if "machine_cpu" not in values:
        return None
    server = 0.0
    if run.server.local and run.server.dbms != "sqlite":
        if "server_cpu" not in values:
            return None
        server = values["server_cpu"]
    return values["machine_cpu"] - server - driver - sum(values.get(name, 0.0) for name in _OURS)


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else 0.0
