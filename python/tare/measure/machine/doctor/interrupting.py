"""Check: which CPU serves the devices."""

from __future__ import annotations

from tare.measure.machine import cpus
from tare.measure.machine.doctor.finding import Area, Finding, Status
from tare.measure.machine.doctor.surroundings import Surroundings
from tare.measure.machine.interrupts import Burden

NAME = "device interrupts"
_WHY = (
    "the scheduler books serving them to the query that runs there: its CPU time grows with the disk's work"
)
_FEW = 1000  # since boot: no pattern yet
_UNEVEN = 0.10  # of all device interrupts, between the CPU that takes most and the one that takes fewest
_SHOWN = 3


def device_interrupts(around: Surroundings) -> Finding:
    return judge(around.sample.interrupts)


def judge(burden: Burden | None) -> Finding:
    if burden is None or not burden.boot.cpus:
        return Finding(NAME, Area.DISTURBANCE, Status.UNKNOWN, "/proc/interrupts is not shown here", _WHY)
    boot = burden.boot
    now = f"{burden.rate:,.0f} a second in the sample"
    if len(boot.cpus) == 1:
        observed = f"the only CPU takes all {boot.total:,}; {now}"
        return Finding(NAME, Area.DISTURBANCE, Status.NOT_APPLICABLE, observed, _WHY)
    if boot.total < _FEW and not burden.telling:
        return Finding(NAME, Area.DISTURBANCE, Status.GOOD, f"{boot.total:,} since boot; {now}", _WHY)
    most = max(boot.cpus, key=lambda cpu: burden.share([cpu]))
    fewest = min(boot.cpus, key=lambda cpu: (round(burden.share([cpu]), 3), -cpu))
    # The sample speaks where it shows the CPU busier than its past.
    shown = burden.lately if burden.share([most]) > boot.share([most]) else boot
    when = "in the sample" if shown is burden.lately else "since boot"
    sources = shown.busiest(most)
    observed = (
        f"CPU {most} takes {shown.share([most]):.0%} of {shown.total:,} {when}: "
        + ", ".join(f"{source.name} {source.counts[most]:,}" for source in sources[:_SHOWN])
        + (", …" if len(sources) > _SHOWN else "")
        + f"; CPU {fewest} takes {shown.share([fewest]):.1%}; {now}"
    )
    if burden.share([most]) - burden.share([fewest]) < _UNEVEN:
        return Finding(NAME, Area.DISTURBANCE, Status.GOOD, observed, _WHY)
    step = f"`tare isolate -- CMD` reserves the CPU that takes fewest, now CPU {fewest}"
    if sources[0].number is not None:
        others = cpus.show(set(boot.cpus) - {most})
        step += (
            "; or as root, where the device allows it: "
            f"echo {others} > /proc/irq/{sources[0].number}/smp_affinity_list"
        )
    return Finding(NAME, Area.DISTURBANCE, Status.ADVICE, observed, _WHY, step, undoable=True)
