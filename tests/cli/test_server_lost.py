"""A server killed in mid-run: what was weighed is kept and written."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

from tare.dbms.servers import restart, start_postgresql
from tests.cli.running import start, wait_until_it_ran


def test_the_samples_so_far_are_kept_when_the_server_is_killed(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    with start_postgresql(tmp_path / "server") as server:
        run = start(
            "time",
            "SELECT pg_sleep(0.1)",
            "--db",
            server.url,
            "--runs",
            "500",
            "--warmup",
            "0",
            "--json",
            str(out),
        )
        wait_until_it_ran(server.url, "SELECT pg_sleep(0.1)", times=15)
        postmaster = int((server.directory / "data" / "postmaster.pid").read_text().split()[0])
        os.kill(postmaster, signal.SIGKILL)
        _, err = run.communicate(timeout=120)
    assert run.returncode == 1, err
    assert "server" in err
    result = json.loads(out.read_text())
    assert result["error"]
    (query,) = result["results"]
    assert query["outcome"] == "partial"
    assert len(query["measures"]["wall_ms"]["samples"]) >= 5


def test_a_server_that_comes_back_is_weighed_on(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    server = start_postgresql(tmp_path / "server")
    try:
        run = start(
            "time",
            "SELECT pg_sleep(0.2)",
            "--db",
            server.url,
            "--runs",
            "15",
            "--warmup",
            "0",
            "--json",
            str(out),
        )
        wait_until_it_ran(server.url, "SELECT pg_sleep(0.2)", times=3)
        restart(server.record)
        _, err = run.communicate(timeout=120)
    finally:
        server.stop()
    assert run.returncode == 0, err
    (query,) = json.loads(out.read_text())["results"]
    assert len(query["measures"]["wall_ms"]["samples"]) == 15
    assert "failed" in {qe["outcome"] for qe in query["qes"]} or len(query["qes"]) == 15
