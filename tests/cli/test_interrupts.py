"""Ended from outside at any moment: said in words, the query cancelled, nothing left running."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import psycopg
import pytest

from tests.cli.running import start, start_python

CHILDREN = "/proc/{0}/task/{0}/children"


def backends(url: str) -> int:
    with psycopg.connect(url) as connection:
        found = connection.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'tare' AND state = 'active'"
        ).fetchone()
    assert found is not None
    return int(found[0])


def wait_for(count: int, url: str) -> None:
    deadline = time.monotonic() + 20
    while backends(url) != count:
        assert time.monotonic() < deadline, f"not {count} active backends after 20 s"
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_a_signal_in_the_first_query_is_told_and_cancels_it(
    postgresql_url: str, number: signal.Signals, code: int
) -> None:
    run = start("time", "SELECT pg_sleep(60)", "--db", postgresql_url)
    wait_for(1, postgresql_url)
    run.send_signal(number)
    _, err = run.communicate(timeout=15)
    assert run.returncode == code, err
    assert "interrupted" in err
    assert "Traceback" not in err
    wait_for(0, postgresql_url)


@pytest.mark.parametrize("after_s", [0.05, 0.15, 0.25, 0.4])
def test_ctrl_c_while_it_starts_is_told_without_a_traceback(sqlite_url: str, after_s: float) -> None:
    run = start_python("time", "SELECT count(*) FROM numbers a, numbers b, numbers c", "--db", sqlite_url)
    while run.poll() is None and "tare" not in Path(f"/proc/{run.pid}/cmdline").read_text():
        time.sleep(0.005)
    time.sleep(after_s)
    run.send_signal(signal.SIGINT)
    out, err = run.communicate(timeout=15)
    if "site.py" in err or run.returncode == -signal.SIGINT:
        pytest.skip("the signal came before Python had reached a line of Tare's")
    assert run.returncode == 130, err
    assert out == ""
    assert err.startswith("tare: interrupted")


@pytest.mark.parametrize("dbms", ["sqlite", "duckdb"])
def test_an_engines_process_does_not_outlive_a_killed_run(dbms: str, request: pytest.FixtureRequest) -> None:
    url = request.getfixturevalue(f"{dbms}_url")
    sql = "SELECT count(*) FROM numbers a, numbers b, numbers c WHERE a.val + b.val < c.val"
    run = start("time", sql, "--db", url, "--warmup", "0")
    host = None
    while host is None:
        for child in Path(CHILDREN.format(run.pid)).read_text().split():
            if "embedded.host" in Path(f"/proc/{child}/cmdline").read_text():
                host = Path(f"/proc/{child}")
        time.sleep(0.02)
    time.sleep(0.8)
    run.kill()
    run.communicate(timeout=15)  # would wait for ever if the host held our output open
    deadline = time.monotonic() + 5
    while host.exists() and "Z" not in (host / "stat").read_text().rpartition(")")[2]:
        assert time.monotonic() < deadline, "the host still runs 5 s after"
        time.sleep(0.02)
