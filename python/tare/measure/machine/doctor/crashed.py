"""Check: machine settings that a crashed run did not get to put back."""

from __future__ import annotations

from tare.errors import TareError
from tare.measure.machine.doctor.finding import Area, Finding, Status
from tare.measure.machine.doctor.surroundings import Surroundings
from tare.measure.machine.leftovers import leftovers


def left_over(around: Surroundings) -> Finding:
    name, why = "left-over settings", "a run and its guardian were killed: the machine is not as it was found"
    try:
        found = leftovers()
    except TareError as refused:
        return Finding(name, Area.DISTURBANCE, Status.UNKNOWN, refused.what, why, refused.next_step)
    if not found:
        return Finding(name, Area.DISTURBANCE, Status.GOOD, "none", why)
    observed = "; ".join(
        f"{run.command or 'a run'} (was pid {run.pid}) left to put back: "
        + (", ".join(run.to_put_back) or "nothing")
        for run in found
    )
    return Finding(name, Area.DISTURBANCE, Status.PROBLEM, observed, why, "tare doctor --restore")
