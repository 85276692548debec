"""The queue of a shared lab: each job has one executor at a time, and a superseded one can write nothing."""

from __future__ import annotations

import threading

import pytest
from sqlalchemy import text

from tare.errors import NoSuchRun, RunHeld, Superseded, UsageError
from tare.lab.jobs import FencedLab, JobState, beat, claim, end, give_up, jobs, submit
from tare.lab.progress import run_facts
from tare.lab.recorder import Recorder
from tare.lab.states import RunState
from tare.lab.store import Lab, open_lab
from tests.unit.lab.filling import TOML, begin, specification

ALL = ("postgresql", "sqlite")


@pytest.fixture
def shared(postgresql_lab: str) -> Lab:
    return open_lab(postgresql_lab, create=True)


def submitted(lab: Lab, *machines: str | None) -> list[int]:
    return submit(lab, specification(), TOML, ["pg"], machines or [None])


def silence(lab: Lab, job: int, seconds: int) -> None:
    with lab.writing() as connection:
        connection.execute(
            text("UPDATE job SET heartbeat_at = now() - make_interval(secs => :s) WHERE id = :id"),
            {"s": seconds, "id": job},
        )


def test_jobs_are_claimed_in_the_order_of_their_submission(shared: Lab) -> None:
    first, second = submitted(shared), submitted(shared)
    found = [claim(shared, f"m{n}", "here", ALL) for n in range(3)]
    assert [one.id if one else None for one in found] == [*first, *second, None]


def test_a_job_is_claimed_by_who_has_its_dbms_and_its_name(shared: Lab) -> None:
    submitted(shared, "m2")
    assert claim(shared, "m1", "here", ALL) is None
    assert claim(shared, "m2", "here", ["sqlite"]) is None
    assert claim(shared, "m2", "here", ALL) is not None


def test_claimed_at_once_each_job_goes_to_one(shared: Lab) -> None:
    ids = [one for _ in range(20) for one in submitted(shared)]
    got: list[int] = []
    start = threading.Barrier(4)

    def work(name: str) -> None:
        start.wait()
        while (job := claim(shared, name, "here", ALL)) is not None:
            got.append(job.id)
            end(shared, job, JobState.DONE)

    threads = [threading.Thread(target=work, args=(f"m{n}",)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(got) == ids


def test_after_a_crash_its_own_executor_on_its_own_machine_has_it_again(shared: Lab) -> None:
    submitted(shared)
    first = claim(shared, "m1", "here", ALL)
    assert first is not None
    assert claim(shared, "m1", "elsewhere", ALL) is None
    assert claim(shared, "m2", "here", ALL) is None
    again = claim(shared, "m1", "here", ALL)
    assert again is not None
    assert (again.id, again.generation, again.run_uuid) == (first.id, 2, first.run_uuid)
    with pytest.raises(Superseded):
        beat(shared, first)
    beat(shared, again)


def test_nothing_is_written_under_a_claim_that_is_over(shared: Lab) -> None:
    (job_id,) = submitted(shared)
    job = claim(shared, "m1", "here", ALL)
    assert job is not None
    fenced = FencedLab(shared, job)
    run_id = begin(Recorder(fenced), run_uuid=job.run_uuid)
    assert jobs(shared)[0].run_id == run_id
    assert begin(Recorder(fenced), run_uuid=job.run_uuid) == run_id, "begun once"
    give_up(shared, job_id, force=True)
    for write in (
        lambda: Recorder(fenced).heartbeat(run_id),
        lambda: Recorder(fenced).state(run_id, RunState.DONE),
        lambda: end(shared, job, JobState.DONE),
    ):
        with pytest.raises(Superseded):
            write()
    facts = run_facts(shared, run_id)
    assert (facts.state, facts.said) == (RunState.FAILED, "its job was given up")
    other = claim(shared, "m2", "elsewhere", ALL)
    assert other is not None
    assert (other.id, other.run_id) == (job_id, None)
    assert begin(Recorder(FencedLab(shared, other)), run_uuid=other.run_uuid) != run_id


def test_only_a_stalled_job_is_given_up_unless_forced(shared: Lab) -> None:
    (job_id,) = submitted(shared)
    with pytest.raises(UsageError, match="is waiting"):
        give_up(shared, job_id)
    assert claim(shared, "m1", "here", ALL) is not None
    with pytest.raises(RunHeld, match="heard from"):
        give_up(shared, job_id)
    silence(shared, job_id, 299)
    assert not jobs(shared)[0].is_stalled
    silence(shared, job_id, 301)
    assert jobs(shared)[0].is_stalled
    give_up(shared, job_id)
    assert jobs(shared)[0].state is JobState.WAITING
    with pytest.raises(NoSuchRun):
        give_up(shared, 99)


def test_a_file_is_no_lab_to_share(sqlite_lab: Lab) -> None:
    with pytest.raises(UsageError, match="cannot share"):
        submitted(sqlite_lab)
    assert jobs(sqlite_lab) == []
