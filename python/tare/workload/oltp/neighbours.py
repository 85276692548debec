"""Whether others took CPU time that the run's transactions needed.

A second is disturbed if other processes and the hypervisor took at least 10% of the CPUs' time in it, and transactions
lost at least 10% of their service time by that. The loss is estimated. Threads of server and driver that are ready wait
for a CPU; the wait is others' doing in the share of the CPUs' time that others use. Of the time that the hypervisor
takes, the share is lost in which server or driver have a CPU. Use of idle CPUs by others is therefore no disturbance.

The last second is not judged: sessions end with the schedule, and what they used since the reading before would be
taken for others'.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tare.workload.oltp.run import Measure
from tare.workload.oltp.told import Second
from tare.workload.oltp.verdict import Disturbed, Neighbours, Unwatched

LEAST_USE = 0.1  # of all CPUs' time
LEAST_LOSS = 0.1  # of the service time
FEWEST = 2  # disturbed seconds
SHARE = 0.05  # of the seconds: a disturbance that is shorter is in few transactions


@dataclass(frozen=True, slots=True)
class CpuUse:
    """Use of the CPUs in one second, as shares of their time; `loss` is a share of the service time."""

    others: float
    steal: float
    loss: float

    @property
    def is_disturbed(self) -> bool:
        return self.others + self.steal >= LEAST_USE and self.loss >= LEAST_LOSS


def disturbance(
    seconds: Sequence[Second], measures: Iterable[Measure], cpus: int, scheduled_s: float
) -> Neighbours | None:
    """The disturbed seconds together, if they are more than a few. None also where others' use cannot be measured."""
    used: dict[int, dict[str, float]] = {}
    for one in measures:
        used.setdefault(one.second, {})[one.name] = one.value
    scheduled = [one for one in seconds if 0 <= one.number < scheduled_s - 1]
    read = sum("machine_cpu" in used.get(one.number, {}) for one in scheduled)
    if len(scheduled) >= FEWEST and read < len(scheduled) / 2:
        return Unwatched(seconds=read, of_seconds=len(scheduled))
    every = [found for one in scheduled if (found := _second(one, used.get(one.number, {}), cpus))]
    disturbed = [one for one in every if one.is_disturbed]
    n = len(disturbed)
    if n < max(FEWEST, SHARE * len(every)):
        return None
    return Disturbed(
        seconds=n,
        of_seconds=len(every),
        others_ratio=sum(one.others for one in disturbed) / n,
        steal_ratio=sum(one.steal for one in disturbed) / n,
        wait_ratio=sum(one.loss for one in disturbed) / n,
    )


def _second(second: Second, used: Mapping[str, float], cpus: int) -> CpuUse | None:
    """`used`: seconds of CPU time a second, by the measure's name. None: it was not measured."""
    others, busy = used.get("others_cpu"), used.get("machine_cpu")
    if others is None or not busy:
        return None
    steal = used.get("machine_steal", 0.0)
    queue = used.get("server_run_queue", 0.0) + used.get("driver_run_queue", 0.0)
    ours = max(0.0, busy - others)
    lost = queue * min(1.0, others / cpus) + steal * ours / busy
    return CpuUse(others / cpus, steal / cpus, min(1.0, _share(lost, second)))


def _share(lost: float, second: Second) -> float:
    """Return the service time that fell into the second, s, of the transactions that were in the DBMS then."""
    served = 0.0 if second.service is None else second.service.mean * second.counts.finished / 1e9
    within = max(served, float(second.running))  # those that did not end in it were in it all the same
    return lost / within if within else float(lost > 0)
