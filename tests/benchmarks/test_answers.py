"""`benchmarks.answers` counts what is planted: a digit within the tolerance is not found, one beyond it is."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from benchmarks.common import rig

from benchmarks import answers
from tare.measure.arms import Arm
from tare.measure.phases import Phases

ROWS = 2_000


@pytest.fixture(params=["postgresql", "duckdb"])
def arm(request: pytest.FixtureRequest) -> Iterator[Arm]:
    """Arm of a session whose database has the table."""
    with rig(request.getfixturevalue(f"{request.param}_url"), allow_writes=True) as opened:
        opened.session.run(answers.load(ROWS, 1))
        try:
            settings = answers.DUCKDB if request.param == "duckdb" else {}
            yield Arm("A", opened, Phases(), settings)
        finally:
            opened.session.run("DROP TABLE doubles")


def test_no_execution_changes_the_answer(arm: Arm) -> None:
    found = answers.executions(arm, 4)
    assert (found.changed, len(found.differences)) == (0, 4)


@pytest.mark.parametrize(("planted", "found"), [(1e-8, 6), (1e-10, 0)])
def test_planted_digits_are_found_beyond_the_tolerance(
    planted: float, found: int, arm: Arm, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answers, "PLANTED", planted)
    draw = random.Random(1)
    assert answers.planted_in_answers(arm.rig, 6, draw) == found
    assert answers.planted_in_data(arm, 6, ROWS, draw) == found


def test_a_changed_answer_counts_once_and_the_rest_runs(arm: Arm) -> None:
    change = "UPDATE doubles SET v = v * 2 WHERE i = 1"
    once = Phases(conclude=(change,))
    found = answers.executions(arm, 4, once)
    assert found.changed > 0
    assert len(found.differences) == 4
