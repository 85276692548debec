"""A full disk, a lost server, an answer that never came: nothing is torn, lost or doubled."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import psycopg
import pytest
from sqlalchemy import func, select, text

from tare.dbms.servers import restart, start_postgresql
from tare.errors import LabError, LabFull, LabLost
from tare.lab.progress import progress, runs
from tare.lab.recorder import Recorder
from tare.lab.schema import process, qe
from tare.lab.states import RunState
from tare.lab.store import Lab, open_lab
from tests.unit.lab.filling import SCAN, begin, begun
from tests.unit.lab.proxy import Proxy
from tests.unit.protocol import qe_records


def counts(lab: Lab) -> tuple[Any, Any]:
    with lab.reading() as connection:
        return tuple(  # type: ignore[return-value]
            connection.scalar(select(func.count()).select_from(table)) for table in (qe, process)
        )


def large(order: int) -> Any:
    """A QE with 200 active processes: some 40 kB in the lab."""
    return qe_records.qe(order, processes=tuple(qe_records.process(pid) for pid in range(200)))


# A full disk ---------------------------------------------------------------------------
def test_a_full_sqlite_lab_keeps_what_it_has_and_goes_on_when_there_is_room(sqlite_lab: Lab) -> None:
    recorder, run_id, qatc_id = begun(sqlite_lab)
    recorder.record(qatc_id, 1, 1, large(0))
    with sqlite_lab.reading() as connection:
        pages = connection.execute(text("PRAGMA page_count")).scalar_one()
        connection.execute(text(f"PRAGMA max_page_count = {pages + 2}"))
    with pytest.raises(LabFull, match="nothing is torn") as full:
        recorder.record(qatc_id, 1, 2, large(1))
    assert "resume" in full.value.next_step
    assert counts(sqlite_lab) == (1, 200)
    with sqlite_lab.reading() as connection:
        connection.execute(text("PRAGMA max_page_count = 1000000"))
    recorder.record(qatc_id, 1, 2, large(1))
    assert progress(sqlite_lab, run_id).queries[0].visits[0].done == {1, 2}


@contextmanager
def tiny_disk(folder: Path, size: str) -> Iterator[Path]:
    if os.geteuid() != 0:
        pytest.skip("needs root, to mount a tiny disk")
    folder.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size},mode=0777", "tmpfs", str(folder)],
        capture_output=True, text=True, check=False, timeout=60)  # fmt: skip
    if done.returncode:
        pytest.skip(f"no tiny disk can be mounted here: {done.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True, timeout=60)


def record_until_full(recorder: Recorder, qatc_id: int) -> int:
    """How many QEs went in; the disk took the next one no more."""
    for order in range(10_000):
        try:
            recorder.record(qatc_id, 1, order + 1, large(order))
        except LabFull:
            return order
    raise AssertionError("the disk never filled up")


def test_a_disk_that_fills_up_under_a_sqlite_lab_tears_nothing(tmp_path: Path) -> None:
    with tiny_disk(tmp_path / "disk", "3m") as disk, open_lab(str(disk / "lab.db"), create=True) as lab:
        recorder, run_id, qatc_id = begun(lab)
        filler = disk / "filler"
        filler.write_bytes(b"\0" * (1 << 20))
        recorded = record_until_full(recorder, qatc_id)
        assert recorded > 5
        assert counts(lab) == (recorded, 200 * recorded)
        filler.unlink()
        recorder.state(run_id, RunState.PAUSED, "the disk was full")
        recorder.record(qatc_id, 1, recorded + 1, large(recorded))
        with lab.reading() as connection:
            assert connection.execute(text("PRAGMA integrity_check")).scalar_one() == "ok"
        assert counts(lab) == (recorded + 1, 200 * (recorded + 1))


def test_a_disk_that_fills_up_under_a_postgresql_lab_tears_nothing(
    tmp_path: Path, postgresql_lab: str
) -> None:
    with tiny_disk(tmp_path / "disk", "4m") as disk:
        place = disk / "space"
        place.mkdir(mode=0o700)
        owner = server_owner(postgresql_lab)
        os.chown(place, *owner)
        space = f"space_{os.getpid()}"
        with psycopg.connect(postgresql_lab, autocommit=True) as connection:
            connection.execute(f"CREATE TABLESPACE {space} LOCATION '{place}'")
        try:
            with open_lab(postgresql_lab, create=True) as lab:
                recorder, _, qatc_id = begun(lab)
                with lab.writing() as writing:
                    writing.execute(text(f"ALTER TABLE process SET TABLESPACE {space}"))
                recorded = record_until_full(recorder, qatc_id)
                assert counts(lab) == (recorded, 200 * recorded)
                with lab.writing() as writing:
                    writing.execute(text("ALTER TABLE process SET TABLESPACE pg_default"))
                recorder.record(qatc_id, 1, recorded + 1, large(recorded))
                assert counts(lab) == (recorded + 1, 200 * (recorded + 1))
        finally:
            with psycopg.connect(postgresql_lab, autocommit=True) as connection:
                connection.execute("ALTER TABLE IF EXISTS process SET TABLESPACE pg_default")
                connection.execute(f"DROP TABLESPACE {space}")


def server_owner(url: str) -> tuple[int, int]:
    with psycopg.connect(url) as connection:
        row = connection.execute("SHOW data_directory").fetchone()
    assert row is not None
    found = Path(row[0]).stat()
    return found.st_uid, found.st_gid


# A lost server -------------------------------------------------------------------------
def test_a_recorder_goes_on_after_its_server_was_restarted(tmp_path: Path) -> None:
    with start_postgresql(tmp_path / "server") as server, open_lab(server.url, create=True) as lab:
        recorder, _, qatc_id = begun(lab)
        recorder.record(qatc_id, 1, 1, qe_records.qe(0))
        restart(server.record)
        recorder.record(qatc_id, 1, 2, qe_records.qe(1))
        assert counts(lab)[0] == 2


def test_a_server_that_is_away_is_said_and_the_recorder_goes_on_when_it_is_back(tmp_path: Path) -> None:
    folder = tmp_path / "server"
    server = start_postgresql(folder)
    with open_lab(server.url, create=True) as lab:
        recorder, run_id, qatc_id = begun(lab)
        server.stop()
        with pytest.raises(LabLost) as lost:
            recorder.record(qatc_id, 1, 1, qe_records.qe(0))
        assert "resume" in lost.value.next_step
        with start_postgresql(folder):
            recorder.record(qatc_id, 1, 1, qe_records.qe(0))
            assert progress(lab, run_id).queries[0].visits[0].done == {1}


def test_a_connection_killed_in_mid_transaction_leaves_nothing(postgresql_lab: str) -> None:
    with open_lab(postgresql_lab, create=True) as lab:
        recorder, _, qatc_id = begun(lab)

        def cut_off() -> None:
            with lab.writing() as connection:
                connection.execute(text("UPDATE run SET said = 'half'"))
                pid = connection.execute(text("SELECT pg_backend_pid()")).scalar_one()
                with psycopg.connect(postgresql_lab, autocommit=True) as killer:
                    killer.execute("SELECT pg_terminate_backend(%s)", (pid,))
                connection.execute(text("UPDATE run SET said = 'whole'"))

        with pytest.raises(LabLost):
            cut_off()
        assert runs(lab)[0].run.said is None
        recorder.record(qatc_id, 1, 1, qe_records.qe(0))


@pytest.fixture
def behind_a_proxy(tmp_path: Path, postgresql_lab: str) -> Iterator[tuple[str, Proxy]]:
    """The URL of a lab whose COMMITs may go unanswered."""
    parts = urlsplit(postgresql_lab)
    real = parse_qs(parts.query)["host"][0]
    folder = tmp_path / "p"
    folder.mkdir()
    proxy = Proxy(folder, Path(real))
    yield postgresql_lab.replace(real, str(folder), 1), proxy
    proxy.close()


def test_a_commit_whose_answer_was_lost_doubles_nothing(behind_a_proxy: tuple[str, Proxy]) -> None:
    url, proxy = behind_a_proxy
    with open_lab(url, create=True) as lab:
        recorder, run_id, qatc_id = begun(lab)
        for order in range(5):
            proxy.swallow_next_commit = True
            with pytest.raises(LabLost):
                recorder.record(qatc_id, 1, order + 1, qe_records.qe(order))
            recorder.record(qatc_id, 1, order + 1, qe_records.qe(order))
        assert proxy.swallowed == 5
        assert counts(lab) == (5, 5)
        assert progress(lab, run_id).next_run_order == 5


def test_a_run_whose_beginning_went_unanswered_is_begun_once(behind_a_proxy: tuple[str, Proxy]) -> None:
    url, proxy = behind_a_proxy
    with open_lab(url, create=True) as lab:
        recorder, _, _ = begun(lab)
        proxy.swallow_next_commit = True
        with pytest.raises(LabLost):
            begin(recorder)
        assert begin(recorder) == 2
        assert begin(recorder) == 3
        assert len(runs(lab)) == 3


def await_a_wait_for(url: str) -> Callable[[], None]:
    """Function that waits until a transaction waits for the end of another."""

    def wait() -> None:
        waiting = (
            "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )
        with psycopg.connect(url, autocommit=True) as connection:
            for _ in range(6_000):
                if connection.execute(waiting).rowcount:
                    return
                time.sleep(0.01)

    return wait


def test_a_commit_that_comes_through_while_the_next_try_waits_for_it_doubles_nothing(
    behind_a_proxy: tuple[str, Proxy], postgresql_lab: str
) -> None:
    url, proxy = behind_a_proxy
    proxy.await_before_commit = await_a_wait_for(postgresql_lab)
    with open_lab(url, create=True) as lab:
        recorder = Recorder(lab)
        calls: tuple[Callable[[], int], ...] = (
            lambda: begin(recorder),
            lambda: recorder.visit(1, 0, 100, SCAN, timed=True),
            lambda: recorder.record(1, 1, 1, qe_records.qe(0)),
        )
        for call in calls:
            proxy.swallow_next_commit = True
            with pytest.raises(LabLost):
                call()
            assert call() == 1
        assert proxy.swallowed == len(calls)
        assert len(runs(lab)) == 1
        assert counts(lab) == (1, 1)


def test_a_value_that_no_column_holds_is_a_lab_error(lab: Lab) -> None:
    recorder, _, qatc_id = begun(lab)
    with pytest.raises(LabError):
        recorder.record(qatc_id, 1, 1, qe_records.qe(row_count=2**70))
    assert counts(lab) == (0, 0)
