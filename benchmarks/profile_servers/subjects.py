"""Servers and programs to be watched, each with a load, clients that fail, and a check of its data at the end."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.oltp_common import closed, conditions, load, request
from benchmarks.profile_servers.trouble import (
    MariaDBTrouble,
    MySQLTrouble,
    PostgreSQLTrouble,
    Trouble,
    limited_memory,
)
from tare.dbms.servers import RunningServer, start_mariadb, start_mysql, start_postgresql
from tare.errors import TareError
from tare.workload.oltp.child import Driver
from tare.workload.oltp.samples import ENDS, RECORD
from tare.workload.oltp.told import Outcome, Started

Ends = npt.NDArray[np.int64]
"""Instants at which transactions of the load ended, ns of CLOCK_MONOTONIC, in order."""

WAREHOUSES = 1
CONNECTIONS = 4
LONGEST_S = 600
STARTS_WITHIN_S = 60.0
STOPS_WITHIN_S = 30.0
DONE = (ENDS.index("committed"), ENDS.index("rolled_back"))
USER = "nobody"


class Missing(Exception):
    """A program that a subject needs is not installed here."""


class TpccLoad:
    """TPC-C in a closed loop, until it is stopped."""

    def __init__(self, url: str, folder: Path) -> None:
        self._samples = folder / "samples"
        run = closed(CONNECTIONS, LONGEST_S, 0.0, self._samples)
        self._driver = Driver(request(url, run))
        self._started = threading.Event()
        self._thread = threading.Thread(target=self._hear)
        self.outcome: Outcome | None = None
        self.failure = ""

    def start(self) -> TpccLoad:
        self._stack = ExitStack()
        self._stack.enter_context(self._driver)
        self._thread.start()
        if not self._started.wait(STARTS_WITHIN_S):
            raise SystemExit("the load did not start")
        return self

    def stop(self) -> None:
        self._driver.stop()
        self._thread.join()
        self._stack.close()

    def ends(self) -> Ends:
        """Ends of the transactions that ended as their specification has it. For use after `stop`."""
        records = np.fromfile(self._samples, dtype=RECORD)
        return np.sort(records["ended"][np.isin(records["end"], DONE)])

    def _hear(self) -> None:
        try:
            for event in self._driver.told():
                if isinstance(event, Started):
                    self._started.set()
                elif isinstance(event, Outcome):
                    self.outcome = event
        except TareError as error:
            self.failure = str(error)
        self._started.set()


class Subject(ABC):
    """Runs within its block. `begin` starts the load and the failing clients, `end` stops them."""

    name: str

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.surprises: list[str] = []
        self.counts: Mapping[str, int] = {}

    @abstractmethod
    def start(self) -> None:
        """Raises Missing."""

    @abstractmethod
    def begin(self) -> None: ...
    def give_up(self) -> None:  # noqa: B027
        """Ends what `begin` started, though nobody asks for its figures. Safe to repeat."""

    @abstractmethod
    def end(self) -> Ends: ...
    @abstractmethod
    def stop(self) -> None: ...

    @property
    @abstractmethod
    def pid(self) -> int: ...

    @property
    @abstractmethod
    def words(self) -> Sequence[str]:
        """Arguments of `tare profile attach`: which process, and what a transaction is."""

    @property
    @abstractmethod
    def log(self) -> Path: ...

    @abstractmethod
    def wrong(self) -> list[str]:
        """Facts that the data contradict. After `end`."""

    @property
    def is_alive(self) -> bool:
        return Path(f"/proc/{self.pid}").exists()


class Served(Subject):
    """A server under TPC-C."""

    def __init__(
        self, name: str, start: Callable[[Path], RunningServer], trouble: type[Trouble], folder: Path
    ) -> None:
        super().__init__(folder)
        self.name = name
        self._start = start
        self._trouble_type = trouble
        self._trouble: Trouble | None = None

    def start(self) -> None:
        try:
            with limited_memory() if self._trouble_type is PostgreSQLTrouble else ExitStack():
                self.server = self._start(self.folder / "server")
        except TareError as error:
            raise Missing(str(error)) from None
        load(self.server.url, WAREHOUSES)

    def begin(self) -> None:
        self._trouble = self._trouble_type(self.server.url)
        self._trouble.__enter__()
        self._load = TpccLoad(self.server.url, self.folder).start()

    def give_up(self) -> None:
        if self._trouble is not None:
            self._trouble.stop()

    def end(self) -> Ends:
        assert self._trouble is not None
        self._trouble.stop()
        self._load.stop()
        self.surprises += self._trouble.surprises
        if self._load.failure:
            self.surprises.append(f"the load ended: {self._load.failure}")
        self.counts = self._trouble.counts
        return self._load.ends()

    def wrong(self) -> list[str]:
        failing = [f"condition {one.name} fails: {one.says}" for one in conditions(self.server.url).failing]
        return [*failing, *(self._trouble.wrong() if self._trouble else ())]

    def stop(self) -> None:
        self.server.stop()

    @property
    def pid(self) -> int:
        return self.server.pid

    @property
    def words(self) -> Sequence[str]:
        return ("--db", self.server.url)

    @property
    def log(self) -> Path:
        return self.server.record.log


class Program(Subject):
    """A program with an engine in its process, or a virtual machine. It has its own load and failing threads."""

    def __init__(self, name: str, txn: str, folder: Path) -> None:
        super().__init__(folder)
        self.name = name
        self._txn = txn
        self._ends = folder / "ends"

    def command(self) -> Sequence[str]:
        """Raises Missing."""
        module = f"benchmarks.profile_servers.programs.{self.name.lower()}_program"
        return (sys.executable, "-m", module, str(self._ends))

    def options(self) -> Mapping[str, Any]:
        """Arguments of `subprocess`."""
        return {}

    def start(self) -> None:
        command, options = self.command(), self.options()
        self._out = (self.folder / "out").open("wb")
        self._err = (self.folder / "err").open("wb")
        self._process = subprocess.Popen(command, stdout=self._out, stderr=self._err, **options)
        until = time.monotonic() + STARTS_WITHIN_S
        while not self._ends.exists() or not self._ends.stat().st_size:
            if self._process.poll() is not None or time.monotonic() > until:
                raise SystemExit(f"{self.name} did not start: {self._err_text[-2000:]}")
            time.sleep(0.05)

    def begin(self) -> None:
        """It works from its start."""

    def end(self) -> Ends:
        self._process.terminate()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(STOPS_WITHIN_S)
        return np.sort(np.fromfile(self._ends, dtype=np.int64))

    def wrong(self) -> list[str]:
        code = self._process.poll()
        if code is None:
            return ["it does not end on SIGTERM"]
        lines = (self.folder / "out").read_text().splitlines()
        if not lines or not lines[-1].startswith("{"):
            return [f"it wrote no result, exit code {code}: {self._err_text[-500:]}"]
        result = json.loads(lines[-1])
        self.surprises += result["surprises"]
        self.counts = {name: count for name, count in result["counts"].items() if name != "committed"}
        return list(result["wrong"])

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()
        self._out.close()
        self._err.close()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def words(self) -> Sequence[str]:
        return ("--pid", str(self.pid), "--txn", self._txn)

    @property
    def log(self) -> Path:
        return self.folder / "err"

    @property
    def _err_text(self) -> str:
        return (self.folder / "err").read_text()

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None


class Jvm(Program):
    """A transaction is the making of an exception's stack trace, deep in the virtual machine."""

    HEAP = "-Xmx64m"
    SOURCE = Path(__file__).parent / "programs" / "Server.java"

    def __init__(self, folder: Path) -> None:
        super().__init__("JVM", "function:JVM_FillInStackTrace@libjvm.so", folder)

    def command(self) -> Sequence[str]:
        java, compiler = shutil.which("java"), shutil.which("javac")
        if java is None or compiler is None:
            raise Missing("java and javac are not installed: apt install default-jdk-headless")
        subprocess.run([compiler, "-d", str(self.folder), str(self.SOURCE)], check=True)
        return (
            java,
            self.HEAP,
            "-cp",
            str(self.folder),
            "Server",
            str(self._ends),
            str(self.folder / "ledger"),
        )

    def options(self) -> Mapping[str, Any]:
        shutil.chown(self.folder, USER)
        return {"user": USER, "cwd": self.folder}

    def wrong(self) -> list[str]:
        crashed = [f"the virtual machine wrote {file.name}" for file in self.folder.glob("hs_err*")]
        return [*crashed, *super().wrong()]


class Daemon(Program):
    """A server that is no DBMS of Tare's, and a program of clients."""

    SERVER: str
    PACKAGE: str

    @abstractmethod
    def server_command(self, server: str) -> Sequence[str]: ...

    @property
    def socket(self) -> Path:
        return self.folder / "socket"

    def start(self) -> None:
        server = shutil.which(self.SERVER, path="/usr/bin:/usr/sbin")
        if server is None:
            raise Missing(f"{self.SERVER} is not installed: apt install {self.PACKAGE}")
        shutil.chown(self.folder, USER)
        self.log.touch()
        shutil.chown(self.log, USER)
        with self.log.open("wb") as log:
            self._server = subprocess.Popen(
                self.server_command(server), stdout=log, stderr=log, cwd=self.folder, user=USER
            )
        until = time.monotonic() + STARTS_WITHIN_S
        while not self.socket.exists():
            if self._server.poll() is not None or time.monotonic() > until:
                raise SystemExit(f"{self.name} did not start: {self.log.read_text()[-2000:]}")
            time.sleep(0.05)
        super().start()

    def stop(self) -> None:
        super().stop()
        self._server.terminate()
        try:
            self._server.wait(STOPS_WITHIN_S)
        except subprocess.TimeoutExpired:
            self._server.kill()
            self._server.wait()

    @property
    def pid(self) -> int:
        return self._server.pid

    @property
    def log(self) -> Path:
        return self.folder / "log"

    @property
    def is_alive(self) -> bool:
        return self._server.poll() is None


class Redis(Daemon):
    """A transaction is the execution of a command."""

    SERVER = PACKAGE = "redis-server"

    def __init__(self, folder: Path) -> None:
        super().__init__("Redis", "function:call", folder)

    def server_command(self, server: str) -> Sequence[str]:
        address = ("--port", "0", "--unixsocket", str(self.socket))
        return (server, *address, "--dir", str(self.folder), "--save", "", "--appendonly", "yes")

    def command(self) -> Sequence[str]:
        module = "benchmarks.profile_servers.programs.redis_load"
        return (sys.executable, "-m", module, str(self._ends), str(self.socket))


class Nginx(Daemon):
    """A transaction is a request of a small file."""

    SERVER, PACKAGE = "nginx", "nginx-light"
    CONFIGURATION = """
worker_processes 2;
pid {folder}/nginx.pid;
error_log {folder}/log;
events {{ worker_connections 64; }}
http {{
    access_log off;
    keepalive_requests 100000;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    server {{ listen unix:{folder}/socket; root {folder}/files; }}
}}
"""

    def __init__(self, folder: Path) -> None:
        super().__init__("nginx", "function:ngx_http_process_request", folder)
        self._files = folder / "files"

    def server_command(self, server: str) -> Sequence[str]:
        self._files.mkdir()
        shutil.chown(self._files, USER)
        configuration = self.folder / "nginx.conf"
        configuration.write_text(self.CONFIGURATION.format(folder=self.folder))
        return (server, "-c", str(configuration), "-e", str(self.log), "-g", "daemon off;")

    def command(self) -> Sequence[str]:
        module = "benchmarks.profile_servers.programs.nginx_load"
        words = (str(self._ends), str(self.socket), str(self._files), str(self.pid))
        return (sys.executable, "-m", module, *words)


def postgresql(version: str, folder: Path) -> Subject:
    def start(directory: Path) -> RunningServer:
        return start_postgresql(directory, version=version)

    return Served(f"PostgreSQL {version}", start, PostgreSQLTrouble, folder)


SUBJECTS: Mapping[str, Callable[[Path], Subject]] = {
    "postgresql-18": lambda folder: postgresql("18", folder),
    "postgresql-15": lambda folder: postgresql("15", folder),
    "mariadb": lambda folder: Served("MariaDB", start_mariadb, MariaDBTrouble, folder),
    "mysql": lambda folder: Served("MySQL 5.6.24", start_mysql, MySQLTrouble, folder),
    "duckdb": lambda folder: Program("DuckDB", "statement", folder),
    "sqlite": lambda folder: Program("SQLite", "statement", folder),
    "jvm": Jvm,
    "redis": Redis,
    "nginx": Nginx,
}


def new_folder() -> tempfile.TemporaryDirectory[str]:
    """A temporary folder that servers of an ordinary user may enter."""
    folder = tempfile.TemporaryDirectory(prefix="tare-servers-")
    Path(folder.name).chmod(0o755)
    return folder
