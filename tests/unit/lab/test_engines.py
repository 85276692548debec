"""Connections to a lab in a file."""

from __future__ import annotations

import multiprocessing
from multiprocessing.synchronize import Barrier
from pathlib import Path

from tare.lab.engines import sqlite_engine

AT_ONCE = 4
FILES = 100
"""Without another try SQLite refuses a connection of some 7 in 100 files."""

PATIENCE_S = 20


def connect(folder: Path, start: Barrier) -> None:
    for number in range(FILES):
        engine = sqlite_engine(folder / f"{number}.db", create=True)
        start.wait(PATIENCE_S)
        with engine.connect() as connection:
            assert connection.exec_driver_sql("PRAGMA journal_mode").scalar_one() == "wal"
        engine.dispose()


def test_processes_that_make_one_file_at_once_all_connect_to_it(tmp_path: Path) -> None:
    fork = multiprocessing.get_context("fork")
    start = fork.Barrier(AT_ONCE)
    made = [fork.Process(target=connect, args=(tmp_path, start), daemon=True) for _ in range(AT_ONCE)]
    for one in made:
        one.start()
    for one in made:
        one.join(PATIENCE_S)
    assert [one.exitcode for one in made] == [0] * AT_ONCE
