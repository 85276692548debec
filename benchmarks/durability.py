"""Commits that a crash loses under each value of the table of durability (`tare tune`), against the table's word.

Clients insert rows, one commit each, into a throw-away server whose files lie on an ext4 of its own. Then it crashes:

    process   all processes of the server are killed at once
    machine   they are frozen, and the disk is copied as it is, without what the page cache still holds: what a power
              failure leaves on a device that keeps every sector it was given

Needs root, to mount that file system. The server starts on what is left, and each acknowledged commit is looked for.
ext4 itself commits every 300 s here, so that only what the server forces to the disk is there. Torn pages are not made:
`full_page_writes` and `innodb_doublewrite` guard against those, and are not judged.
"""

from __future__ import annotations

import math
import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from benchmarks.common import Figure, arguments, report
from tare.dbms import local
from tare.dbms.base import Session
from tare.dbms.registry import find
from tare.dbms.servers import RunningServer, start_mariadb, start_mysql, start_postgresql
from tare.errors import TareError
from tare.tune.durability import losses

CLIENTS = 8
LOAD_S = 2.0
DISK_MB = 1500
START_S = 30.0

ARMS: tuple[tuple[str, Mapping[str, str]], ...] = (
    ("postgresql", {}),
    ("postgresql", {"commit_delay": "1000"}),
    ("postgresql", {"wal_sync_method": "open_datasync"}),
    ("postgresql", {"synchronous_commit": "local"}),
    ("postgresql", {"synchronous_commit": "off"}),
    ("postgresql", {"fsync": "off"}),
    ("mariadb", {}),
    ("mariadb", {"innodb_flush_log_at_trx_commit": "3"}),
    ("mariadb", {"innodb_flush_log_at_trx_commit": "2"}),
    ("mariadb", {"innodb_flush_log_at_trx_commit": "0"}),
    ("mariadb", {"innodb_flush_method": "fsync"}),
    ("mariadb", {"innodb_flush_method": "littlesync"}),
    ("mariadb", {"innodb_flush_method": "nosync"}),
    ("mysql", {}),
    ("mysql", {"innodb_flush_log_at_trx_commit": "2"}),
    ("mysql", {"innodb_flush_log_at_trx_commit": "0"}),
)
STARTS: dict[str, Callable[..., RunningServer]] = {
    "postgresql": start_postgresql,
    "mariadb": start_mariadb,
    "mysql": start_mysql,
}


@dataclass(frozen=True)
class Crash:
    """A crash. `lost`: acknowledged commits that are not there afterwards; None: the server did not start."""

    dbms: str
    settings: dict[str, str]
    kind: str
    acknowledged: int
    lost: int | None
    span_ms: float | None  # from the first lost acknowledgement to the crash


class Disk:
    """An ext4 on a file in memory."""

    def __init__(self, folder: Path) -> None:
        self._memory = folder / "memory"
        self._place = folder / "data"
        self._memory.mkdir()
        self._place.mkdir()
        _run("mount", "-t", "tmpfs", "-o", f"size={3 * DISK_MB}m", "tmpfs", str(self._memory))
        self._image = self._memory / "image"

    @property
    def data(self) -> Path:
        return self._place / "server"

    def make(self) -> None:
        with self._image.open("wb") as image:
            image.truncate(DISK_MB << 20)
        _run("mkfs.ext4", "-q", "-F", "-m", "0", str(self._image))
        self._mount(self._image)

    def copied(self) -> Path:
        """A copy of the disk as it is; the file system is still mounted."""
        copied = self._memory / "copy"
        _run("cp", "--sparse=always", str(self._image), str(copied))
        return copied

    def replace(self, image: Path) -> None:
        """Mount the image in the place of the disk."""
        _run("umount", str(self._place))
        image.replace(self._image)
        self._mount(self._image)

    def remove(self) -> None:
        if self._place.is_mount():
            _run("umount", str(self._place))

    def close(self) -> None:
        self.remove()
        _run("umount", str(self._memory))

    def _mount(self, image: Path) -> None:
        _run("mount", "-o", "loop,noatime,commit=300", str(image), str(self._place))
        self._place.chmod(0o755)


class Clients:
    """Sessions that insert rows and note when each commit was acknowledged."""

    def __init__(self, url: str) -> None:
        self.acknowledged: dict[int, float] = {}
        self._is_over = threading.Event()
        sessions = [find(url).connect(url, allow_writes=True) for _ in range(CLIENTS)]
        self._threads = [
            threading.Thread(target=self._insert, args=(session, number), daemon=True)
            for number, session in enumerate(sessions)
        ]
        for thread in self._threads:
            thread.start()

    def _insert(self, session: Session, first: int) -> None:
        number = first
        with suppress(TareError, OSError):  # the server is gone
            while not self._is_over.is_set():
                session.run(f"INSERT INTO kept VALUES ({number})")
                self.acknowledged[number] = time.monotonic()
                number += CLIENTS

    def end(self) -> None:
        self._is_over.set()
        for thread in self._threads:
            thread.join(timeout=10)


def crash(disk: Disk, dbms: str, settings: dict[str, str], kind: str) -> Crash:
    disk.make()
    try:
        server = STARTS[dbms](disk.data, settings=settings)
        with closing(find(server.url).connect(server.url, allow_writes=True)) as session:
            session.run("CREATE TABLE kept (id integer PRIMARY KEY)")
        _run("sync", "--file-system", str(disk.data))
        clients = Clients(server.url)
        time.sleep(LOAD_S)
        pids = [server.pid, *local.twins_beneath(server.pid)]
        acknowledged = dict(clients.acknowledged)
        crashed_s = time.monotonic()
        _signal(pids, signal.SIGKILL if kind == "process" else signal.SIGSTOP)
        image = disk.copied() if kind == "machine" else None
        _signal(pids, signal.SIGKILL)
        clients.end()
        _await_end(pids)
        if image is not None:
            disk.replace(image)
        return _count(disk, dbms, settings, kind, acknowledged, crashed_s)
    finally:
        disk.remove()


def _count(
    disk: Disk,
    dbms: str,
    settings: dict[str, str],
    kind: str,
    acknowledged: dict[int, float],
    crashed_s: float,
) -> Crash:
    """Start the server again and look for each acknowledged commit."""
    try:
        server = STARTS[dbms](disk.data)
    except TareError:
        return Crash(dbms, settings, kind, len(acknowledged), None, None)
    try:
        with closing(find(server.url).connect(server.url, allow_writes=True)) as session:
            there = {int(str(row[0])) for row in session.rows("SELECT id FROM kept")}
    except TareError:
        return Crash(dbms, settings, kind, len(acknowledged), None, None)
    finally:
        _signal([server.pid, *local.twins_beneath(server.pid)], signal.SIGKILL)
        _await_end([server.pid])
    lost = [at for number, at in acknowledged.items() if number not in there]
    span_ms = (crashed_s - min(lost)) * 1e3 if lost else None
    return Crash(dbms, settings, kind, len(acknowledged), len(lost), span_ms)


def _signal(pids: list[int], number: signal.Signals) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def _await_end(pids: list[int]) -> None:
    until = time.monotonic() + START_S
    while any(local.command_line(pid) for pid in pids) and time.monotonic() < until:
        time.sleep(0.02)


def _run(*command: str) -> None:
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


@contextmanager
def _disk() -> Iterator[Disk]:
    with tempfile.TemporaryDirectory(prefix="tare-durability-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        disk = Disk(folder)
        try:
            yield disk
        finally:
            disk.close()


@dataclass(frozen=True)
class Trial:
    """Crashes of one kind under one setting."""

    crashes: list[Crash]
    may_lose: bool  # by the table

    @property
    def loses(self) -> bool:
        return any(each.lost is None or each.lost for each in self.crashes)

    def __str__(self) -> str:
        first = self.crashes[0]
        name = ", ".join(f"{name}={value}" for name, value in first.settings.items()) or "defaults"
        losing = [each for each in self.crashes if each.lost]
        gone = sum(each.lost is None for each in self.crashes)
        span_ms = max((each.span_ms or 0.0 for each in losing), default=0.0)
        return (
            f"{first.dbms:<11}{name:<36}{first.kind:<9}table: {'may lose' if self.may_lose else 'keeps':<9}"
            f"lost in {len(losing)} of {len(self.crashes)}, most {max((each.lost or 0 for each in losing), default=0)} "
            f"of {max(each.acknowledged for each in self.crashes)} commits"
            + (f", the last {span_ms:.0f} ms" if losing else "")
            + (f"; {gone} did not start" if gone else "")
        )


def trial(disk: Disk, dbms: str, settings: dict[str, str], kind: str, crashes: int) -> Trial:
    may_lose = any(kind in loss.what.split(":")[0] for loss in losses(settings))
    return Trial([crash(disk, dbms, settings, kind) for _ in range(crashes)], may_lose)


def main() -> None:
    asked = arguments(__doc__ or "", crashes=10)
    arms, crashes = (ARMS[4:5], 1) if asked.small else (ARMS, asked.crashes)
    found = []
    with _disk() as disk:
        for dbms, settings in arms:
            for kind in ("process", "machine"):
                found.append(trial(disk, dbms, dict(settings), kind, crashes))
                print(found[-1], flush=True)
    wrong = sum(one.loses and not one.may_lose for one in found)
    unseen = sum(one.may_lose and not one.loses for one in found)
    report(
        [
            Figure(
                "values that lost commits which the table says they keep",
                wrong,
                "",
                0,
                spread=f"of {len(found)}",
            ),
            Figure("values that may lose commits and lost none here", unseen, "", math.inf),
        ],
        asked.json,
    )


if __name__ == "__main__":
    main()
