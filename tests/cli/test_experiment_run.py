"""Experiments run, paused, resumed, looked at and watched, as a user would."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tare.interruption import SAME_S
from tests.cli.running import Running, Said, start, tare
from tests.servers import let_servers_in

TABLES = """
[[tables]]
name = "ft_big"
cardinality = 3000
minimum = {minimum}
step = 1000
seed = 1
[[tables]]
name = "ft_small"
cardinality = 500
primary_key = "id1"
seed = 2
"""

JOIN = "SELECT count(*), sum(a.id2) FROM ft_big a, ft_small b WHERE a.id1 = b.id1"
SCAN = "SELECT sum(a.id2) FROM ft_big a WHERE a.id4 > 100"
SLOW = "SELECT count(*) FROM ft_big a, ft_big b, ft_small c WHERE a.id2 + b.id3 < c.id4"


@pytest.fixture
def lab(tmp_path: Path) -> str:
    return str(tmp_path / "lab.db")


def toml(
    folder: Path, dbms: dict[str, str], queries: dict[str, str], *, qes: int = 2, scenario: str = "exhaustive",
    minimum: int = 1000, more: str = "",
) -> str:  # fmt: skip
    """`minimum`: of the cardinalities, which go down from 3000 by 1000."""
    servers = "".join(f'[[dbms]]\nname = "{name}"\n{how}\n' for name, how in dbms.items())
    asked = "".join(
        f"[[queries]]\nname = {json.dumps(n)}\nsql = {json.dumps(s)}\n" for n, s in queries.items()
    )
    tables = TABLES.format(minimum=minimum)
    file = folder / "e.toml"
    file.write_text(f'name = "small"\nscenario = "{scenario}"\nqes = {qes}\n{servers}{tables}{asked}{more}')
    return str(file)


def one_status(lab: str, run: int = 1) -> dict[str, Any]:
    said = tare("experiment", "status", str(run), "--lab", lab, "--json")
    assert said.code == 0, said.err
    (found,) = said.result["runs"]
    return dict(found)


def qes_of(lab: str, run: int = 1) -> list[tuple[Any, ...]]:
    with sqlite3.connect(lab) as connection:
        return connection.execute(
            "SELECT q.number, c.cardinality, e.number, e.started_at, e.answer_hash FROM qe e "
            "JOIN qatc c ON c.id = e.qatc_id JOIN query q ON q.id = c.query_id "
            "WHERE e.run_id = ? AND e.number IS NOT NULL AND e.attempt = c.attempt ORDER BY e.run_order",
            (run,),
        ).fetchall()


def until(seen: Any, what: str) -> None:
    deadline = time.monotonic() + 60
    while not seen():
        assert time.monotonic() < deadline, f"not within 60 s: {what}"
        time.sleep(0.02)


def has_qes(lab: str, count: int) -> bool:
    try:
        return len(qes_of(lab)) >= count
    except sqlite3.Error:
        return False


# To the end --------------------------------------------------------------------------
@dataclass(frozen=True)
class Ran:
    said: Said
    lab: str


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Ran]:
    """Two queries at three cardinalities on a DBMS that Tare starts."""

    @cache
    def on(dbms: str) -> Ran:
        folder = let_servers_in(tmp_path_factory.mktemp(dbms))
        file = toml(folder, {"it": f'start = "{dbms}"'}, {"join": JOIN, "scan": SCAN})
        lab = str(folder / "lab.db")
        return Ran(tare("experiment", "run", file, "--lab", lab, "--json"), lab)

    return on


@pytest.fixture(scope="module")
def scanned(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """A query on SQLite, with the events of its run on standard output."""
    folder = tmp_path_factory.mktemp("scanned")
    file, lab = toml(folder, {"lite": 'start = "sqlite"'}, {"scan": SCAN}), str(folder / "lab.db")
    said = tare("experiment", "run", file, "--lab", lab, "--progress-json", "-")
    assert said.code == 0, said.err
    return Ran(said, lab)


@pytest.mark.parametrize(
    "dbms", ["sqlite", "duckdb", "postgresql", pytest.param("mariadb", marks=pytest.mark.mariadb)]
)
def test_an_experiment_runs_to_its_end_on_a_dbms_that_tare_starts(
    dbms: str, ran: Callable[[str], Ran]
) -> None:
    said, lab = ran(dbms).said, ran(dbms).lab
    if said.code == 1 and "install" in said.err and dbms == "mariadb":
        pytest.skip(f"no MariaDB here: {said.err}")
    assert said.code == 0, said.err
    (run,) = said.result["runs"]
    assert (run["state"], run["dbms"], run["qes"]) == ("done", dbms, 2 * 3 * 2)
    assert run["qatcs"] == {"planned": 6, "visited": 6, "timed": 6, "same_plan": 0, "failed": 0}
    order = [(query, cardinality) for query, cardinality, *_ in qes_of(lab)]
    assert order == [(q, c) for c in (3000, 2000, 1000) for q in (0, 1) for _ in range(2)]


def test_the_answers_are_the_same_on_every_dbms(ran: Callable[[str], Ran]) -> None:
    first, *others = (
        {(q, c): answer for q, c, _, _, answer in qes_of(ran(dbms).lab)}
        for dbms in ("sqlite", "duckdb", "postgresql")
    )
    assert others == [first, first]
    assert len(first) == 6


def test_one_pass_looks_at_every_cardinality_and_times_each_plan_once(tmp_path: Path, lab: str) -> None:
    file = toml(tmp_path, {"lite": 'start = "sqlite"'}, {"scan": SCAN}, scenario="onepass")
    said = tare("experiment", "run", file, "--lab", lab, "--json")
    assert said.code == 0, said.err
    assert said.result["runs"][0]["qatcs"] == {
        "planned": 3, "visited": 3, "timed": 1, "same_plan": 2, "failed": 0,
    }  # fmt: skip


def test_a_query_that_fails_on_one_dbms_is_listed_as_missing_and_the_run_goes_on(
    tmp_path: Path, lab: str
) -> None:
    both = {"duck": 'start = "duckdb"', "lite": 'start = "sqlite"'}
    queries = {"range": "SELECT count(*) FROM range(10)", "scan": SCAN}
    said = tare("experiment", "run", toml(tmp_path, both, queries, minimum=3000), "--lab", lab, "--json")
    assert said.code == 0, said.err
    duck, lite = said.result["runs"]
    assert duck["missing"] == []
    assert [one["query"] for one in lite["missing"]] == ["range"]
    assert lite["qes"] == 2
    shown = tare("experiment", "status", "2", "--lab", lab)
    assert "missing on this DBMS (1):" in shown.out
    assert "range:" in shown.out


def test_a_query_with_another_answer_each_time_fails_its_qatcs_and_the_run_goes_on(
    tmp_path: Path, lab: str
) -> None:
    queries = {"dice": "SELECT random() FROM ft_small", "scan": SCAN}
    said = tare(
        "experiment", "run", toml(tmp_path, {"lite": 'start = "sqlite"'}, queries), "--lab", lab, "--json"
    )
    assert said.code == 0, said.err
    (run,) = said.result["runs"]
    assert run["qatcs"]["failed"] == 3
    assert run["qatcs"]["timed"] == 3
    assert {one["query"] for one in run["failures"]} == {"dice"}


def test_an_answer_that_differs_in_last_bits_is_one_answer(tmp_path: Path, lab: str) -> None:
    """On both sides of an edge of rounding, another way each time: the hash of rounded values never is the same."""
    queries = {"edge": "SELECT 1.0000000005 + (random() % 2) * 4.4e-16 FROM ft_small"}
    file = toml(tmp_path, {"lite": 'start = "sqlite"'}, queries, minimum=3000)
    said = tare("experiment", "run", file, "--lab", lab, "--json")
    assert said.code == 0, said.err
    (run,) = said.result["runs"]
    assert run["qatcs"]["failed"] == 0
    with sqlite3.connect(lab) as kept:
        (most,) = kept.execute(
            "SELECT max(n) FROM (SELECT count(DISTINCT answer_hash) AS n FROM qe GROUP BY qatc_id)"
        ).fetchone()
    assert most == 1


def test_a_plan_that_changes_in_mid_qatc_begins_its_qes_anew(
    postgresql_url: str, tmp_path: Path, lab: str
) -> None:
    server, query = {"pg": f'url = "{postgresql_url}"'}, {"one": "SELECT * FROM ft_big WHERE id1 = 7"}
    file = toml(tmp_path, server, query, qes=60, minimum=2000)
    running = start("experiment", "run", file, "--lab", lab)
    until(lambda: has_qes(lab, 5) or running.poll() is not None, "five QEs")
    with psycopg.connect(postgresql_url, autocommit=True) as connection:
        connection.execute("CREATE INDEX another_way ON ft_big (id1)")
    _, err = running.communicate(timeout=120)
    assert running.returncode == 0, err
    assert not (tmp_path / "lab.dbms").exists(), "a server that is named by its URL is used as it is"
    with sqlite3.connect(lab) as kept:
        attempts = kept.execute("SELECT cardinality, attempt, state FROM qatc ORDER BY visit").fetchall()
        first = kept.execute(
            "SELECT e.attempt, count(e.number), count(DISTINCT e.plan_fingerprint) FROM qe e JOIN qatc c "
            "ON c.id = e.qatc_id WHERE c.visit = 0 AND e.number IS NOT NULL GROUP BY 1 ORDER BY 1"
        ).fetchall()
    assert attempts == [(3000, 2, "timed"), (2000, 1, "timed")]
    (before, after) = first
    assert before[0] == 1
    assert 5 <= before[1] < 60
    assert after == (2, 60, 1)


def test_a_query_that_never_ends_in_time_fails_its_qatc_and_the_run_goes_on(tmp_path: Path, lab: str) -> None:
    file = toml(tmp_path, {"lite": 'start = "sqlite"'}, {"slow": SLOW, "scan": SCAN}, qes=3, minimum=2000)
    text = Path(file).read_text().replace("qes = 3", "qes = 3\ntimeout_s = 0.2\n")
    Path(file).write_text(text)
    said = tare("experiment", "run", file, "--lab", lab, "--json")
    assert said.code == 0, said.err
    (run,) = said.result["runs"]
    assert [one["why"].split(",")[0] for one in run["failures"]] == ["timed out 3 times"] * 2
    assert run["qatcs"]["timed"] == 2


# Paused and resumed ----------------------------------------------------------------------
def begun(tmp_path: Path, lab: str, qes: int = 2000, more: str = "") -> Running:
    """A run that has five QEs, and far to go."""
    file = toml(tmp_path, {"lite": 'start = "sqlite"'}, {"join": JOIN, "scan": SCAN}, qes=qes, more=more)
    running = start("experiment", "run", file, "--lab", lab)
    until(lambda: has_qes(lab, 5) or running.poll() is not None, "five QEs")
    assert running.poll() is None, running.communicate(timeout=60)
    return running


def paused(running: Running, number: signal.Signals, code: int, lab: str) -> list[tuple[Any, ...]]:
    """The QEs of a run, after the signal has paused it."""
    running.send_signal(number)
    _, err = running.communicate(timeout=30)
    assert running.returncode == code, err
    assert "resume e1 --lab" in err
    assert "Traceback" not in err
    made = qes_of(lab)
    assert len(made) >= 5
    found = one_status(lab)
    assert (found["state"], found["qes"]) == ("paused", len(made))
    assert found["eta_s"] is None or found["eta_s"] > 0
    return made


def test_a_run_that_is_terminated_pauses(tmp_path: Path, lab: str) -> None:
    paused(begun(tmp_path, lab), signal.SIGTERM, 143, lab)


def test_a_run_that_is_interrupted_pauses_and_resume_repeats_no_qe(tmp_path: Path, lab: str) -> None:
    before = paused(begun(tmp_path, lab, qes=24), signal.SIGINT, 130, lab)
    assert len(before) < 2 * 3 * 24
    said = tare("experiment", "resume", "1", "--lab", lab)
    assert said.code == 0, said.err
    after = qes_of(lab)
    assert after[: len(before)] == before
    assert len({one[:3] for one in after}) == len(after) == 2 * 3 * 24


def test_a_second_ctrl_c_does_not_wait_for_the_query_in_hand(tmp_path: Path, lab: str) -> None:
    file = toml(tmp_path, {"lite": 'start = "sqlite"'}, {"slow": SLOW})
    events = tmp_path / "events.jsonl"
    running = start("experiment", "run", file, "--lab", lab, "--progress-json", str(events))
    until(lambda: events.exists() and "warm-up" in events.read_text(), "the first warm-up")
    time.sleep(0.5)
    running.send_signal(signal.SIGINT)
    assert running.stderr is not None
    while "pausing after the query execution in hand" not in running.stderr.readline():
        assert running.poll() is None
    time.sleep(SAME_S + 0.1)  # else the second one is an echo of the first
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=15)
    assert running.returncode == 130, err
    assert one_status(lab)["state"] == "paused"


def test_resuming_what_is_done_does_nothing(scanned: Ran) -> None:
    before = qes_of(scanned.lab)
    said = tare("experiment", "resume", "1", "--lab", scanned.lab)
    assert said.code == 0, said.err
    assert "done" in said.out
    assert qes_of(scanned.lab) == before


def test_a_second_executor_on_the_same_run_is_refused(tmp_path: Path, lab: str) -> None:
    running = begun(tmp_path, lab)
    said = tare("experiment", "resume", "1", "--lab", lab)
    assert said.code == 2, said.err
    assert "held by another executor" in said.err
    assert one_status(lab)["state"] == "running"
    running.send_signal(signal.SIGINT)
    running.communicate(timeout=30)
    assert running.returncode == 130


def test_two_runs_do_not_make_their_tables_in_one_database_at_once(tmp_path: Path, lab: str) -> None:
    running = begun(tmp_path, lab)
    said = tare("experiment", "run", str(tmp_path / "e.toml"), "--lab", lab)
    assert said.code == 2, said.err
    assert "another run of this machine is using the database" in said.err
    running.send_signal(signal.SIGINT)
    running.communicate(timeout=30)


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Lab of a run whose executor was killed, and that is silent after 0.1 s by its own specification."""
    folder = tmp_path_factory.mktemp("killed")
    watch = f'[watch]\nsilent_after_s = 0.1\ncommand = "cat > {folder / "told.json"}"\n'
    running = begun(folder, str(folder / "lab.db"), more=watch)
    running.kill()
    running.communicate(timeout=60)
    time.sleep(0.3)
    return str(folder / "lab.db")


def test_a_killed_executor_leaves_a_run_that_is_shown_as_stopped(killed: str) -> None:
    lab = killed
    found = one_status(lab)
    assert found["state"] == "stopped"
    listed = tare("lab", "list", "--lab", lab, "--json").result["runs"]
    assert [(one["run"], one["state"], one["dbms"]) for one in listed] == [(1, "stopped", "sqlite")]
    assert "stopped" in tare("lab", "list", "--lab", lab).out
    assert "tare experiment resume e1" in tare("experiment", "status", "1", "--lab", lab).out


def test_the_runs_of_all_dbmss_wait_when_the_first_is_interrupted(tmp_path: Path, lab: str) -> None:
    both = {"lite": 'start = "sqlite"', "other": 'start = "sqlite"'}
    file = toml(tmp_path, both, {"scan": SCAN}, qes=12)
    running = start("experiment", "run", file, "--lab", lab)
    until(lambda: has_qes(lab, 3), "three QEs")
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=30)
    assert running.returncode == 130
    assert "resume e1 e2 --lab" in err
    assert (one_status(lab, 2)["state"], one_status(lab, 2)["qes"]) == ("paused", 0)
    said = tare("experiment", "resume", "1", "2", "--lab", lab, "--json")
    assert said.code == 0, said.err
    assert [one["qes"] for one in said.result["runs"]] == [36, 36]


# What cannot be done ----------------------------------------------------------------------
def test_a_server_that_is_not_there_is_said_before_any_run_is_begun(
    free_port: int, tmp_path: Path, lab: str
) -> None:
    both = {"lite": 'start = "sqlite"', "pg": f'url = "postgresql://u@127.0.0.1:{free_port}/d"'}
    said = tare("experiment", "run", toml(tmp_path, both, {"scan": SCAN}), "--lab", lab)
    assert said.code == 1
    assert "127.0.0.1" in said.err
    assert "Traceback" not in said.err
    assert tare("lab", "list", "--lab", lab, "--json").result["runs"] == []


def test_a_dbms_that_the_specification_has_not_is_said_with_those_it_has(tmp_path: Path, lab: str) -> None:
    file = toml(tmp_path, {"lite": 'start = "sqlite"'}, {"scan": SCAN})
    said = tare("experiment", "run", file, "--lab", lab, "--dbms", "oracle")
    assert said.code == 2
    assert "lite" in said.err


def test_a_run_that_the_lab_has_not_is_told(scanned: Ran) -> None:
    for command in ("resume", "status", "watch"):
        said = tare("experiment", command, "77", "--lab", scanned.lab)
        assert (said.code, "77" in said.err) == (2, True), said.err
    said = tare("experiment", "status", "1", "--lab", f"{scanned.lab}.not")
    assert (said.code, "there is no lab" in said.err) == (1, True), said.err


def test_a_resumed_run_must_be_on_the_dbms_that_it_was_begun_on(tmp_path: Path, lab: str) -> None:
    running = begun(tmp_path, lab)
    running.send_signal(signal.SIGINT)
    running.communicate(timeout=30)
    with sqlite3.connect(lab) as connection:
        connection.execute("UPDATE dbms SET version = '1.0'")
    said = tare("experiment", "resume", "1", "--lab", lab)
    assert said.code == 1
    assert "begun on sqlite 1.0" in said.err
    assert one_status(lab)["state"] == "paused"


def test_events_are_written_as_json_lines_to_standard_output(scanned: Ran) -> None:
    events = [json.loads(line) for line in scanned.said.out.splitlines() if line.startswith("{")]
    counted = [one for one in events if one["event"] == "qe" and one["number"] is not None]
    assert [(one["cardinality"], one["number"]) for one in counted] == [
        (c, n) for c in (3000, 2000, 1000) for n in (1, 2)
    ]


# The watcher ----------------------------------------------------------------------------------
class Hook(BaseHTTPRequestHandler):
    got: list[dict[str, Any]]
    refuse = 0

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        kind = type(self)
        if kind.refuse > 0:
            kind.refuse -= 1
            self.send_response(503)
        else:
            kind.got.append(body)
            self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        return


@pytest.fixture
def hook() -> Iterator[type[Hook]]:
    class Mine(Hook):
        got = []  # noqa: RUF012
        port = 0

    server = HTTPServer(("127.0.0.1", 0), Mine)
    Mine.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield Mine
    server.shutdown()
    server.server_close()


def test_an_executor_that_goes_silent_is_reported_once_by_command_and_webhook_and_again_when_it_is_heard(
    tmp_path: Path, lab: str, hook: Any
) -> None:
    hook.refuse = 1  # the first notice is offered again
    told = tmp_path / "told"
    running = begun(tmp_path, lab)
    watcher = start(
        "experiment", "watch", "1", "--lab", lab, "--silent-after", "1s",
        "--command", f'cat >> {told}; echo " $TARE_RUN $TARE_EVENT $TARE_SILENT_FOR" >> {told}',
        "--webhook", f"http://127.0.0.1:{hook.port}/hook",
    )  # fmt: skip
    try:
        time.sleep(1.5)
        assert hook.got == []
        os.kill(running.pid, signal.SIGSTOP)
        until(lambda: hook.got, "a notice")
        time.sleep(1.0)
        assert len(hook.got) == 1
        os.kill(running.pid, signal.SIGCONT)
        until(lambda: len(hook.got) > 1, "a second notice")
        running.send_signal(signal.SIGINT)
        until(lambda: len(hook.got) > 2, "a third notice")
        watcher.send_signal(signal.SIGINT)
        out, err = watcher.communicate(timeout=30)
    finally:
        for process in (running, watcher):
            process.kill()
            process.communicate(timeout=60)
    assert watcher.returncode == 130, err
    assert [one["event"] for one in hook.got] == ["silent", "recovered", "paused"]
    assert hook.got[0]["run"] == 1
    assert hook.got[0]["silent_for_s"] > 1
    assert "503" in err
    by_command = [line.rpartition("} ")[2].split() for line in told.read_text().splitlines()]
    assert [one[:2] for one in by_command] == [["1", "silent"], ["1", "recovered"], ["1", "paused"]]
    assert [json.loads(line)["event"] for line in out.splitlines()] == ["silent", "recovered", "paused"]


def test_watch_once_says_by_its_exit_code_whether_a_run_is_silent(killed: str) -> None:
    def once(after: str) -> Said:
        return tare("experiment", "watch", "1", "--lab", killed, "--once", "--silent-after", after)

    assert once("10m").code == 0
    silent = once("100ms")
    assert silent.code == 1
    assert json.loads(silent.out)["event"] == "silent"


def test_the_watcher_takes_its_limit_and_its_command_from_the_specification(killed: str) -> None:
    told = Path(killed).parent / "told.json"
    told.unlink(missing_ok=True)
    said = tare("experiment", "watch", "1", "--lab", killed, "--once")
    assert said.code == 1, said.err
    assert json.loads(told.read_text())["event"] == "silent"


def test_a_webhook_that_is_no_web_address_is_refused(scanned: Ran) -> None:
    said = tare("experiment", "watch", "1", "--lab", scanned.lab, "--webhook", "file:///etc/passwd")
    assert said.code == 2
    assert "http" in said.err
