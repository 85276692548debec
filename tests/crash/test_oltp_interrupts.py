"""A client that is ended: what was measured is kept, what it had open is gone."""

from __future__ import annotations

import signal
import time
from contextlib import closing
from pathlib import Path

import pytest

from tare.interruption import INTERRUPTED
from tare.workload.oltp.verdict import CutShort
from tests.crash.oltp_runs import (
    CONNECTIONS,
    SMALL,
    Database,
    flat,
    last_run,
    oltp,
    stopped,
    until_true,
    watched,
    words_of,
)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, INTERRUPTED), (signal.SIGTERM, 143)])
def test_a_run_that_is_ended_early_tells_and_keeps_what_was_measured(
    tatp: Database, lab: Path, number: signal.Signals, code: int
) -> None:
    with watched(words_of(tatp, lab, "--duration", "60s", "--no-check")) as run:
        run.wait_for("1 s: 50 started")
        run.process.send_signal(number)
        done = run.ended(10)
    assert done.code == code, done.err
    assert done.out.startswith("✗ This run is not valid: it was cut short after ")
    assert "o1 of the lab" in flat(done.out)
    kept = last_run(lab)
    assert isinstance(kept.invalid[0], CutShort)
    assert 50 <= kept.outcome.all.counts.finished < 200
    until_true(lambda: tatp.sessions() == 0, 5)


def test_ctrl_c_in_the_warm_up_has_nothing_to_tell(tatp: Database, lab: Path) -> None:
    with watched(words_of(tatp, lab, "--no-check", warmup="30s")) as run:
        run.wait_for("warm-up")
        run.process.send_signal(signal.SIGINT)
        done = run.ended(10)
    assert done.code == INTERRUPTED, done.err
    assert done.out == ""
    assert "nothing was measured" in done.err


def test_a_second_ctrl_c_waits_for_nobody(tatp: Database, lab: Path) -> None:
    with watched(words_of(tatp, lab, "--duration", "60s", "--no-check")) as run:
        run.wait_for("measured part")
        with stopped(tatp):
            time.sleep(0.5)
            run.process.send_signal(signal.SIGINT)
            time.sleep(0.5)
            assert run.process.poll() is None, "it waits for what is under way"
            run.process.send_signal(signal.SIGINT)
            begun = time.monotonic()
            done = run.ended(10)
            took = time.monotonic() - begun
    assert done.code == INTERRUPTED, done.err
    assert took < 3
    assert "tare: interrupted" in done.err
    until_true(lambda: tatp.sessions() == 0, 5)


def test_a_killed_client_leaves_no_session_that_waits_for_a_lock(tatp: Database, lab: Path) -> None:
    # By their own settings PostgreSQL waits for ever and MariaDB for 50 s; in sessions of a load 1 s and 10 s.
    within_s = 30
    words = words_of(tatp, lab, "--mix", "update_location=1", "--no-check")
    with closing(tatp.connect()) as holder:
        holder.cursor().execute("UPDATE subscriber SET vlr_location = vlr_location")
        with watched([*words, "--duration", "60s"]) as run:
            run.wait_for("measured part")
            until_true(lambda: tatp.lock_waits() == CONNECTIONS, 10)
            run.process.kill()
        until_true(lambda: tatp.sessions() == 1, within_s)  # the holder's
        holder.rollback()
    done = oltp(*words, "--duration", "1s")
    assert done.code == 0, done.out + done.err
    assert last_run(lab).outcome.all.counts.committed == 50


def test_a_load_whose_client_is_killed_is_no_data_to_run_on_and_is_cleared_by_the_next(
    empty: Database, lab: Path
) -> None:
    with watched(["load", "tatp", "--db", empty.url, "--scale", "3"]) as run:
        here = {"postgresql": "current_schema()", "mariadb": "database()"}[empty.dbms]
        named = f"table_name = 'tare_oltp' AND table_schema = {here}"
        there = f"SELECT count(*) FROM information_schema.tables WHERE {named}"
        until_true(lambda: empty.number(there) == 1, 20)
        time.sleep(0.3)
        run.process.kill()
    refused = oltp(*words_of(empty, lab))
    assert refused.code == 2
    assert "the load of tatp into this database was interrupted" in refused.err
    assert "load it again" in refused.err
    done = oltp("load", "tatp", *SMALL, "--db", empty.url)
    assert done.code == 0, done.err
    assert oltp(*words_of(empty, lab, "--duration", "500ms")).code == 0
