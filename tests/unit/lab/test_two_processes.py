"""A lab that one process writes and another reads. If the writer is killed, all that it reported as done is done."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import func, select

from tare.lab.progress import progress
from tare.lab.schema import cpu, process, qe
from tare.lab.store import Lab, open_lab
from tests.unit.lab.filling import begun


@contextmanager
def a_writer(where: str, run_id: int, qatc_id: int) -> Iterator[tuple[subprocess.Popen[str], list[str]]]:
    writer = subprocess.Popen(
        [sys.executable, "-m", "tests.unit.lab.writer", where, str(run_id), str(qatc_id)],
        stdout=subprocess.PIPE,
        text=True,
    )
    said: list[str] = []
    stream = writer.stdout
    assert stream is not None
    assert stream.readline() == "writing\n"
    listener = threading.Thread(target=lambda: said.extend(stream), daemon=True)
    listener.start()
    try:
        yield writer, said
    finally:
        writer.kill()
        writer.wait()
        listener.join(10)


def test_a_reader_sees_whole_qes_while_another_process_writes(where: str, lab: Lab) -> None:
    _, run_id, qatc_id = begun(lab)
    seen: list[int] = []
    with a_writer(where, run_id, qatc_id):
        until = time.monotonic() + 60
        while len(set(seen)) < 10:
            assert time.monotonic() < until
            with lab.reading() as connection:
                qes, processes, cpus = (
                    connection.scalar(select(func.count()).select_from(table)) for table in (qe, process, cpu)
                )
            assert (processes, cpus) == (20 * (qes or 0), qes)
            seen.append(qes or 0)
    assert seen == sorted(seen)


def test_one_reading_shows_one_state_of_the_lab(where: str, lab: Lab) -> None:
    _, run_id, qatc_id = begun(lab)
    count = select(func.count()).select_from(qe)
    with a_writer(where, run_id, qatc_id) as (_, said):
        with lab.reading() as connection:
            first = connection.scalar(count)
            written, until = len(said), time.monotonic() + 60
            while len(said) < written + 5:
                assert time.monotonic() < until
                time.sleep(0.01)
            assert connection.scalar(count) == first
        with lab.reading() as connection:
            assert (connection.scalar(count) or 0) > (first or 0)


def test_what_a_killed_writer_said_was_recorded_is_recorded(where: str, lab: Lab) -> None:
    _, run_id, qatc_id = begun(lab)
    with a_writer(where, run_id, qatc_id) as (writer, said):
        until = time.monotonic() + 60
        while len(said) < 20:
            assert time.monotonic() < until
            time.sleep(0.01)
        os.kill(writer.pid, signal.SIGKILL)
        writer.wait()
    with open_lab(where) as again:
        visit = progress(again, run_id).queries[0].visits[0]
    whole = [line for line in said if line.endswith("\n")]
    assert len(visit.done) - len(whole) in (0, 1)  # one may be done and not yet said
    assert visit.done == set(range(1, len(visit.done) + 1))
