"""A lab filled by hand for all tests of the benchmark's report."""

from __future__ import annotations

from pathlib import Path

import pytest

from tare.report.wisconsin.build import Built, make
from tests.unit.report.wisconsin.sample_lab import make_lab

RUNS = ("1", "2", "3", "4")


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_lab(tmp_path_factory.mktemp("wisconsin") / "lab.db")


@pytest.fixture(scope="session")
def built(lab: Path) -> Built:
    return make(str(lab), RUNS)
