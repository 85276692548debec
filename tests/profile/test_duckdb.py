"""`tare profile attach` on DuckDB in somebody's process: its statements are the program's, failing ones included."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.running import tare

pytestmark = pytest.mark.usefixtures("attach_works")
pytest.importorskip("duckdb")

PROGRAM = """
import duckdb, sys, time
connection = duckdb.connect()
connection.execute("create table t as select range a, range % 100 b from range(100000)")
log = open(sys.argv[1], "w", buffering=1)
while True:
    for b in range(20):
        connection.execute(f"select sum(a) from t where b = {b}").fetchall()
        connection.execute("select sum(a) from t where b = ?", [b]).fetchone()
        try:
            connection.execute("select error('no such order')").fetchall()
        except duckdb.Error:
            pass
        connection.execute(f"insert into t values ({b}, 101)")
    print(time.monotonic_ns(), flush=True, file=log)
"""
STATEMENTS = 80
"""In a turn of the program's loop."""


@contextmanager
def running(log: Path) -> Iterator[int]:
    with subprocess.Popen([sys.executable, "-c", PROGRAM, str(log)]) as process:
        try:
            while not log.exists() or not log.read_text():
                assert process.poll() is None
                time.sleep(0.05)
            yield process.pid
            assert process.poll() is None, "it goes on as before"
        finally:
            process.kill()


def test_statements_are_as_many_as_the_program_ran(tmp_path: Path) -> None:
    log = tmp_path / "turns"
    with running(log) as pid:
        words = ("--pid", str(pid), "--duration", "6s", "--rounds", "1", "--budget", "20%", "--json", "-")
        named = ("--functions", "duckdb::Parser::ParseQuery")  # what is watched does not matter here
        said = tare("profile", "attach", "--profiles", str(tmp_path), *words, *named, timeout=120)
    assert said.code == 0, said.err
    found = said.result
    assert found["of"]["dbms"] == "duckdb"
    assert found["valid"], found["warnings"]
    seconds = sum(one["seconds"] for one in found["turns"])
    seen = sum(one["transactions"] for one in found["turns"]) / seconds
    turns = [int(line) for line in log.read_text().split("\n")[:-1]]
    real = STATEMENTS * (len(turns) - 1) / ((turns[-1] - turns[0]) / 1e9)
    assert seen == pytest.approx(real, rel=0.15)
    mean_s = sum(one["mean_ns"] * one["transactions"] for one in found["turns"]) / 1e9
    assert mean_s / seconds > 0.5, "running a statement is in it, not only submitting it"
