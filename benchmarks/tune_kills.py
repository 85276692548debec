"""Kills tuning runs at random points, and compares the server's settings with those before.

A run that has changed a setting leaves it changed; `tare tune restore` has to put each back, and the journal has to go.

    python -m benchmarks.tune_kills
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path

from benchmarks.common import Figure, arguments, report
from tare.dbms.servers import RunningServer, start_mariadb, start_postgresql
from tare.tune.settings.connecting import connect

ARMS = {
    "postgresql": ("synchronous_commit=off", "commit_delay=100", "work_mem=8MB"),
    "mariadb": ("innodb_flush_log_at_trx_commit=0,2", "innodb_io_capacity=777"),
}
SHAPE = ("--rate", "50", "--window", "1s", "--settle", "0.2s", "--warmup", "0s", "--connections", "4")
STARTS: tuple[Callable[[], RunningServer], ...] = (start_postgresql, start_mariadb)
KILLED_S = (0.3, 8.0)  # after the start of the command; windows begin after some 2 s


def main() -> int:
    asked = arguments(__doc__ or "", kills=100)
    kills = 2 if asked.small else asked.kills
    chance = random.Random(27)
    restored = changed = 0
    with tempfile.TemporaryDirectory(prefix="tare-tune-kills-") as folder:
        environment = {**os.environ, "XDG_STATE_HOME": f"{folder}/state"}
        for start in STARTS:
            with start() as server:
                load = ("bench", "oltp", "load", "ycsb", "--db", server.url, "--scale", "0.1")
                _tare(load, environment, check=True)
                before = _settings(server)
                for _ in range(kills // len(STARTS)):
                    _kill(server, folder, environment, chance.uniform(*KILLED_S))
                    changed += _settings(server) != before
                    done = _tare(("tune", "restore"), environment)
                    journals = list(Path(folder).glob("state/tare/tune/*"))
                    restored += done == 0 and _settings(server) == before and not journals
    figures = [
        Figure(
            "settings put back after kill -9",
            restored,
            "runs",
            len(STARTS) * (kills // len(STARTS)),
            at_most=False,
            spread=f"{changed} had left a setting changed",
        )
    ]
    report(figures, asked.json)
    return int(not all(figure.met for figure in figures))


def _kill(server: RunningServer, folder: str, environment: Mapping[str, str], after_s: float) -> None:
    """Kill a tuning run after a time. Its load ends with it."""
    sets = [word for arm in ARMS[server.record.kind] for word in ("--set", arm)]
    words = ("tune", "run", "ycsb", "--db", server.url, *sets, *SHAPE, "--tunings", f"{folder}/tunings")
    # The driver of the run before may still be connected: it ends when it sees that its parent has.
    command = [sys.executable, "-m", "tare", *words, "--allow-clients"]
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, env=environment, stdout=quiet, stderr=quiet) as tuning:
        time.sleep(after_s)
        tuning.kill()


def _settings(server: RunningServer) -> object:
    """Values that new sessions get, and what the file of run-time changes holds."""
    names = [arm.partition("=")[0] for arm in ARMS[server.record.kind]]
    with closing(connect(server.url)) as settings:
        return settings.keep(names)


def _tare(words: tuple[str, ...], environment: Mapping[str, str], *, check: bool = False) -> int:
    command = [sys.executable, "-m", "tare", *words]
    quiet = subprocess.DEVNULL
    return subprocess.run(
        command, env=environment, check=check, stdout=quiet, stderr=quiet, timeout=120
    ).returncode


if __name__ == "__main__":
    sys.exit(main())
