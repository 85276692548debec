"""`tare profile attach` on real servers under load: what it finds, and that they go on as before."""

from __future__ import annotations

import json
import os
import re
import signal
import time
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from tare.cli.profile_call import SERVER_ENDED
from tare.dbms.servers import RunningServer
from tare.profile.backends import tried
from tare.profile.other_tracers import breakpoints
from tests.cli.running import Running, Said, start, tare
from tests.profile.own_programs import attaching, built, running
from tests.profile.servers import (
    after_a_round,
    connect,
    fill,
    load,
    prepared_block,
    same_row,
    without_autocommit,
)
from tests.servers import own_server

pytestmark = pytest.mark.usefixtures("attach_works")

BUDGET = "20%"  # of a tenth of a millisecond, where a disk syncs in as much; 5% is for two events then
SHORT = ("--duration", "10s", "--rounds", "2")


def attach(url: str, out: Path, *more: str, timeout: float = 120) -> Said:
    return tare("profile", "attach", "--db", url, "--profiles", str(out), *more, timeout=timeout)


def started(url: str, out: Path, *more: str) -> Running:
    """A run that soon has a first round, and others to come."""
    words = ("profile", "attach", "--db", url, "--profiles", str(out), "--duration", "24s")
    return start(*words, *more)


def report(url: str, out: Path, *more: str) -> Any:
    said = attach(url, out, *SHORT, "--json", "-", *more)
    assert said.code == 0, said.err
    return said.result


def watched(found: Any) -> set[str]:
    return {node["name"] for node in found["nodes"]}


def let_go(found: Any) -> set[str]:
    """Functions whose probes took more than the budget."""
    return {name for one in found["shed"] for name in one["functions"]}


@pytest.mark.parametrize("which", ["postgresql", "postgresql15"])
def test_a_postgresql_under_updates_is_taken_apart(
    which: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    server: RunningServer = request.getfixturevalue(which)
    with load(server.url) as ended:
        before = ended()
        found = report(server.url, tmp_path, "--budget", BUDGET)
        assert ended() > before
    assert "transactions left out" not in found["invalid_because"], "a budget takes more windows to confirm"
    assert found["transactions"] > 200
    assert found["rates"]["after"] > 0
    assert abs(found["equation"]["own_sum"] - 1) < 1e-9
    assert found["equation"]["residue"] < 1e-9
    assert {"XLogFlush", "LWLockAcquireOrWait"} & (watched(found) | let_go(found))
    assert found["overhead"]["latency"] is not None
    assert found["rounds"][0]["reason"]
    assert all(one["predicted"] <= 0.2 + 1e-9 for one in found["rounds"])


def test_transactions_are_as_many_as_the_server_made(postgresql: RunningServer, tmp_path: Path) -> None:
    """Each update is one; those cut by a change of probes are left out, and said to be."""
    with load(postgresql.url, connections=2) as ended:
        begun, at = ended(), time.monotonic()
        found = report(postgresql.url, tmp_path)
        rate = (ended() - begun) / (time.monotonic() - at)
    plain = [turn for turn in found["turns"] if not turn["probed"]]
    seen = sum(turn["transactions"] for turn in plain) / sum(turn["seconds"] for turn in plain)
    assert seen == pytest.approx(rate, rel=0.35)  # the load shares two CPUs with the analysis


def test_statements_are_told_apart_in_a_block_and_by_either_protocol(
    postgresql: RunningServer, tmp_path: Path
) -> None:
    with load(postgresql.url, prepared_block, connections=2):
        found = report(
            postgresql.url, tmp_path, "--txn", "statement", "--no-auto", "--functions", "PortalRun"
        )
    counts = {one["name"].split()[0]: one["transactions"] for one in found["types"]}
    assert counts["UPDATE"] == pytest.approx(2 * counts["COMMIT"], rel=0.1)
    assert counts["BEGIN"] == pytest.approx(counts["COMMIT"], rel=0.1)


def test_waiting_for_a_row_is_found_where_rows_are_fought_over(
    postgresql: RunningServer, tmp_path: Path
) -> None:
    with load(postgresql.url, same_row, connections=6, pause_s=0):
        watch = ("--functions", "ProcSleep,XLogFlush,PortalRun", "--no-auto", "--name", "rows")
        found = report(postgresql.url, tmp_path, *watch)
    own = {
        name: sum(node["own_covariance"]["value"] for node in found["nodes"] if node["name"] == name)
        for name in watched(found)
    }
    assert max(own, key=lambda name: own[name]) == "ProcSleep"
    assert any(one["name"].startswith("[waiting") for one in found["nodes"])
    served = tare(
        "profile", "show", "rows", "--server-time", "--profiles", str(tmp_path), "--json", "-"
    ).result
    assert served["server_time"]
    assert served["durations"]["mean_ns"] < found["durations"]["mean_ns"]
    assert abs(served["equation"]["own_sum"] - 1) < 1e-9
    assert not any(one["name"].startswith("[waiting") for one in served["nodes"])
    same = ("rows", "rows", "--server-time", "--profiles", str(tmp_path), "--json", "-")
    assert tare("profile", "diff", *same).result["server_time"]
    copytree(tmp_path / "rows", tmp_path / "p1")
    assert tare("report", "p1", "--profiles", str(tmp_path), "--json", "-").result["nodes"] == found["nodes"]
    assert tare("compare", "p1", "p1", "--profiles", str(tmp_path), "--json", "-").code == 0


def test_a_mariadb_under_updates_is_taken_apart(mariadb_server: RunningServer, tmp_path: Path) -> None:
    with load(mariadb_server.url):
        found = report(mariadb_server.url, tmp_path)
    assert found["transactions"] > 200
    assert abs(found["equation"]["own_sum"] - 1) < 1e-9
    assert any("UPDATE" in one["name"].upper() for one in found["types"])


def test_without_autocommit_a_transaction_of_mariadb_goes_on_until_its_commit(
    mariadb_server: RunningServer, tmp_path: Path
) -> None:
    with load(mariadb_server.url, without_autocommit):
        found = report(
            mariadb_server.url, tmp_path, "--functions", "mysql_update", "--no-auto", "--budget", "20%"
        )
    [update] = [one for one in found["nodes"] if one["name"] == "mysql_update"]
    assert update["calls"] == pytest.approx(1.0, rel=0.05), "two in one of two: SET autocommit is one too"
    assert any(one["name"].startswith("[waiting") for one in found["nodes"])


def test_a_function_that_is_not_there_is_answered_with_near_names(
    postgresql: RunningServer, tmp_path: Path
) -> None:
    said = attach(postgresql.url, tmp_path / "p", "--functions", "heap_updat")
    assert said.code == 2
    assert "names no function heap_updat" in said.err
    assert "heap_update" in said.err.partition("did you mean")[2]
    assert not (tmp_path / "p").exists()


def test_without_a_load_it_says_so_and_keeps_nothing(postgresql: RunningServer, tmp_path: Path) -> None:
    said = attach(postgresql.url, tmp_path / "p", "--duration", "4s")
    assert said.code == 1
    waited = re.search(r"no transaction ended in (\d+) s", said.err)
    assert waited, said.err
    assert 4 <= int(waited[1]) < 30, "as long as the profile was to last"
    assert "tare bench oltp run" in said.err
    assert not list((tmp_path / "p").glob("*"))


def test_ctrl_c_analyses_what_is_there(postgresql: RunningServer, tmp_path: Path) -> None:
    with load(postgresql.url):
        run = started(postgresql.url, tmp_path, "--name", "cut")
        after_a_round(tmp_path / "cut")
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=60)
    assert run.returncode == 130, err
    assert "variance" in out
    assert json.loads((tmp_path / "cut" / "about.json").read_text())["state"] == "interrupted"


def test_a_server_that_ends_in_mid_run_is_the_headline_and_an_exit_code_of_its_own(tmp_path: Path) -> None:
    with own_server("postgresql") as server:
        fill(server.url)
        run = started(server.url, tmp_path, "--name", "ended", "--json", "-")
        with load(server.url):
            after_a_round(tmp_path / "ended")
            os.kill(server.pid, signal.SIGQUIT)
        out, err = run.communicate(timeout=90)
    assert run.returncode == SERVER_ENDED, err
    found = json.loads(out)
    assert found["transactions"] > 0
    assert found["of"]["state"] == "server ended"
    assert found["invalid_because"][0] == "server ended"
    assert found["failure"]["process"] == server.pid
    assert found["rates"]["before"] > 0
    assert found["rates"]["after"] == 0
    assert found["headline"][0].startswith(f"The server (process {server.pid}")


def test_a_backend_that_dies_of_a_signal_is_named_with_it(tmp_path: Path) -> None:
    with own_server("postgresql") as server:
        fill(server.url)
        run = started(server.url, tmp_path, "--name", "killed", "--json", "-")
        with load(server.url):
            after_a_round(tmp_path / "killed")
            [victim] = connect(server.url).execute(
                "SELECT min(pid) FROM pg_stat_activity WHERE query ~ 'UPDATE'"
            )
            os.kill(victim[0], signal.SIGKILL)
        out, err = run.communicate(timeout=90)
    assert run.returncode == SERVER_ENDED, err
    failure = json.loads(out)["failure"]
    assert (failure["kind"], failure["process"], failure["signal"]) == ("process ended", victim[0], 9)


def test_probes_within_a_hot_lock_are_let_go_after_two_pairs_of_windows(tmp_path: Path) -> None:
    """Predicted to cost 8% of 16%, they make whoever waits for the lock sleep."""
    with running(built("hot_lock.c", tmp_path, "-O1")) as server:
        began = time.monotonic()
        more = ("--functions", "within", "--budget", "16%", "--duration", "40s")
        run = attaching(server.pid, tmp_path, *more, root="transaction")
        out, err = run.communicate(timeout=90)
        assert server.poll() is None
    assert run.returncode == 0, err
    assert time.monotonic() - began < 35, "it stops as nothing is left to watch"
    found = json.loads(out)
    [shed] = found["shed"]
    assert (shed["round"], shed["functions"], shed["left"]) == (1, ["within"], 0)
    assert shed["pairs"] <= 3
    assert shed["overhead"]["low"] > 0.16
    assert found["invalid_because"] == ["overhead above the budget"]
    assert found["rates"]["during"] < found["rates"]["after"]
    assert "let go of within" in " ".join(found["headline"])


def test_the_trial_of_the_backend_can_be_made_again_in_one_process() -> None:
    """The library that the first one loaded is still in memory, though its file is gone."""
    for _ in range(2):
        attempt = next(one for one in tried() if one.name == "attach")
        assert attempt.works, attempt.says


def test_a_root_that_is_called_millions_of_times_a_second_is_refused_before_it_is_timed(
    tmp_path: Path,
) -> None:
    """All its time would go into the probes. What calls it a thousand times is named instead. How often it was entered
    while that was counted is the machine's: the kernel steps over its first instruction, in 1 to 20 µs."""
    with running(built("hot_root.c", tmp_path, "-O1"), tmp_path / "count") as server:
        words = ("--pid", str(server.pid), "--txn", "function:root", "--profiles", str(tmp_path / "profiles"))
        said = tare("profile", "attach", *words, timeout=60)
        assert server.poll() is None
        assert breakpoints(server.pid) == 0
    assert said.code == 2, said.err
    assert re.search(r"to time what marks a transaction \(root, entered [\d,]+ times a second\)", said.err)
    assert "such as a function that calls it (serve)" in said.err
    assert not list((tmp_path / "profiles").glob("*"))


DEAR = ("--budget", "99%")
"""Options with a budget so large that no probe gives way."""


def test_a_run_can_be_gone_on_from_while_its_server_runs(postgresql: RunningServer, tmp_path: Path) -> None:
    with load(postgresql.url):
        first = attach(
            postgresql.url,
            tmp_path,
            *("--functions", "CommitTransactionCommand,PortalRun", "--no-auto"),
            *("--duration", "8s", "--name", "first", *DEAR),
        )
        assert first.code == 0, first.err
        said = tare(
            "profile",
            "refine",
            "first",
            "PortalRun",
            "--profiles",
            str(tmp_path),
            "--duration",
            "10s",
            *DEAR,
            "--json",
            "-",
        )
    assert said.code == 0, said.err
    assert {"PortalRun", "CommitTransactionCommand"} <= watched(said.result)
    assert len(watched(said.result)) > 3


def test_killed_with_kill_9_the_server_lives_and_its_text_is_as_before(
    postgresql: RunningServer, tmp_path: Path
) -> None:
    with load(postgresql.url) as ended:
        run = started(postgresql.url, tmp_path, "--name", "killed")
        after_a_round(tmp_path / "killed")
        run.kill()
        run.communicate(timeout=60)
        before = ended()
        time.sleep(2)
        assert ended() > before
    said = tare("profile", "show", "killed", "--profiles", str(tmp_path), "--json", "-")
    assert said.code == 0, said.err
    assert said.result["transactions"] > 0, "what was recorded until then can be analysed"
