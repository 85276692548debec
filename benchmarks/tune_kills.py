"""Kill a tuning run at random points, restore, and compare the server's settings with those before.

python -m benchmarks.tune_kills [ROUNDS]

Half of the runs switch settings of the running server; the others measure on clones of it, which must be gone, with
their processes and data.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

from tare.dbms import local
from tare.dbms.servers import RunningServer, start_mariadb, start_postgresql
from tare.errors import ConnectionFailed
from tare.tune.settings.connecting import connect

ARMS = {
    "postgresql": (("synchronous_commit=off", "commit_delay=100", "work_mem=8MB"), ("max_connections=57",)),
    "mariadb": (("innodb_flush_log_at_trx_commit=0,2", "innodb_io_capacity=777"), ("back_log=57",)),
}
"""Settings that are switched, and settings that need a restart."""
STARTS: tuple[Callable[[], RunningServer], ...] = (start_postgresql, start_mariadb)
LONGEST_S = 12.0  # beyond the start of the first windows


def main(rounds: int) -> int:
    chance = random.Random(27)
    restored = changed = 0
    with tempfile.TemporaryDirectory(prefix="tare-tune-kills-") as folder:
        environment = {**os.environ, "XDG_STATE_HOME": str(Path(folder) / "state")}
        journals = Path(folder) / "state/tare/tune"
        for at, start in enumerate(STARTS):
            with start() as server:
                load = ("bench", "oltp", "load", "ycsb", "--db", server.url, "--scale", "0.1")
                subprocess.run(_tare(*load), env=environment, check=True, stdout=subprocess.DEVNULL)
                before = _settings(server)
                for number in range(at, rounds, len(STARTS)):
                    arms = ARMS[server.record.kind][number // len(STARTS) % 2]
                    after_s = _kill(server, arms, folder, environment, chance)
                    is_changed = _settings(server) != before or _clones(server) != []
                    changed += is_changed
                    done = subprocess.run(
                        _tare("tune", "restore"), env=environment, check=False, stdout=subprocess.DEVNULL
                    )
                    is_back = (
                        done.returncode == 0
                        and _settings(server) == before
                        and not list(journals.glob("*"))
                        and not _clones(server)
                    )
                    restored += is_back
                    print(
                        f"{number + 1}: {server.record.kind}, {arms[0]}, killed after {after_s:.2f} s, "
                        f"{'changed' if is_changed else 'unchanged'}, {'restored' if is_back else 'NOT RESTORED'}",
                        flush=True,
                    )
    print(
        f"{restored} of {rounds} restored; {changed} kills met changed settings, a stopped server or clones"
    )
    return 0 if restored == rounds else 1


def _kill(
    server: RunningServer,
    arms: Sequence[str],
    folder: str,
    environment: dict[str, str],
    chance: random.Random,
) -> float:
    """Kill a tuning run after a random time, and wait until its load is gone."""
    sets = [word for arm in arms for word in ("--set", arm)]
    shape = ("--rate", "50", "--window", "1s", "--settle", "0.2s", "--warmup", "0s", "--connections", "4")
    words = ("tune", "run", "ycsb", "--db", server.url, *sets, *shape, "--tunings", f"{folder}/tunings")
    quiet = subprocess.DEVNULL
    begun = time.monotonic()
    with subprocess.Popen(_tare(*words), env=environment, stdout=quiet, stderr=quiet) as tuning:
        time.sleep(chance.uniform(0.5, LONGEST_S))
        tuning.kill()
    return time.monotonic() - begun


def _settings(server: RunningServer) -> object:
    """Values that new sessions get, and what the file of run-time changes holds; None: the server is stopped."""
    names = [arm.partition("=")[0] for arms in ARMS[server.record.kind] for arm in arms]
    try:
        with closing(connect(server.url)) as settings:
            return settings.keep(names)
    except ConnectionFailed:
        return None


def _clones(server: RunningServer) -> list[str]:
    """Folders and processes of clones."""
    folder = server.record.directory / "clones"
    commands = (local.command_line(pid) for pid in local.processes())
    return [
        *map(str, folder.glob("*")),
        *(" ".join(command) for command in commands if any(str(folder) in word for word in command)),
    ]


def _tare(*words: str) -> list[str]:
    return [sys.executable, "-m", "tare", *words]


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 100))
