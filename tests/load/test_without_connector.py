"""The load driver speaks to MariaDB itself: a run needs no connector of Python's."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tare.dbms.servers import RunningServer
from tare.lab import oltp as runs
from tare.lab.store import open_lab
from tests.servers import own_server


def oltp(server: RunningServer, missing: Path, *words: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join(filter(None, (str(missing), os.environ.get("PYTHONPATH"))))
    command = [sys.executable, "-m", "tare", "bench", "oltp", *words, "--db", server.url]
    return subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True)


def test_mariadb_is_loaded_and_run_on_where_the_connector_is_not_installed(tmp_path: Path) -> None:
    missing, lab = tmp_path / "missing", str(tmp_path / "lab.db")
    missing.mkdir()
    (missing / "mariadb.py").write_text("raise ImportError('planned: not installed')")
    with own_server("mariadb") as server:
        loaded = oltp(server, missing, "load", "tatp", "--scale", "0.001", "--lab", lab)
        assert loaded.returncode == 0, loaded.stderr
        usual = ("--rate", "20", "--duration", "2s", "--warmup", "0", "--connections", "2", "--lab", lab)
        done = oltp(server, missing, "run", "tatp", *usual)
        assert "not measured: statistics: " in " ".join(done.stdout.split()), done.stderr
    with open_lab(lab) as opened:
        run = runs.load(opened, 1)
    assert run.server.dbms == "mariadb"
    assert run.server.version
    assert run.outcome.all.counts.finished > 30
