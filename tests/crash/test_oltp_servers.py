"""Failures and stalls of the server in mid-run: they are counted and come first in the report; the data stay whole."""

from __future__ import annotations

import os
import re
import signal
import time
from pathlib import Path

from tare.dbms.servers import RunningServer, restart, start_mariadb
from tare.workload.oltp.verdict import ConnectionsBroke
from tests.crash.oltp_runs import (
    CONNECTIONS,
    Database,
    flat,
    last_run,
    oltp,
    slower_than,
    stopped,
    watched,
    words_of,
)

STALL_S = 2.0
GAP_S = 0.1  # to the next arrival, and until all of the server's processes have stopped


def again(server: RunningServer) -> None:
    """PostgreSQL is restarted in good order, MariaDB killed and started."""
    if server.record.kind == "postgresql":
        restart(server.record)
        return
    os.kill(server.pid, signal.SIGKILL)
    while Path(f"/proc/{server.pid}").exists():
        time.sleep(0.01)
    start_mariadb(server.directory)


def test_a_server_that_comes_back_is_run_on(tatp: Database, lab: Path) -> None:
    with watched(words_of(tatp, lab, "--duration", "7s")) as run:
        run.wait_for("measured part")
        time.sleep(0.7)
        again(tatp.server)
        done = run.ended()
    assert done.code == 1, done.out + done.err
    first = flat(done.out.split("\n\n")[0])
    assert re.match(
        rf"✗ This run is not valid: the server restarted at \d\.\d s: {CONNECTIONS} of {CONNECTIONS} connections broke",
        first,
    )
    kept = last_run(lab)
    outcome = kept.outcome
    counts = outcome.all.counts
    assert kept.restarted
    broke = kept.invalid[1]
    assert isinstance(broke, ConnectionsBroke)
    assert broke.back_ns is not None
    assert 0 < broke.at_ns < broke.back_ns
    assert 1 <= counts.lost <= CONNECTIONS, "what was under way is lost, once a connection"
    assert outcome.reconnects == CONNECTIONS
    assert counts.offered == 350 == counts.finished + counts.lost
    assert f"connections made again {CONNECTIONS}" in flat(done.out)
    assert "connections that were lost are being made again" in done.err
    assert "conditions on the data all 12 hold" in flat(done.out)


def test_a_stall_shows_in_full_in_the_response_times_of_all_who_came(tatp: Database, lab: Path) -> None:
    with watched(words_of(tatp, lab, "--duration", "5s", "--no-check")) as run:
        run.wait_for("measured part")
        time.sleep(1)
        with stopped(tatp):
            time.sleep(STALL_S)
        done = run.ended()
    assert done.code == 0, done.out + done.err
    kept = last_run(lab)
    every = kept.outcome.all
    assert max(one.length_ns for one in kept.freezes) / 1e9 > STALL_S - GAP_S
    first = flat(done.out.split("\n\n")[0])
    assert first.startswith("! ")
    assert "stood still for" in first
    assert kept.restarted is False
    assert every.counts.committed + every.counts.rolled_back == 250
    assert STALL_S - GAP_S < every.response.max / 1e9 < STALL_S + 1
    came = 50 * STALL_S / 2  # in the stall's first half
    assert slower_than(STALL_S / 2, every.response.histogram) >= came * 0.9
    assert slower_than(STALL_S / 2, every.service.histogram) <= CONNECTIONS


def test_a_table_dropped_in_mid_run_is_errors_and_no_valid_run(tatp: Database, lab: Path) -> None:
    with watched(words_of(tatp, lab, "--duration", "3s")) as run:
        run.wait_for("measured part")
        time.sleep(0.5)
        tatp.run("DROP TABLE access_info")
        done = run.ended(20)
    assert done.code == 1
    said = "does not exist" if tatp.dbms == "postgresql" else "doesn't exist"
    first = done.out.split("\n\n")[0]
    assert first.startswith("✗ This run is not valid: "), done.out
    assert "ended in an error of the DBMS" in flat(first)
    told = flat(done.out.split("Troubles and deviations")[1])
    assert 1 <= told.count(said) <= 2, "each text once, not once for each second or transaction"
    assert said in done.err
    assert "next:" in done.err, "the conditions cannot be held against what is gone"
    counts = last_run(lab).outcome.all.counts
    assert counts.errors > 10
    assert counts.offered == 150 == counts.finished + counts.errors


def test_transactions_that_are_given_up_are_no_successes(tatp: Database, lab: Path) -> None:
    """Each update of every fourth subscriber conflicts, however often it is tried."""
    tatp.run(*_CONFLICTS[tatp.dbms])
    mix = ("--mix", "update_location=1", "--seed", "1")
    done = oltp(*words_of(tatp, lab, "--duration", "2s", "--no-check", *mix, rate=100))
    assert done.code == 1, done.out + done.err
    kept = last_run(lab)
    counts = kept.outcome.all.counts
    given_up = counts.serialization_failures + counts.deadlocks
    assert 50 < given_up < 150
    assert counts.retried == 2 * given_up
    assert kept.sustained_rate <= (200 - given_up) / 2
    first = flat(done.out.split("\n\n")[0])
    assert first.startswith("✗ This run is not valid: ")
    assert f"of 200 transactions did not succeed: {given_up} given up after " in first


_CONFLICTS = {
    "postgresql": (
        "CREATE FUNCTION conflict() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.s_id % 4 = 0 THEN "
        "RAISE EXCEPTION 'planted' USING ERRCODE = '40001'; END IF; RETURN NEW; END $$",
        "CREATE TRIGGER conflict BEFORE UPDATE ON subscriber FOR EACH ROW EXECUTE FUNCTION conflict()",
    ),
    "mariadb": (
        "CREATE TRIGGER conflict BEFORE UPDATE ON subscriber FOR EACH ROW IF NEW.s_id MOD 4 = 0 THEN "
        "SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = 1213, MESSAGE_TEXT = 'planted'; END IF",
    ),
}
