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
        f"{run.command or 'a run'} (was pid {run.pid or 'unknown'}) left to put back: "
        + (", ".join(run.to_put_back) or "nothing")
        + ("" if run.readable else f" (cannot read all of {run.journal})")
        for run in found
    )
    step = "tare doctor --restore"
    foreign = [str(run.journal) for run in found if not run.readable]
    if foreign:
        step += (
            f", by the version of Tare that wrote {', '.join(foreign)}; "
            "without it restart the machine, then remove what is still there of it"
        )
    return Finding(name, Area.DISTURBANCE, Status.PROBLEM, observed, why, step)
