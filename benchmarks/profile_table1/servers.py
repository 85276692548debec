"""MySQL 5.6.24, next to the paper's 5.6.23, and MariaDB 10.2.11, which has both orders of lock waiters.

Each is started from its package as an ordinary user, listens on a socket in a directory that only this user may
enter, and is gone with its data at the end of the block.
"""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from benchmarks.profile_table1.packages import MARIADB, MYSQL, Package
from tare.dbms.servers import owner, place, program

START_S = 60.0
STOP_S = 60.0
DATABASE = "tare"

SETTINGS = {
    "innodb-log-file-size": "256M",
    "innodb-buffer-pool-size": "1G",
    "innodb-flush-method": "O_DIRECT",
    "innodb-use-native-aio": "0",  # a file system in memory has none
    "max-connections": "400",
}
"""All else is the server's own default; above all, the log is flushed at each commit."""


@dataclass(frozen=True)
class Running:
    """A server that answers."""

    name: str  # with its version
    pid: int
    url: str


@dataclass(frozen=True)
class System:
    """A server that a package holds."""

    name: str
    version: str
    scheme: str  # of its URL
    package: Package
    program: str  # within the unpacked package
    tables: Sequence[str]  # files of SQL that make the system's tables, within its `share`
    settings: Mapping[str, str] = field(default_factory=dict)  # "{home}": the unpacked package

    @contextmanager
    def running(self, packages: Path, data: Path | None = None) -> Iterator[Running]:
        """`packages` keeps the unpacked package; the server's data lie beneath `data`, by default beneath the folder
        for temporary files. Raises SystemExit with the end of the server's log."""
        home = self.package.install(packages)
        runs_as = owner.choose("mysql")
        directory = Path(tempfile.mkdtemp(prefix="tare-table1-", dir=data))
        try:
            place.give(directory, runs_as)
            yield from self._running(home, directory, runs_as)
        finally:
            shutil.rmtree(directory, ignore_errors=True)

    def _running(self, home: Path, directory: Path, runs_as: owner.Owner) -> Iterator[Running]:
        (directory / "data").mkdir()
        place.give(directory / "data", runs_as)
        process = self._begin(home, directory, runs_as)
        put_first(process.pid)
        url = f"{self.scheme}://root@localhost/{DATABASE}?socket={quote(str(directory / 's'), safe='/')}"
        try:
            self._await(process, directory)
            yield Running(f"{self.name} {self.version}", process.pid, url)
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(STOP_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _begin(self, home: Path, directory: Path, runs_as: owner.Owner) -> subprocess.Popen[bytes]:
        """The server, with the system's tables and an empty database of ours."""
        options = {
            "basedir": home,
            "datadir": directory / "data",
            "tmpdir": directory,
            "lc-messages-dir": home / "share/english",
            "innodb-log-file-size": SETTINGS["innodb-log-file-size"],
            **{name: value.format(home=home) for name, value in self.settings.items()},
        }
        words = [
            str(home / self.program),
            "--no-defaults",
            *(f"--{name}={value}" for name, value in options.items()),
        ]
        environment = program.base_environment() | {"LD_LIBRARY_PATH": str(home)}
        log = directory / "log"
        statements = [f"CREATE DATABASE mysql;\nCREATE DATABASE {DATABASE};\nUSE mysql;\n"]
        statements += [(home / "share" / file).read_text() for file in self.tables]
        with log.open("wb") as output:
            made = subprocess.run(
                [*words, "--bootstrap"], input="".join(statements).encode(), stdout=output, stderr=output,
                cwd=directory, env=environment, check=False, **runs_as.as_user(),
            )  # fmt: skip
            if made.returncode != 0:
                raise _failed(self, log)
            words += [f"--{name}={value}" for name, value in SETTINGS.items()]
            words += [f"--socket={directory / 's'}", "--skip-networking", "--skip-grant-tables"]
            return subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=output, stderr=output, cwd=directory, env=environment,
                start_new_session=True, **runs_as.as_user(),
            )  # fmt: skip

    def _await(self, process: subprocess.Popen[bytes], directory: Path) -> None:
        deadline = time.monotonic() + START_S
        while process.poll() is None and time.monotonic() < deadline:
            with socket.socket(socket.AF_UNIX) as client, suppress(OSError):
                client.settimeout(1.0)
                client.connect(str(directory / "s"))
                if client.recv(5):
                    return
            time.sleep(0.05)
        raise _failed(self, directory / "log")


def put_first(pid: int) -> None:
    """Before other work on the machine, where the kernel schedules by session and we are root. The server and the
    driver have a session each."""
    with suppress(OSError):
        Path(f"/proc/{pid}/autogroup").write_text("-20")


def _failed(system: System, log: Path) -> SystemExit:
    end = "\n".join(program.log_end(log))
    return SystemExit(f"{system.name} {system.version} did not start (it needs libaio.so.1)\n{end}")


OLD_MYSQL = System(
    name="MySQL",
    version="5.6.24",
    scheme="mysql",
    package=MYSQL,
    program="mysqld",
    tables=("mysql_system_tables.sql", "mysql_system_tables_data.sql"),
    settings={"explicit-defaults-for-timestamp": "1", "character-sets-dir": "{home}/share/charsets"},
)

OLD_MARIADB = System(
    name="MariaDB",
    version="10.2.11",
    scheme="mariadb",
    package=MARIADB,
    program="bin/mysqld",
    tables=("mysql_system_tables.sql", "mysql_performance_tables.sql", "mysql_system_tables_data.sql"),
    settings={"innodb-lock-schedule-algorithm": "fcfs"},
)
