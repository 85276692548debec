"""Steps of curves in a lab."""

from __future__ import annotations

from pathlib import Path

import pytest

from tare.errors import UsageError
from tare.lab.oltp import load_curve, record
from tare.lab.store import open_lab
from tests.unit.report.oltp import curve_sample, sample


def test_a_curve_is_read_back_whole_from_any_of_its_steps(tmp_path: Path) -> None:
    runs = [run for _, run in curve_sample.runs()][:3]
    with open_lab(str(tmp_path / "lab.db"), create=True) as lab:
        alone = record(lab, sample.run(rates=(100.0,), seconds=10))
        ids = [record(lab, run) for run in reversed(runs)]
        found = load_curve(lab, ids[0])
        assert [run.asked.step for _, run in found] == [run.asked.step for run in runs]
        assert [number for number, _ in found] == ids[::-1]
        with pytest.raises(UsageError, match="is not a step of a curve"):
            load_curve(lab, alone)
