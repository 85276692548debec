"""The two phases of a QE whose planning is clocked: planning, and execution."""

from __future__ import annotations

from tare.dbms.planned import Planned
from tare.measure.lacks import Cause, Lack
from tare.measure.records import Phases


def phases_view(
    clock_1: int,
    clock_2: int,
    leader_cpu_1: int | None,
    planned: Planned | None,
    planning_inside: str,
    cpu_ns: int | None,
) -> Phases:
    """Return both phases. `leader_cpu_1`: CPU clock of the leader's process at the first clock. `planned`: both
    clocks after planning; None where planning is inside execution, for the reason `planning_inside`. `cpu_ns`: of all
    query processes. ns."""
    if planned is None:
        inside = Lack(Cause.PLANNING_INSIDE, planning_inside)
        return Phases(
            None,
            None,
            None,
            None,
            dict.fromkeys(("planning", "execution", "planning_cpu", "execution_cpu"), inside),
        )
    planning_cpu = execution_cpu = None
    why: dict[str, Lack] = {}
    if leader_cpu_1 is None or planned.cpu_ns is None:
        why["planning_cpu"] = why["execution_cpu"] = Lack(Cause.LEADER_UNSEEN)
    else:
        planning_cpu = planned.cpu_ns - leader_cpu_1
        if cpu_ns is None:
            why["execution_cpu"] = Lack(Cause.NO_RUN_TIME)
        else:
            execution_cpu = cpu_ns - planning_cpu
    return Phases(planned.at_ns - clock_1, clock_2 - planned.at_ns, planning_cpu, execution_cpu, why)
