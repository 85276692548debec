"""From a lab and a run of it to its report."""

from __future__ import annotations

from tare.lab.oltp import find, load
from tare.lab.store import open_lab
from tare.report.oltp.build import Built, build
from tare.report.oltp.comparison import Comparison
from tare.report.oltp.comparison import build as build_comparison
from tare.report.safe import lab_name


def make(where: str, asked: str, *, title: str | None = None) -> Built:
    """Raises NoSuchRun, LabError."""
    with open_lab(where) as lab:
        run_id = find(lab, asked)
        run = load(lab, run_id)
    return build(run, run_id, lab=lab_name(where), title=title)


def make_comparison(where: str, a: str, b: str, *, title: str | None = None) -> Comparison:
    """Raises NoSuchRun, LabError."""
    with open_lab(where) as lab:
        ids = find(lab, a), find(lab, b)
        runs = [load(lab, one) for one in ids]
    return build_comparison(runs[0], runs[1], ids, lab=lab_name(where), title=title)
