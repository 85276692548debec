"""The recorder stores what was measured, on disk and once."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import func, select, text

from tare.dbms.base import Role
from tare.errors import LabError
from tare.lab.progress import progress
from tare.lab.readings import decode, encode
from tare.lab.recorder import Recorder
from tare.lab.schema import (
    OVERALL_TICKS,
    audit,
    cpu,
    dbms,
    experiment,
    machine,
    process,
    qatc,
    qe,
    reading,
    run,
)
from tare.lab.states import QatCState, RunState
from tare.lab.store import Lab
from tare.measure.lacks import Cause, Lack
from tare.measure.records import QE, Audit, Elapsed, Fate, MachineUse, Outcome, OwnCost, ProcessUse, Residence
from tests.unit.lab.filling import INDEX, SCAN, SERVER, TOML, begin, begun
from tests.unit.lab.raw import raw
from tests.unit.protocol import qe_records

WORD = st.text(max_size=20)
STORED = WORD.map(lambda text: text.replace("\0", "\N{REPLACEMENT CHARACTER}"))
COUNT = st.integers(-(2**62), 2**62)
MAYBE = st.none() | COUNT
SMALL = st.integers(0, 2**30)


def _fields(of: Any, **known: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.builds(of, **{field.name: known.get(field.name, MAYBE) for field in dataclasses.fields(of)})


PROCESSES = _fields(
    ProcessUse,
    pid=SMALL, ppid=SMALL, comm=WORD, cmdline=WORD, role=st.sampled_from(Role), fate=st.sampled_from(Fate),
    kernel=st.booleans(), cpu=SMALL, threads=SMALL, user_ticks=COUNT, system_ticks=COUNT, user_ns=COUNT,
    system_ns=COUNT,
)  # fmt: skip
TICKS = st.fixed_dictionaries(dict.fromkeys(OVERALL_TICKS, COUNT))
MACHINES = st.builds(
    lambda total, cpus, forks, switches: MachineUse(
        total, tuple({"cpu": 2 * place, **ticks} for place, ticks in enumerate(cpus)), forks, switches
    ),
    TICKS,
    st.lists(TICKS, max_size=3),
    COUNT,
    COUNT,
)
LACKS = st.builds(Lack, st.sampled_from(Cause), WORD, st.none() | COUNT)
ELAPSED = _fields(Elapsed, wall_ns=COUNT, why=st.dictionaries(WORD, LACKS, max_size=2))
RESIDENCE = _fields(Residence, page_cache_how=WORD, buffer_how=WORD, buffers_emptied=st.none() | WORD)
QES = _fields(
    QE,
    index=SMALL, query=SMALL, started_at=STORED, warmup=st.booleans(), outcome=st.sampled_from(Outcome),
    error=st.none() | WORD, plan_fingerprint=st.none() | STORED, answer_hash=st.none() | STORED,
    residence=st.none() | RESIDENCE, elapsed=st.none() | ELAPSED, resources=st.none(),
    machine=st.none() | MACHINES, online_cpus=SMALL, processes=st.lists(PROCESSES, max_size=3).map(tuple),
    leader_how=WORD, own=st.none() | _fields(OwnCost, cpu_ns=COUNT, snapshots_ns=COUNT, rss_bytes=COUNT),
    raw=st.none(), audit=st.none() | _fields(Audit, accepted=st.booleans(), why=st.none() | STORED),
)  # fmt: skip

ORDER = itertools.count()

RESIDENCE_COLUMNS = (
    *("page_cache_bytes", "file_bytes", "page_cache_how", "buffer_bytes", "buffer_how", "buffers_emptied"),
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(QES)
def test_a_qe_comes_back_as_it_was_recorded(one_run: tuple[Lab, Recorder, int], measured: QE) -> None:
    lab, recorder, qatc_id = one_run
    order = next(ORDER)
    measured = dataclasses.replace(measured, index=order)
    qe_id = recorder.record(qatc_id, 1, order, measured)
    with lab.reading() as connection:
        row = connection.execute(select(qe).where(qe.c.id == qe_id)).mappings().one()
        processes = connection.execute(select(process).where(process.c.qe_id == qe_id)).mappings().all()
        cpus = connection.execute(select(cpu).where(cpu.c.qe_id == qe_id)).mappings().all()
        audited = connection.execute(select(audit).where(audit.c.qe_id == qe_id)).mappings().one_or_none()
    counts = not measured.warmup and measured.outcome in (Outcome.OK, Outcome.TIMEOUT)
    assert row["number"] == (order if counts else None)
    for name in (
        "warmup", "outcome", "started_at", "plan_fingerprint", "row_count", "answer_hash", "instructions",
        "online_cpus", "births", "exits", "exits_lost", "unaccounted_births", "leader_pid",
    ):  # fmt: skip
        assert row[name] == getattr(measured, name)
    for name in ("error", "leader_how"):
        assert row[name] == shown(getattr(measured, name))
    check_elapsed(row, measured.elapsed)
    check_residence(row, measured.residence)
    assert row["own_rss_bytes"] == (measured.own.rss_bytes if measured.own else None)
    check_machine(row, cpus, measured.machine)
    check_processes(processes, measured.processes)
    expected = dataclasses.asdict(measured.audit) | {"qe_id": qe_id} if measured.audit else None
    assert (dict(audited) if audited else None) == expected


@pytest.fixture
def one_run(lab: Lab) -> tuple[Lab, Recorder, int]:
    recorder, _, qatc_id = begun(lab)
    return lab, recorder, qatc_id


def shown(text: str | None) -> str | None:
    return None if text is None else text.replace("\0", "\N{REPLACEMENT CHARACTER}")


def check_elapsed(row: Any, elapsed: Elapsed | None) -> None:
    assert row["wall_ns"] == (elapsed.wall_ns if elapsed else None)
    assert row["leader_why"] == (
        {part: lack.as_json() for part, lack in elapsed.why.items()} if elapsed else None
    )
    for name in ("cpu", "user", "system", "interrupt", "block_io", "sleep", "steal", "residue"):
        assert row[f"leader_{name}_ns"] == (getattr(elapsed, f"{name}_ns") if elapsed else None)
    queued = elapsed.run_queue_ns if elapsed else None
    throttled = (elapsed.throttled_ns or 0) if elapsed else 0
    assert row["leader_run_queue_ns"] == (None if queued is None else queued + throttled), (
        "as the kernel counts it"
    )


def check_residence(row: Any, residence: Residence | None) -> None:
    """An experiment looks for no files outside the database, and a lab has no columns for them."""
    for name in RESIDENCE_COLUMNS:
        value = getattr(residence, name) if residence else None
        assert row[name] == (shown(value) if isinstance(value, str) else value)


def check_machine(row: Any, cpus: Any, used: MachineUse | None) -> None:
    for name in OVERALL_TICKS:
        assert row[f"overall_{name}"] == (used.total[name] if used else None)
    assert row["overall_forks"] == (used.forks if used else None)
    expected = {one["cpu"]: dict(one) for one in used.cpus} if used else {}
    found = {one["cpu"]: {name: one[name] for name in ("cpu", *OVERALL_TICKS)} for one in cpus}
    assert found == expected


def check_processes(rows: Any, processes: tuple[ProcessUse, ...]) -> None:
    """Steady processes that used nothing are left out, except query processes; all others are there."""
    moved = ("user_ns", "system_ns", "guest_ns", "run_ns", "run_queue_ns", "slices", "block_io_ns",
             "min_faults", "maj_faults", "voluntary_switches", "involuntary_switches", "read_calls",
             "write_calls", "read_chars", "write_chars", "read_bytes", "write_bytes")  # fmt: skip
    kept = [
        one
        for one in processes
        if one.role is Role.QUERY or one.fate is not Fate.STEADY or any(getattr(one, n) for n in moved)
    ]
    expected = [
        {
            field.name: getattr(one, field.name)
            for field in dataclasses.fields(one)
            if field.name != "relation"  # a lab keeps the role that follows from it
        }
        | {"comm": shown(one.comm), "cmdline": shown(one.cmdline)}
        for one in kept
    ]
    found = [{name: value for name, value in row.items() if name not in ("qe_id", "dbms")} for row in rows]
    assert sorted(map(repr, map(plain, found))) == sorted(map(repr, map(plain, expected)))


def plain(row: dict[str, Any]) -> list[tuple[str, Any]]:
    return sorted((name, str(v) if isinstance(v, Role | Fate) else v) for name, v in row.items())


def test_a_process_is_marked_with_the_dbms_it_belongs_to(one_run: tuple[Lab, Recorder, int]) -> None:
    lab, recorder, qatc_id = one_run
    uses = tuple(
        qe_records.process(pid, role, comm=comm)
        for pid, role, comm in (
            (1, Role.QUERY, "postgres"),
            (2, Role.UTILITY, "postgres"),
            (3, Role.DAEMON, "mariadbd"),
            (4, Role.DAEMON, "ora_pmon_ORCL"),
            (5, Role.DAEMON, "cron"),
            (6, Role.EXECUTOR, "tare"),
        )
    )
    recorder.record(qatc_id, 1, 1, qe_records.qe(processes=uses))
    with lab.reading() as connection:
        found = dict(connection.execute(select(process.c.pid, process.c.dbms)).all())
    assert found == {1: "postgresql", 2: "postgresql", 3: "mariadb", 4: "oracle", 5: None, 6: None}


def test_raw_readings_are_kept(one_run: tuple[Lab, Recorder, int]) -> None:
    lab, recorder, qatc_id = one_run
    readings, record = raw()
    qe_id = recorder.record(qatc_id, 1, 1, qe_records.qe(raw=readings, **record))
    with lab.reading() as connection:
        data = connection.execute(select(reading.c.data).where(reading.c.qe_id == qe_id)).scalar_one()
    assert encode(decode(data)) == encode(readings)


# Once, and only once ------------------------------------------------------------------
def test_a_qe_recorded_again_is_the_same_qe(one_run: tuple[Lab, Recorder, int]) -> None:
    lab, recorder, qatc_id = one_run
    first = recorder.record(qatc_id, 1, 1, qe_records.qe(0))
    assert recorder.record(qatc_id, 1, 1, qe_records.qe(0)) == first
    assert counted(lab, qe) == counted(lab, process) == 1


def test_a_warm_up_recorded_again_is_the_same_qe(one_run: tuple[Lab, Recorder, int]) -> None:
    lab, recorder, qatc_id = one_run
    warmup = qe_records.qe(0, warmup=True)
    assert recorder.record(qatc_id, 1, None, warmup) == recorder.record(qatc_id, 1, None, warmup)
    assert counted(lab, qe) == 1


@pytest.mark.parametrize("index", [0, 1])
def test_another_qe_in_the_place_of_one_is_refused(one_run: tuple[Lab, Recorder, int], index: int) -> None:
    lab, recorder, qatc_id = one_run
    recorder.record(qatc_id, 1, 1, qe_records.qe(0))
    with pytest.raises(LabError, match="taken by another"):
        recorder.record(qatc_id, 1, 1, qe_records.qe(index, started_at="2030-01-01T00:00:00.000+00:00"))
    assert counted(lab, qe) == 1


def test_tries_that_do_not_count_take_no_number(one_run: tuple[Lab, Recorder, int]) -> None:
    lab, recorder, qatc_id = one_run
    for order, outcome in enumerate((Outcome.FAILED, Outcome.FAILED, Outcome.PLAN_CHANGED, Outcome.OK)):
        recorder.record(qatc_id, 1, 1, qe_records.qe(order, outcome=outcome))
    with lab.reading() as connection:
        numbers = connection.execute(select(qe.c.number).order_by(qe.c.run_order)).scalars().all()
    assert numbers == [None, None, None, 1]


def test_a_qe_is_all_there_or_not_at_all(one_run: tuple[Lab, Recorder, int]) -> None:
    lab, recorder, qatc_id = one_run
    broken = qe_records.process(2, run_ns=2**80)
    with pytest.raises(LabError):
        recorder.record(qatc_id, 1, 1, qe_records.qe(0, processes=(qe_records.process(), broken)))
    assert counted(lab, qe) == counted(lab, process) == counted(lab, cpu) == 0


def test_a_visit_made_again_is_the_same_visit(lab: Lab) -> None:
    recorder, run_id, qatc_id = begun(lab)
    first = progress(lab, run_id).queries[0].id
    assert recorder.visit(first, 0, 100, SCAN, timed=True) == qatc_id
    with pytest.raises(LabError, match="one executor"):
        recorder.visit(first, 0, 90, SCAN, timed=True)


def test_a_restart_asked_twice_is_one_restart(one_run: tuple[Lab, Recorder, int]) -> None:
    _, recorder, qatc_id = one_run
    assert recorder.restart(qatc_id, INDEX) == 1  # nothing was tried yet
    recorder.record(qatc_id, 1, 1, qe_records.qe(0))
    assert [recorder.restart(qatc_id, SCAN) for _ in range(2)] == [2, 2]
    recorder.record(qatc_id, 2, 1, qe_records.qe(1))
    assert recorder.restart(qatc_id, INDEX) == 3


def test_runs_share_what_they_have_in_common(lab: Lab) -> None:
    recorder = Recorder(lab)
    begin(recorder)
    begin(recorder)
    begin(recorder, server=dataclasses.replace(SERVER, settings={"work_mem": "64MB"}))
    begin(recorder, qes=7)
    assert [counted(lab, table) for table in (run, experiment, dbms, machine)] == [4, 2, 2, 1]


def test_no_password_comes_into_the_lab(lab: Lab) -> None:
    begin(Recorder(lab), server=dataclasses.replace(SERVER, url="postgresql://me:verysecret@localhost/db"))
    with lab.reading() as connection:
        assert connection.execute(select(run.c.url)).scalar_one() == "postgresql://me@localhost/db"


# States --------------------------------------------------------------------------------
def test_a_run_goes_through_its_states(lab: Lab) -> None:
    recorder, run_id, qatc_id = begun(lab)
    recorder.state(run_id, RunState.PAUSED, "the disk is full")
    paused = progress(lab, run_id).run
    assert (paused.state, paused.said, paused.ended_at) == (RunState.PAUSED, "the disk is full", None)
    recorder.state(run_id, RunState.RUNNING)
    recorder.timed(qatc_id)
    recorder.fail_query(progress(lab, run_id).queries[1].id, "no such function")
    recorder.departs(run_id, ["one"])
    recorder.departs(run_id, ["one", "two"])
    recorder.departs(run_id, ["two"])
    recorder.state(run_id, RunState.DONE)
    done = progress(lab, run_id)
    assert (done.run.state, done.run.said, done.run.deviations) == (
        RunState.DONE,
        None,
        ("one thing is otherwise", "one", "two"),
    )
    assert done.run.ended_at is not None
    assert [query.error for query in done.queries] == [None, "no such function"]
    assert done.queries[0].visits[0].state is QatCState.TIMED


def test_a_heartbeat_is_seen(lab: Lab) -> None:
    recorder, run_id, _ = begun(lab)
    with lab.writing() as connection:
        connection.execute(text("UPDATE run SET heartbeat_at = 'long ago'"))
    recorder.heartbeat(run_id)
    assert str(progress(lab, run_id).run.heartbeat_at) > "2020"


def test_what_is_not_in_the_lab_cannot_be_changed(lab: Lab) -> None:
    recorder = Recorder(lab)
    for change in (
        lambda: recorder.timed(99),
        lambda: recorder.heartbeat(99),
        lambda: recorder.fail_query(99, "why"),
        lambda: recorder.restart(99, SCAN),
        lambda: recorder.record(99, 1, 1, qe_records.qe()),
    ):
        with pytest.raises(LabError, match="the lab has no"):
            change()


def test_the_specification_is_kept_as_it_was_given(lab: Lab) -> None:
    _, run_id, _ = begun(lab)
    assert progress(lab, run_id).run.specification == TOML


def counted(lab: Lab, table: Any) -> int:
    with lab.reading() as connection:
        return int(connection.scalar(select(func.count()).select_from(table)) or 0)


def test_a_failed_qatc_says_why(one_run: tuple[Lab, Recorder, int]) -> None:
    lab, recorder, qatc_id = one_run
    recorder.fail_qatc(qatc_id, "its plan changes again and again")
    with lab.reading() as connection:
        found = connection.execute(select(qatc.c.state, qatc.c.said)).one()
    assert tuple(found) == ("failed", "its plan changes again and again")
