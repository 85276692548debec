"""From a lab and some runs of the benchmark to their report."""

from __future__ import annotations

from collections.abc import Sequence

from tare.lab.frames import open_frames
from tare.report.conditions.facts import facts_of
from tare.report.safe import lab_name
from tare.report.wisconsin.build import ALWAYS_ACCEPTED, Built, build
from tare.report.wisconsin.stored import qatcs


def make(where: str, runs: Sequence[str], *, accept: Sequence[str] = (), title: str | None = None) -> Built:
    """`where`: a lab, or the folder of an export; `accept`: experiment-wide checks taken as deviations.

    Raises NoSuchRun, LabError, ForeignFile, UsageError.
    """
    from tare.protocol import run_protocol

    frames = open_frames(where, runs)
    ids = [int(one) for one in frames.run.order_by("id").id.to_pyarrow().to_pylist()]
    exact = run_protocol(frames, "exact", accept=[*ALWAYS_ACCEPTED, *accept])
    return build(frames, facts_of(where, ids), qatcs(where, ids), exact, lab=lab_name(where), title=title)
