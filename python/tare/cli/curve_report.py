"""Reports of curves: for `tare bench oltp curve`, and for `tare bench oltp report --curve` from a lab."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tare.report.oltp.curve.build import Taken
    from tare.report.oltp.curve.document import CurveReport


def deliver_curve(taken: Taken, lab: str, given: Mapping[str, str | None], title: str | None) -> None:
    """Write the requested forms, or print the curve."""
    from tare.report.kit.deliver import deliver
    from tare.report.oltp.curve.build import build
    from tare.report.oltp.curve.story import story
    from tare.report.safe import lab_name

    built = build(taken, lab=lab_name(lab), title=title)
    deliver(story(built), built.report, given, more={"csv": lambda: as_csv(built.report)})


def report_curves(texts: Sequence[str], lab: str, given: Mapping[str, str | None], title: str | None) -> None:
    """Report the curves that these runs are steps of, in one figure."""
    from tare.lab.oltp import load_curve
    from tare.lab.store import find_oltp_run, open_lab
    from tare.protocol.oltp.limit import Limit
    from tare.report.oltp.curve.build import Taken

    runs = {}
    with open_lab(lab) as opened:
        for text in texts:
            runs.update(dict(load_curve(opened, find_oltp_run(opened, text))))
    steps = [run.asked.step for run in runs.values() if run.asked.step is not None]
    limits = {
        Limit(step.figure, step.limit_ms)
        for step in steps
        if step.figure is not None and step.limit_ms is not None
    }
    deliver_curve(Taken(list(runs.items()), limits.pop() if len(limits) == 1 else None), lab, given, title)


def as_csv(report: CurveReport) -> str:
    """Write a row for each step, in the order in which they were taken; times in ms, empty where there is no figure."""
    from tare.report.oltp.curve.points import FIGURES, WAITS, bounds_of, figure_of, load_of

    out = io.StringIO()
    writer = csv.writer(out)
    names = [f"response_{figure}_ms" for figure in FIGURES]
    ends = [f"response_p99_{end}_ms" for end in ("low", "high")]
    service = [f"service_{figure}_ms" for figure in FIGURES]
    head = ("run", "step", "server", "requested", "due", "sustained", "capacity")
    writer.writerow([*head, *names, *ends, *service, *WAITS])
    for step in report.steps:
        writer.writerow(
            [
                step.run or step.uuid,
                step.number,
                report.arms[step.arm].label,
                step.requested,
                step.due,
                step.sustained,
                step.capacity.value,
                *(figure_of(step, figure) for figure in FIGURES),
                *(bounds_of(step, "p99") or (None, None)),
                *(figure_of(step, figure, "service") for figure in FIGURES),
                *(load_of(step, name) for name in WAITS),
            ]
        )
    return out.getvalue()
