"""`verify` agrees with what was recorded, and sees whatever was changed since."""

from __future__ import annotations

import pytest
from sqlalchemy import text

from tare.lab.readings import encode
from tare.lab.store import Lab
from tare.lab.verify import verify
from tests.unit.lab.filling import whole_run
from tests.unit.lab.raw import raw


def test_a_run_as_it_was_recorded_agrees(lab: Lab) -> None:
    run_id = whole_run(lab, qes=150)
    done = verify(lab, [run_id])
    assert (done.qes, done.without_readings, done.mismatches) == (300, 0, 0)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ("UPDATE process SET run_ns = run_ns + 1 WHERE qe_id = 2 AND role = 'query'", "process 10 (steady) run_ns"),
        ("UPDATE process SET user_ticks = 9 WHERE qe_id = 2 AND role = 'query'", "process 10 (steady) user_ticks"),
        ("UPDATE process SET run_ns = NULL WHERE qe_id = 2 AND pid = 30", "process 30 (stopped) run_ns"),
        ("UPDATE process SET comm = 'other' WHERE qe_id = 2 AND pid = 20", "process 20 (started) comm"),
        ("DELETE FROM process WHERE qe_id = 2 AND pid = 30", "process 30 (stopped)"),
        ("UPDATE process SET pid = 31 WHERE qe_id = 2 AND pid = 30", "process 31 (stopped)"),
        ("UPDATE qe SET wall_ns = 1 WHERE id = 2", "wall_ns"),
        ("UPDATE qe SET leader_sleep_ns = 1 WHERE id = 2", "leader_sleep_ns"),
        ("UPDATE qe SET overall_iowait = 1 WHERE id = 2", "overall_iowait"),
        ("UPDATE qe SET unaccounted_births = 1 WHERE id = 2", "unaccounted_births"),
        ("UPDATE qe SET instructions = NULL WHERE id = 2", "instructions"),
        ('UPDATE cpu SET "user" = 1 WHERE qe_id = 2 AND cpu = 1', "cpu 1 user"),
        ("DELETE FROM cpu WHERE qe_id = 2 AND cpu = 0", "cpu 0"),
    ],
)  # fmt: skip
def test_a_value_changed_behind_our_back_is_found(lab: Lab, change: str, what: str) -> None:
    run_id = whole_run(lab)
    with lab.writing() as connection:
        connection.execute(text(change))
    done = verify(lab, [run_id])
    assert what in {one.what for one in done.first}
    assert {one.qe_id for one in done.first} == {2}
    assert done.mismatches == len(done.first) <= 2


def test_readings_of_another_qe_do_not_agree(lab: Lab) -> None:
    run_id = whole_run(lab)
    with lab.writing() as connection:
        connection.execute(
            text("UPDATE reading SET data = :data WHERE qe_id = 2"), {"data": encode(raw(7)[0])}
        )
    assert verify(lab, [run_id]).mismatches > 0


def test_damaged_readings_are_a_mismatch_and_the_rest_is_looked_at(lab: Lab) -> None:
    run_id = whole_run(lab)
    with lab.writing() as connection:
        connection.execute(text("UPDATE reading SET data = :data WHERE qe_id = 2"), {"data": b"\0\1"})
    done = verify(lab, [run_id])
    assert (done.qes, done.mismatches, done.first[0].what) == (6, 1, "readings")


def test_a_long_list_is_cut_and_counted(lab: Lab) -> None:
    run_id = whole_run(lab)
    with lab.writing() as connection:
        connection.execute(text("UPDATE process SET run_ns = run_ns + 1"))
    done = verify(lab, [run_id], keep=4)
    assert (len(done.first), done.mismatches) == (4, 18)
