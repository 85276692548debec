"""A sample lab for all tests of the report."""

from __future__ import annotations

from pathlib import Path

import pytest

from tare.lab.frames import Frames, open_frames
from tare.report.conditions.facts import Facts, facts_of
from tare.report.experiment.build import Built, build
from tests.unit.report.experiment import sample_outcome
from tests.unit.report.experiment.sample_lab import make_lab


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_lab(tmp_path_factory.mktemp("report") / "lab.db")


@pytest.fixture(scope="session")
def frames(lab: Path) -> Frames:
    return open_frames(str(lab))


@pytest.fixture(scope="session")
def facts(lab: Path) -> list[Facts]:
    return facts_of(str(lab), [1, 2])


@pytest.fixture(scope="session")
def built(frames: Frames, facts: list[Facts]) -> Built:
    outcomes = [sample_outcome.outcome(frames, name) for name in ("ttp1", "ttp2", "exact")]
    return build(frames, facts, outcomes, [sample_outcome.model()], lab="lab.db")
