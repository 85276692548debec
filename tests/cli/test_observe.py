"""The observer shows a lab to whoever has its address, changes nothing, and passes requests on to executors."""

from __future__ import annotations

import os
import re
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tare.lab.store import open_lab
from tests.cli.observing import Observed, observing
from tests.cli.running import start, tare
from tests.cli.test_experiment_run import JOIN, SCAN, one_status, qes_of, toml
from tests.unit.lab.databases import own_database
from tests.unit.lab.filling import begun

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("observe")
    where = str(folder / "lab.db")
    file = toml(folder, {"lite": 'start = "sqlite"'}, {f"join {HOSTILE}": JOIN, "scan": SCAN})
    assert tare("experiment", "run", file, "--lab", where).code == 0
    return where


@pytest.fixture(scope="module")
def observed(lab: str) -> Iterator[Observed]:
    with observing(lab) as found:
        found.admit()
        yield found


def test_a_run_is_listed_and_shown_with_what_was_measured(observed: Observed) -> None:
    first = observed.ask("GET", "/")
    assert first.status == 200
    assert '<a href="runs/e1">e1</a>' in first.text
    run = observed.ask("GET", "/runs/e1")
    assert run.status == 200
    assert "6 visited, 6 timed, 0 failed" in run.text
    assert "Done" in run.text


def test_names_of_queries_cannot_bring_markup_along(observed: Observed) -> None:
    run = observed.ask("GET", "/runs/e1")
    assert HOSTILE not in run.text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in run.text


def test_what_has_not_changed_is_not_sent_again(observed: Observed) -> None:
    first = observed.ask("GET", "/runs/e1", Tare_Part="1")
    again = observed.ask("GET", "/runs/e1", Tare_Part="1", If_None_Match=first.headers["etag"])
    # "12 s ago" becomes "13 s ago" in between, at times.
    third = observed.ask("GET", "/runs/e1", Tare_Part="1", If_None_Match=again.headers["etag"])
    assert 304 in (again.status, third.status)
    assert len(first.text) < 100_000, "the charts' library is not in a part"


def test_the_page_that_is_saved_is_a_file_by_itself(observed: Observed) -> None:
    saved = observed.ask("GET", "/runs/e1?save=1")
    assert "attachment" in saved.headers["content-disposition"]
    assert "data-every" not in saved.text
    assert "connect-src" not in saved.text
    assert "<a href" not in saved.text.replace('<a href="#', "")


def test_without_the_token_nothing_is_shown(observed: Observed) -> None:
    stranger = Observed(observed.origin, observed.process)
    for path in ("/", "/runs/e1", "/?token=wrong", "/report?runs=e1", "/nowhere"):
        answer = stranger.ask("GET", path)
        assert answer.status == 403
        assert "e1" not in answer.text
    assert stranger.ask("GET", "/", Cookie="tare_observe=wrong").status == 403


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "[::1"])
def test_another_name_is_refused_whatever_the_cookie(observed: Observed, host: str) -> None:
    assert observed.ask("GET", "/", Host=host).status in (400, 421)


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_other_methods_are_refused(observed: Observed, method: str) -> None:
    assert observed.ask(method, "/").status == 405


def test_without_leave_nothing_can_be_requested(observed: Observed, lab: str) -> None:
    answer = observed.post("/runs/e1/abort")
    assert answer.status == 403
    assert "--allow-control" in answer.text
    assert "<button>Abort" not in observed.ask("GET", "/runs/e1").text
    with sqlite3.connect(lab) as connection:
        assert connection.execute("SELECT count(*) FROM request").fetchone() == (0,)


@pytest.mark.parametrize(
    "path", ["/runs/e9", "/runs/o1", "/runs/e01", "/runs/e1%20e2", "/runs/..%2f", f"/runs/e{'9' * 30}"]
)
def test_what_is_not_there_is_said(observed: Observed, path: str) -> None:
    assert observed.ask("GET", path).status == 404


def test_the_full_report_is_that_of_the_command(observed: Observed) -> None:
    answer = observed.ask("GET", "/report?runs=e1")
    assert answer.status == 200
    assert "For the paper: how this was measured" in answer.text
    for asked in ("", "p1", "e1;ls", "--help", "e1 --json x"):
        assert observed.ask("GET", f"/report?runs={asked.replace(' ', '%20')}").status == 400
    assert observed.ask("GET", "/report?runs=e7").status == 422


def test_no_password_is_on_a_page(postgresql_url: str) -> None:
    with own_database(postgresql_url) as url:
        with open_lab(url, create=True) as opened:
            begun(opened)
        secret = "hush-hush"
        with observing(f"{url}{'&' if '?' in url else '?'}password={secret}") as found:
            found.admit()
            first = found.ask("GET", "/")
            assert first.status == 200
            assert secret not in first.text + found.ask("GET", "/runs/e1").text


def test_a_role_that_may_only_read_is_enough(postgresql_url: str) -> None:
    with own_database(postgresql_url) as url:
        with open_lab(url, create=True) as opened:
            begun(opened)
        role = f"reader_{os.getpid()}"
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(f"CREATE ROLE {role} LOGIN")
            connection.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {role}")
            try:
                with observing(
                    re.sub(r"//\w+@", f"//{role}@", url).replace("user=postgres", f"user={role}")
                ) as found:
                    found.admit()
                    assert found.ask("GET", "/runs/e1").status == 200
            finally:
                connection.execute(f"DROP OWNED BY {role}; DROP ROLE {role}")


def test_a_port_that_is_taken_is_said_and_a_lab_that_is_not_there(observed: Observed, lab: str) -> None:
    missing = tare("observe", "--lab", "/nowhere/lab.db")
    assert (missing.code, "there is no lab" in missing.err) == (1, True)
    taken = tare("observe", "--lab", lab, "--port", observed.origin.rpartition(":")[2])
    assert (taken.code, "cannot be taken" in taken.err) == (2, True)


def test_a_run_pauses_resumes_and_stops_when_it_is_asked_to(tmp_path: Path) -> None:
    where = str(tmp_path / "lab.db")
    file = toml(tmp_path, {"lite": 'start = "sqlite"'}, {"scan": SCAN, "join": JOIN}, qes=40)
    run = start("experiment", "run", file, "--lab", where)
    wait_for(lambda: Path(where).exists() and tare("experiment", "status", "e1", "--lab", where).code == 0)
    with observing(where, "--allow-control") as found:
        found.admit()
        wait_for(lambda: len(qes_of(where)) > 3)
        assert found.post("/runs/e1/pause", Origin="http://evil.example").status == 403
        assert found.post("/runs/e1/dance").status == 404
        assert found.post("/runs/e1/pause").status == 303
        wait_for(lambda: state(where) == "paused")
        before = qes_of(where)
        time.sleep(1.5)
        assert qes_of(where) == before, "a paused run measures nothing"
        page = found.ask("GET", "/runs/e1").text
        assert "Paused on request" in page
        assert "<button>Resume</button>" in page
        assert run.poll() is None, "its executor waits"
        assert found.post("/runs/e1/resume").status == 303
        wait_for(lambda: len(qes_of(where)) > len(before))
        assert found.post("/runs/e1/stop").status == 303
        _, err = run.communicate(timeout=60)
        assert run.returncode == 1
        assert "stopped on request" in err
        page = found.ask("GET", "/runs/e1").text
        assert page.count("not yet") == 0
    status = one_status(where)
    assert (status["state"], status["said"]) == ("paused", "stopped on request")
    assert tare("experiment", "resume", "e1", "--lab", where).code == 0
    numbers = [(query, cardinality, number) for query, cardinality, number, *_ in qes_of(where)]
    assert len(numbers) == len(set(numbers)) == 2 * 3 * 40, "each execution once"


def test_an_aborted_run_has_failed(tmp_path: Path) -> None:
    where = str(tmp_path / "lab.db")
    file = toml(tmp_path, {"lite": 'start = "sqlite"'}, {"scan": SCAN}, qes=400)
    run = start("experiment", "run", file, "--lab", where)
    wait_for(lambda: Path(where).exists() and tare("experiment", "status", "e1", "--lab", where).code == 0)
    with observing(where, "--allow-control") as found:
        found.admit()
        wait_for(lambda: state(where) == "running")
        assert found.post("/runs/e1/abort").status == 303
        run.communicate(timeout=90)
    assert (one_status(where)["state"], one_status(where)["said"]) == ("failed", "aborted on request")


def test_a_run_shows_itself_and_its_observer_ends_with_it(tmp_path: Path) -> None:
    where = str(tmp_path / "lab.db")
    file = toml(tmp_path, {"lite": 'start = "sqlite"'}, {"scan": SCAN}, qes=2000)
    run = start("experiment", "run", file, "--lab", where, "--web")
    assert run.stderr is not None
    address = next(line for line in run.stderr if "http://127.0.0.1:" in line).split()[-1]
    found = Observed(address, run)
    found.admit()
    wait_for(lambda: "e1" in found.ask("GET", "/").text)
    run.kill()
    run.communicate()

    def is_gone() -> bool:
        try:
            found.ask("GET", "/")
        except OSError:
            return True
        return False

    wait_for(is_gone)


def state(where: str) -> Any:
    with sqlite3.connect(where) as connection:
        return connection.execute("SELECT state FROM run").fetchone()[0]


def wait_for(done: Any, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.05)
