"""Functions that make transactions of a stock server vary: the paper's Tables 1 and 2, on today's servers.

PostgreSQL 18 (of its wheel), PostgreSQL 15 (of Debian) and MariaDB, each at its own settings, under TPC-C and pgbench,
with rows that transactions wait for each other at and without. Each is profiled by `tare profile attach` as a user
would: transactions by the preset, in the server's own time, refinement by itself, the default budget. MariaDB is also
profiled by `tare profile run`: a transaction of 200 commands leaves the kernel's probes no room in that budget.
`--markdown docs/profile-factors.md` puts the tables into that page.
"""

from __future__ import annotations

import json
import math
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.common import Figure, arguments
from benchmarks.page import publish
from benchmarks.profile_factors.tables import page
from benchmarks.profile_factors.works import MARIADB, NAMES, WORKS, Work
from tare.dbms.servers import RunningServer, start_mariadb, start_postgresql

FLUSHING = {"XLogFlush", "XLogWrite", "LWLockAcquireOrWait", "issue_xlog_fsync"}
"""Functions of a committer until its log is on disk: it writes the log, or waits for another that does."""

LOCKING = {"ProcSleep", "LockAcquireExtended", "XactLockTableWait", "heap_lock_tuple", "LockTuple"}
"""Functions of a transaction that waits for a row that another one has locked."""

BY_AGENT = f"{MARIADB}, by the agent"


@dataclass(frozen=True)
class Done:
    dbms: str
    work: Work
    told: dict[str, Any]  # as schemas/profile-v1.json describes it, in the server's own time
    client: float  # Cov(waiting for the client, T) / Var(T), T the whole duration

    @property
    def first(self) -> dict[str, Any] | None:
        return next(iter(self.told["factors"]), None)

    def first_is_within(self, names: set[str]) -> bool:
        """Whether the first factor is one of these functions or beneath one, on its path that varies most; or is called
        in one, where the function itself was not watched."""
        if self.first is None:
            return False
        nodes = self.told["nodes"]
        same = [one for one in nodes if one["name"] in self.first["names"] and one["variance"]]
        node = max(same, key=lambda one: one["variance"]["value"], default=None)
        while node is not None and names.isdisjoint((node["name"], called_in(node))):
            node = None if node["parent"] is None else nodes[node["parent"]]
        return node is not None


def called_in(node: dict[str, Any]) -> str:
    """The function with the call site that varies most."""
    site = max(node["sites"], key=lambda one: one["variance"], default=None)
    return site["caller"].partition("+")[0] if site else ""


def start(name: str, directory: Path) -> RunningServer:
    if name == MARIADB:
        return start_mariadb(directory)
    return start_postgresql(directory, version=name.rpartition(" ")[2])


def measure(names: Sequence[str], works: Sequence[Work], seconds: int, kept: Path) -> Iterator[Done]:
    kept.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="tare-factors-") as name:
        folder = Path(name)
        folder.chmod(0o755)  # root's servers run as an ordinary user
        for dbms in names:
            for work in filter(lambda one: one.fits(dbms), works):
                with start(dbms, folder / dbms.replace(" ", "-")) as server:
                    work.prepare(server)
                    with work.running(server, 2 * seconds + 60):
                        yield Done(dbms, work, *attached(server.url, seconds, kept))
                    if dbms == MARIADB:
                        yield Done(BY_AGENT, work, *by_agent(server, work, seconds, kept))


def attached(url: str, seconds: int, kept: Path) -> tuple[dict[str, Any], float]:
    """In the server's own time; and what waiting for the client has of the whole durations' variance."""
    return profiled("attach", "--db", url, seconds=seconds, kept=kept)


def by_agent(server: RunningServer, work: Work, seconds: int, kept: Path) -> tuple[dict[str, Any], float]:
    """The same, with the server started anew by `tare profile run`: probes that are cheap enough for its commands."""
    server.stop()
    sends = [sys.executable, "-m", "tare", "bench", "oltp", "run", "tpcc", "--db", server.url]
    sends += ["--scale", f"{work.scale}", "--connections", f"{work.connections}"]
    sends += ["--duration", "600s", "--lab", str(kept / "load.db")]
    configuration = server.directory / "my.cnf"
    command = ("--", str(server.record.binaries / "mariadbd"), f"--defaults-file={configuration}")
    owner = ("--user", server.directory.owner())
    return profiled("run", *owner, "--load", shlex.join(sends), seconds=seconds, kept=kept, command=command)


def profiled(
    way: str, *words: str, seconds: int, kept: Path, command: Sequence[str] = ()
) -> tuple[dict[str, Any], float]:
    name = f"factors-{len(list(kept.glob('factors-*')))}"
    options = ("--duration", f"{seconds}s", "--server-time", "--name", name)
    told = tare(way, *words, *options, kept=kept, command=command)
    whole = tare("show", name, "--whole-time", kept=kept)
    return told, float(whole["waiting"])


def tare(way: str, *words: str, kept: Path, command: Sequence[str] = ()) -> dict[str, Any]:
    """Return the JSON of `tare profile`."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "profile.json"
        called = ["profile", way, *words, "--profiles", str(kept), "--json", str(file), *command]
        done = subprocess.run(
            [sys.executable, "-m", "tare", *called], stdout=subprocess.PIPE, text=True, check=False
        )
        if not file.exists():
            raise SystemExit(f"tare profile {way} ended with {done.returncode}\n{done.stdout}")
        found: dict[str, Any] = json.loads(file.read_text())
        return found


def figures(every: Sequence[Done]) -> Iterator[Figure]:
    for one in every:
        first = one.first
        share = 100 * first["share"]["value"] if first and first["share"] else 0.0
        yield Figure(
            f"{one.dbms}, {one.work.name}: share of the server's top factor", share, "%", math.inf,
            spread=f"{', '.join(first['names'])} ({first['kind']})" if first else "none",
        )  # fmt: skip
    for contended, names, what in ((False, FLUSHING, "log flushing"), (True, LOCKING, "lock waiting")):
        some = [one for one in every if one.work.contended == contended and one.dbms.startswith("PostgreSQL")]
        if some:
            met = sum(one.first_is_within(names) for one in some)
            yield Figure(
                f"PostgreSQL, rows {'contended' if contended else 'not contended'}: {what} is the server's top factor",
                met, f"of {len(some)}", len(some), at_most=False,
            )  # fmt: skip
    spoilt = [100 * sum(one.told["invalid"].values()) / max(1, one.told["transactions"]) for one in every]
    yield Figure("transactions that do not count, most of a profile", max(spoilt), "%", math.inf)


def main() -> None:
    asked = arguments(__doc__ or "", files=("markdown", "profiles"), seconds=60, dbms="")
    if os.geteuid() != 0:
        raise SystemExit("attaching needs root: sudo -E python -m benchmarks.profile_factors")
    names: Sequence[str] = [name for name in NAMES if asked.dbms in name]
    works: Sequence[Work] = WORKS
    seconds = asked.seconds
    load_before = os.getloadavg()[0]
    with ExitStack() as stack:
        kept = asked.profiles or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        if asked.small:
            names, works, seconds = NAMES[:1], (Work("pgbench, scale 1", False, 1, 4, "simple-update"),), 5
        every = list(measure(names, works, seconds, kept))
    made = page([(one.dbms, one.work, one.told, one.client) for one in every], seconds, load_before)
    publish(asked, made, list(figures(every)))


if __name__ == "__main__":
    main()
