"""Requests that a server's state forbids: said in one message with what to do, before anything is sent."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tare.dbms.servers import RunningServer
from tare.workload.oltp.verdict import ConditionFailed, Unstarted
from tests.cli.running import Said
from tests.crash.oltp_runs import (
    SMALL,
    Database,
    flat,
    last_run,
    load,
    new_database,
    oltp,
    until_true,
    watched,
    words_of,
)


def refused(done: Said, code: int, *said: str) -> None:
    text = flat(done.err)
    assert done.code == code, done.out + done.err
    assert done.out == ""
    assert text.count("next:") == 1
    assert "Traceback" not in text
    for words in said:
        assert words in text


def test_data_that_are_not_those_that_were_asked_for_are_not_run_on(empty: Database, lab: Path) -> None:
    run = words_of(empty, lab)
    refused(oltp(*run), 2, "tatp is not loaded in this database", "tare bench oltp load tatp")
    empty.run("CREATE TABLE subscriber (kept int)", "INSERT INTO subscriber VALUES (42)")
    refused(
        oltp("load", "tatp", *SMALL, "--db", empty.url), 2, "that it did not make: subscriber", "--replace"
    )
    assert empty.number("SELECT kept FROM subscriber") == 42
    replaced = oltp("load", "tatp", *SMALL, "--db", empty.url, "--replace")
    assert replaced.code == 0, replaced.err
    refused(oltp("load", "tatp", *SMALL, "--db", empty.url), 2, "is loaded in this database already")
    refused(oltp(*run, "--scale", "2"), 2, "tatp is loaded at scale 0.01, not 2")
    refused(oltp("run", "ycsb", *run[2:]), 2, "this database holds tatp, not ycsb")


def test_more_connections_than_the_server_takes_are_counted_and_given_back(tatp: Database, lab: Path) -> None:
    done = oltp(*words_of(tatp, lab, "--no-check", connections=400))
    refused(done, 1, "of 400 connections")
    found = re.search(r"of 400 connections (\d+) were opened.*ask for (\d+) or fewer", flat(done.err))
    assert found is not None, done.err
    assert 80 < int(found.group(1)) == int(found.group(2)) < 160
    until_true(lambda: tatp.sessions() == 0, 5)


def test_a_rate_that_cannot_be_held_is_invalid_before_any_figure_and_kept(tatp: Database, lab: Path) -> None:
    words = words_of(tatp, lab, "--duration", "1s", "--drain", "100ms", "--no-check", rate=100_000)
    done = oltp(*words)
    assert done.code == 1, done.err
    assert re.match(
        r"✗ This run is not valid: it missed its rate: [\d.]+/s were started of 100000.00/s", flat(done.out)
    )
    kept = last_run(lab)
    assert any(isinstance(why, Unstarted) for why in kept.invalid)
    assert kept.outcome.all.counts.offered == 100_000


def test_a_corrupted_row_is_named_and_run_on_only_if_told_to(tatp: Database, lab: Path) -> None:
    tatp.run("UPDATE subscriber SET hex_3 = 99 WHERE s_id = 7")
    found = oltp("check", "tatp", "--db", tatp.url)
    assert found.code == 1
    assert "Condition subscriber_fields does not hold in 1 row" in found.out
    assert "11 of 12 conditions hold" in found.out
    words = words_of(tatp, lab, "--duration", "500ms")
    stopped = oltp(*words)
    assert stopped.code == 1
    assert "conditions do not hold before the run: subscriber_fields" in flat(stopped.err)
    assert "--no-check" in stopped.err
    assert oltp(*words, "--no-check").code == 0


def test_a_row_that_is_corrupted_in_mid_run_makes_it_invalid(tatp: Database, lab: Path) -> None:
    with watched(words_of(tatp, lab, "--duration", "2s")) as run:
        run.wait_for("measured part")
        tatp.run("UPDATE subscriber SET hex_3 = 99 WHERE s_id = 7")
        done = run.ended()
    assert done.code == 1
    said = "condition subscriber_fields does not hold after the run: 1 row failing"
    assert flat(done.out).startswith(f"✗ This run is not valid: {said}")
    assert last_run(lab).invalid == (ConditionFailed(name="subscriber_fields", moment="after", failing=1),)


# Passwords ---------------------------------------------------------------------------------
PASSWORD = "s3cr3t-Xyzzy"


@pytest.fixture
def joes(tatp: Database, lab: Path) -> Iterator[str]:
    """The database's URL for a user who has a password."""
    if tatp.dbms == "postgresql":
        access = tatp.server.directory / "data" / "pg_hba.conf"
        before = access.read_text()
        tatp.run(f"CREATE ROLE joe SUPERUSER LOGIN PASSWORD '{PASSWORD}'")
        access.write_text("local all joe scram-sha-256\n" + before)
        tatp.run("SELECT pg_reload_conf()")
        yield tatp.url.replace("///", f"//joe:{PASSWORD}@/").replace("&user=postgres", "")
        access.write_text(before)
        tatp.run("SELECT pg_reload_conf()", "DROP ROLE joe")
    else:
        tatp.run(f"CREATE USER joe@localhost IDENTIFIED BY '{PASSWORD}'", "GRANT ALL ON *.* TO joe@localhost")
        yield tatp.url.replace("root@", f"joe:{PASSWORD}@")
        tatp.run("DROP USER joe@localhost")


def test_a_wrong_password_is_never_shown(joes: str, lab: Path) -> None:
    wrong = joes.replace(PASSWORD, "wr0ng-Xyzzy")
    for words in (["check", "tatp"], ["run", "tatp", "--lab", str(lab)]):
        done = oltp(*words, TARE_DB=wrong)
        assert done.code == 1, done.err
        assert "joe" in done.err
        assert "next:" in done.err
        assert "Xyzzy" not in done.out + done.err


def test_a_password_is_neither_in_the_lab_nor_to_be_seen_of_the_driver(joes: str, lab: Path) -> None:
    words = ["run", "tatp", "--lab", str(lab), "--rate", "50", "--duration", "1s", "--no-check"]
    with watched([*words, "--warmup", "0"], TARE_DB=joes) as run:
        run.wait_for("measured part")
        driver = Path(f"/proc/{run.driver()}")
        seen = (driver / "cmdline").read_bytes() + (driver / "environ").read_bytes()
        done = run.ended()
    assert done.code == 0, done.err
    assert b"Xyzzy" not in seen
    assert "Xyzzy" not in done.out + done.err
    assert all(b"Xyzzy" not in file.read_bytes() for file in lab.parent.glob("*") if file.is_file())


# Words -------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def loaded(oltp_server: RunningServer) -> Database:
    return load(new_database(oltp_server))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--mix", "get_subscribr_data=1"], ["get_subscribr_data", "get_subscriber_data, insert_call_forw"]),
        (["--option", "fixed_lines=5"], ["tatp has no option fixed_lines"]),
        (["--duration", "1 hour"], ["--duration 1 hour: no duration", "500ms, 60s, 2m or 1h"]),
    ],
)
def test_what_the_workload_does_not_know_is_named(
    loaded: Database, lab: Path, words: list[str], said: list[str]
) -> None:
    refused(oltp(*words_of(loaded, lab, "--no-check", *words)), 2, *said)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("0.1\n0.2\nsoon\n", "line 3: `soon` is no number of seconds"),
        ("0.2\n0.1\n", "line 2: 0.1 comes before the arrival above it"),
    ],
)
def test_a_trace_is_read_before_anything_is_sent_and_its_line_named(
    loaded: Database, lab: Path, tmp_path: Path, lines: str, said: str
) -> None:
    trace = tmp_path / "arrivals"
    trace.write_text(lines)
    words = ["run", "tatp", "--db", loaded.url, "--lab", str(lab), "--no-check"]
    refused(oltp(*words, "--arrivals", f"trace:{trace}"), 2, said)
