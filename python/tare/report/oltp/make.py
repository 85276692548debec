"""From a lab and a run of it to its report."""

from __future__ import annotations

from collections.abc import Sequence

from tare.errors import UsageError
from tare.lab.oltp import find, load
from tare.lab.store import open_lab
from tare.report.oltp.build import Built, build
from tare.report.oltp.comparison import Comparison
from tare.report.oltp.comparison import build as build_comparison
from tare.report.oltp.groups import GroupComparison
from tare.report.oltp.groups import build as build_groups
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


def make_groups(where: str, asked: Sequence[str], *, title: str | None = None) -> GroupComparison:
    """Raises NoSuchRun, LabError, and UsageError where a run is named twice or all settings are equal."""
    with open_lab(where) as lab:
        ids = [find(lab, one) for one in asked]
        for place, number in enumerate(ids):
            if number in ids[:place]:
                raise UsageError(f"o{number} is named twice", "name each run once")
        runs = [(number, load(lab, number)) for number in ids]
    return build_groups(runs, lab=lab_name(where), title=title)
