"""`tare os watch` and `tare os run` as a user has them: results, refusals and exit codes."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.running import start, tare


@pytest.fixture
def sleeper() -> Iterator[str]:
    with subprocess.Popen(["sleep", "60"]) as process:
        yield str(process.pid)
        process.kill()


def test_a_watch_of_a_process_is_reported(sleeper: str) -> None:
    said = tare(
        "os", "watch", "--pid", sleeper, "--level", "proc", "--duration", "200ms", "--interval", "100ms", "--json", "-"
    )  # fmt: skip
    assert said.code == 0, said.err
    observation = said.result["observation"]
    assert (observation["level"], observation["subject"]) == ("proc", f"process {sleeper}")
    assert len(observation["windows"]) == 2


def test_a_run_is_reported_in_each_form(sqlite_url: str, tmp_path: Path) -> None:
    forms = {form: str(tmp_path / f"report.{form}") for form in ("json", "html", "markdown")}
    said = tare(
        "os", "run", "--db", sqlite_url, "--level", "proc", "--runs", "2", "SELECT count(*) FROM numbers",
        *(word for form, path in forms.items() for word in (f"--{form}", path)),
    )  # fmt: skip
    assert said.code == 0, said.err
    assert all(Path(path).stat().st_size > 0 for path in forms.values())


def test_a_query_that_fails_among_others_is_named(sqlite_url: str) -> None:
    said = tare(
        "os",
        "run",
        "--db",
        sqlite_url,
        "--level",
        "proc",
        "--runs",
        "1",
        "SELECT 1",
        "SELECT none",
        "SELECT :id",
        "--json",
        "-",
    )
    assert said.code == 1
    failures = said.result["observation"]["failures"]
    assert list(failures) == ["SELECT none", "SELECT :id"]
    assert "tare: SELECT none:" in said.err
    assert ":id in line 1 is a parameter without a value" in failures["SELECT :id"]


@pytest.mark.parametrize(
    ("sql", "code", "expected"),
    [
        ("SELECT none FROM numbers", 2, "none"),
        ("SELECT a FROM numbers WHERE a = :id", 2, ":id in line 1 is a parameter without a value"),
        ("SELECT abs(-9223372036854775808)", 1, "overflow"),
    ],
)
def test_a_refused_query_is_the_fault_of_the_request(
    sqlite_url: str, sql: str, code: int, expected: str
) -> None:
    said = tare("os", "run", "--db", sqlite_url, "--level", "proc", sql)
    assert said.code == code, said.err
    assert expected in said.err


def test_a_write_is_refused_without_leave(sqlite_url: str) -> None:
    said = tare("os", "run", "--db", sqlite_url, "--level", "proc", "DELETE FROM numbers")
    assert said.code == 2
    assert "--allow-writes" in said.err
    assert (
        "DELETE"
        not in tare("os", "run", "--db", sqlite_url, "--level", "proc", "--runs", "1", "SELECT 1").err
    )


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["watch"], "nothing to observe is named"),
        (["watch", "--pid", "4194305"], "there is no process 4194305"),
        (["watch", "--pid", "1", "--node", "a=pid:1"], "--pid and --node both name what is observed"),
        (["watch", "--node", "a=pid"], "is not NAME=KIND:PLACE"),
        (["watch", "--pid", "1", "--duration", "5"], "--duration 5: no duration"),
        (["watch", "--pid", "1", "--duration", "1s", "--interval", "2s"], "is longer than --duration"),
        (["watch", "--pid", "1", "--interval", "1ms"], "is too short"),
        (["watch", "--pid", "1", "--roles", "/no/such.toml"], "/no/such.toml cannot be read"),
        (["watch", "--db", "sqlite:///:memory:"], "has no server"),
        (["run", "--db", "sqlite:///:memory:"], "no query to weigh"),
        (["run", "--db", "sqlite:///:memory:", "--cold", "SELECT 1"], "--cache cold"),
        (["run", "--db", "nodb://x", "SELECT 1"], "nodb"),
    ],
)
def test_a_request_at_fault_is_refused(words: list[str], expected: str) -> None:
    said = tare("os", *words, TARE_DB="")
    assert said.code == 2, said.err
    assert expected in said.err


def test_tare_db_does_not_disturb_a_watch_of_a_process(sleeper: str) -> None:
    said = tare(
        "os", "watch", "--pid", sleeper, "--level", "proc", "--duration", "50ms", "--json", "-",
        TARE_DB="postgresql://127.0.0.1:1/none",
    )  # fmt: skip
    assert said.code == 0, said.err


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_a_watch_with_its_report(sleeper: str, number: int, code: int) -> None:
    watch = start("os", "watch", "--pid", sleeper, "--level", "proc")
    assert watch.stderr is not None
    while "observed" not in watch.stderr.readline():
        assert watch.poll() is None
    os.kill(watch.pid, number)
    out, err = watch.communicate(timeout=60)
    assert watch.returncode == code, err
    assert f"process {sleeper}" in out
