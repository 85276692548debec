"""Transactional runs in a lab: whole or not at all, and the same when they are read back."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sqlalchemy import func, select, text

from tare.errors import LabError, LabTooNew, NoSuchRun
from tare.lab import histogram, migrations
from tare.lab.oltp import listed, load, record
from tare.lab.schema_oltp import BELOW, oltp_run
from tare.lab.store import Lab, find_oltp_run, open_lab
from tare.workload.oltp.run import Measure, OltpRun
from tare.workload.oltp.verdict import (
    ConnectionsBroke,
    CutShort,
    Disturbed,
    Freeze,
    RateTooFew,
    Sentence,
    Unsuccessful,
)
from tests.unit.lab.filling import whole_run
from tests.unit.report.oltp import sample

OTHER = "aaaa4b1e-9a55-4d8e-8a26-0d6b5f6b7c11"


@pytest.fixture(scope="module")
def run() -> OltpRun:
    return sample.run(seconds=3, rates=(100.0, 200.0), stall=None)


def test_a_run_is_read_back_as_it_was_recorded(lab: Lab, run: OltpRun) -> None:
    assert load(lab, record(lab, run)) == replace(run, measures=tuple(sorted(run.measures, key=_place)))


def _place(one: Measure) -> tuple[int, str]:
    return one.second, one.name


def test_an_invalid_run_with_failing_rows_and_words_from_anywhere_is_kept_too(lab: Lab) -> None:
    hostile = replace(sample.hostile(), measures=(), deviations=("NUL \0 and half a pair \ud800",))
    found = load(lab, record(lab, hostile))
    assert found.invalid == hostile.invalid
    assert found.after == hostile.after
    assert found.deviations == ("NUL \N{REPLACEMENT CHARACTER} and half a pair ?",)


def test_a_run_too_short_to_be_judged_is_kept_as_neither_valid_nor_invalid(lab: Lab, run: OltpRun) -> None:
    few = (RateTooFew(offered=25),)
    short = replace(run, outcome=run.outcome.model_copy(update={"not_judged": few}))
    assert load(lab, record(lab, short)).outcome.not_judged == few
    (one,) = listed(lab)
    assert (one.valid, one.not_judged) == (False, True)


def test_a_disturbed_run_is_read_back_as_one(lab: Lab, run: OltpRun) -> None:
    disturbed = Disturbed(seconds=3, of_seconds=6, others_ratio=0.85, steal_ratio=0.0, wait_ratio=0.9)
    found = load(lab, record(lab, replace(run, disturbed=disturbed)))
    assert (found.disturbed, found.outcome.not_judged) == (disturbed, ())
    (one,) = listed(lab)
    assert (one.valid, one.not_judged) == (False, True)


def test_every_reason_is_read_back_as_it_was_recorded(lab: Lab, run: OltpRun) -> None:
    facts = (
        ConnectionsBroke(at_ns=2, broken=4, connections=4, back_ns=None),
        CutShort(after_ns=1, length_ns=2, failure="No space left on device"),
        Unsuccessful(offered=9, deadlocks=1, serialization_failures=2, lock_timeouts=3, lost=0, errors=1),
    )
    freezes = (Freeze(start_ns=1, length_ns=2_000_000_000, waiting=60),)
    changed = run.outcome.model_copy(update={"invalid": facts, "freezes": freezes})
    broken = replace(run, outcome=changed, restarted=True, after=sample.checks(failing=2))
    found = load(lab, record(lab, broken))
    assert (found.invalid, found.outcome.freezes) == (broken.invalid, freezes)
    (one,) = listed(lab)
    assert (one.valid, one.not_judged) == (False, False)


def test_a_run_of_the_schema_before_was_judged_whole(
    where: str, run: OltpRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_lab(where, create=True) as lab:
        number = record(lab, run)
        with lab.writing() as connection:
            connection.execute(text("UPDATE oltp_run SET not_judged = NULL"))
        assert load(lab, number).outcome.not_judged == ()


def test_a_run_of_the_schema_before_has_its_reasons_in_sentences(where: str) -> None:
    frozen = sample.run(seconds=10, rates=(100.0,), stall=(4.0, 6.0))
    with open_lab(where, create=True) as lab:
        number = record(lab, frozen)
        with lab.writing() as connection:
            connection.execute(
                text("""UPDATE oltp_run SET invalid = '["its backlog grew: by 7"]', not_judged = '[]',
                freezes = NULL, restarted = NULL, sustained_rate = NULL""")
            )
        found = load(lab, number)
    assert found.invalid == (Sentence(text="its backlog grew: by 7"),)
    assert [(one.start_ns, one.length_ns) for one in found.freezes] == [(4 * 10**9, 2 * 10**9)], (
        "whole seconds"
    )
    assert found.sustained_rate == pytest.approx(frozen.sustained_rate)


def test_a_closed_loop_has_no_rate_and_no_lag(lab: Lab) -> None:
    found = load(lab, record(lab, sample.run(seconds=2, closed=True)))
    assert found.outcome.intended_rate is None
    assert found.outcome.all.lag.count == 0
    assert found.outcome.all.lag.histogram == ()


def test_a_second_in_which_nothing_ended_stays_without_times(lab: Lab) -> None:
    run = sample.run(seconds=8, rates=(50.0,), stall=(3.0, 6.0))
    found = load(lab, record(lab, run))
    assert [one.number for one in found.seconds if one.response is None] == [
        one.number for one in run.seconds if one.response is None
    ]
    assert any(one.response is None for one in found.seconds)


def test_recorded_twice_it_is_there_once(lab: Lab, run: OltpRun) -> None:
    assert record(lab, run) == record(lab, run)
    assert len(listed(lab)) == 1


def test_runs_share_their_server_and_machine_with_experiments(lab: Lab, run: OltpRun) -> None:
    whole_run(lab)
    record(lab, run)
    record(lab, replace(run, uuid=OTHER))
    with lab.reading() as connection:
        for table in ("dbms", "machine"):
            assert connection.execute(text(f"SELECT count(*) FROM {table}")).scalar() == 2


def test_a_run_that_cannot_be_recorded_leaves_nothing(lab: Lab, run: OltpRun) -> None:
    with pytest.raises(LabError):
        record(lab, replace(run, measures=(Measure(0, "cpu", 1.0, None),)))  # type: ignore[arg-type]
    with lab.reading() as connection:
        for table in (oltp_run, *BELOW):
            assert connection.scalar(select(func.count()).select_from(table)) == 0


def test_a_run_is_found_by_its_number_and_by_the_beginning_of_its_id(lab: Lab, run: OltpRun) -> None:
    first, second = record(lab, run), record(lab, replace(run, uuid=OTHER))
    asked = ("1", "o1", "6f0a", "2", "O2", OTHER.upper())
    assert [find_oltp_run(lab, one) for one in asked] == [first, first, first, second, second, second]
    with pytest.raises(NoSuchRun, match="no transactional run '3'"):
        find_oltp_run(lab, "3")
    with pytest.raises(NoSuchRun, match="e1 is no transactional run") as other:
        find_oltp_run(lab, "e1")
    assert "tare report e1" in other.value.next_step
    record(lab, replace(run, uuid="aaaa5b1e-9a55-4d8e-8a26-0d6b5f6b7c11"))
    with pytest.raises(NoSuchRun, match="2 transactional runs"):
        find_oltp_run(lab, "aaaa")


def test_a_lab_without_such_runs_says_how_to_make_one(lab: Lab) -> None:
    with pytest.raises(NoSuchRun, match="tare bench oltp run"):
        find_oltp_run(lab, "1")
    with pytest.raises(LabError, match="no transactional run o1"):
        load(lab, 1)


def test_the_list_tells_what_a_run_was_about(lab: Lab, run: OltpRun) -> None:
    record(lab, run)
    (one,) = listed(lab)
    assert (one.workload, one.scale, one.dbms, one.connections, one.arrivals, one.valid) == (
        "tpcc", 4.0, "postgresql", 16, "constant", True,
    )  # fmt: skip
    assert one.committed == run.outcome.all.counts.committed
    assert one.p99_ns == run.outcome.all.response.quantile(0.99)


def test_a_lab_of_the_schema_before_keeps_its_runs_and_takes_transactional_ones(
    where: str, run: OltpRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as earlier:
        earlier.setattr(migrations, "VERSION", "0001")
        earlier.setattr("tare.lab.store.VERSION", "0001")
        with open_lab(where, create=True) as old:
            whole_run(old)
    with open_lab(where) as lab:
        assert load(lab, record(lab, run)).uuid == run.uuid
        with lab.reading() as connection:
            assert connection.execute(text("SELECT state FROM run")).scalars().all() == ["done"]


def test_a_lab_of_a_later_schema_is_refused(lab: Lab) -> None:
    with lab.writing() as connection:
        connection.execute(text("UPDATE lab_version SET version_num = '9999'"))
    with pytest.raises(LabTooNew, match="9999"):
        open_lab(str(lab.path) if lab.path else lab.where)


def test_a_histogram_packs_small_and_comes_back() -> None:
    buckets = tuple((1000 * place, place % 7 + 1) for place in range(1, 3000))
    packed = histogram.encode(buckets)
    assert histogram.decode(packed) == buckets
    assert len(packed) < 10_000


@pytest.mark.parametrize("data", [b"", b"not zlib", histogram.encode([(1, 1)])[:-3]])
def test_a_damaged_histogram_is_told(data: bytes) -> None:
    with pytest.raises(LabError, match="histogram is damaged"):
        histogram.decode(data)
