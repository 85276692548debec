"""PostgreSQL as a cluster: a coordinator that reaches its shards by postgres_fdw. Shards do not know each other."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from tare.cluster import link
from tare.cluster.record import SHARD, Cluster, Node
from tare.dbms import local
from tare.dbms.servers import binaries, owner, program, reach
from tare.dbms.servers.binaries import Install
from tare.errors import MissingProgram, ServerFailed, UsageError
from tare.parallel import in_threads

if TYPE_CHECKING:
    from tare.cluster.engine import Report
    from tare.cluster.helpers import Helpers

PORT = 5432
USER = DATABASE = "postgres"
START_S = 60.0
_WRAPPER = "postgres_fdw.so"
_LIBRARIES = ("lib", "lib/postgresql", "lib64/pgsql")
_WAL_SHARE = 8  # of a disk
_WAL_MOST = 1024  # MB, PostgreSQL's default
_WAL_LEAST = 64
_PAUSE_S = 0.02

_ROLES = {
    "io worker": "I/O worker",
    "checkpointer": "checkpointer",
    "background writer": "background writer",
    "walwriter": "WAL writer",
    "autovacuum": "autovacuum",
    "parallel worker": "parallel worker",
    "logical replication": "replication",
    "startup": "recovery",
    "stats collector": "statistics",
}


class PostgreSQL:
    """Engine of PostgreSQL."""

    def owner(self) -> owner.Owner:
        return owner.choose("postgres")

    def programs(self, version: str | None) -> tuple[Install, Install]:
        """Return the programs of the coordinator and of the shards: only the first need postgres_fdw."""
        shards = _fitting(version)
        able = sorted((one for one in binaries.installed() if _has_wrapper(one)), key=lambda one: one.major)
        if not able:
            raise MissingProgram(
                "no PostgreSQL here has the extension postgres_fdw, which the coordinator needs",
                "install the system's postgresql package with its contrib modules",
            )
        same = [one for one in able if one.version == shards.version]
        return _reached(same[-1] if same else able[-1]), _reached(shards)

    def lay_out(self, helpers: Helpers) -> None:
        in_threads(lambda node: self._lay_out(node, helpers), helpers.cluster.nodes)

    def _lay_out(self, node: Node, helpers: Helpers) -> None:
        runs_as = self.owner()
        for folder in (node.sockets, node.log.parent):
            folder.mkdir(mode=0o700)
            if runs_as.switch:
                os.chown(folder, runs_as.uid, runs_as.gid)
        helpers.run(
            [
                node.binaries / "initdb",
                *("-D", node.data, "-U", USER, "-E", "UTF8", "--locale=C", "--no-sync"),
                *("--auth-local=trust", "--auth-host=reject"),
            ],
            what=f"initdb of node {node.name} failed",
            node=node,
            owner=runs_as,
        )
        with (node.data / "postgresql.conf").open("a") as file:
            settings = {**_ours(node, helpers.cluster), **helpers.cluster.settings}
            file.writelines(
                f"\n{name} = '{value.replace(chr(39), chr(39) * 2)}'" for name, value in settings.items()
            )
            file.write("\n")
        access = node.data / "pg_hba.conf"
        entry = f"host all all {link.network(helpers.cluster.index)} trust\n"
        access.write_text(entry + access.read_text())  # the first entry that fits decides

    def start(self, helpers: Helpers) -> None:
        nodes = helpers.cluster.nodes
        servers = [
            helpers.serve([node.binaries / "postgres", "-D", node.data], node, self.owner()) for node in nodes
        ]
        for server, node in zip(servers, nodes, strict=True):
            self._await(server, node)
        self._introduce(helpers.cluster)

    def _await(self, server: subprocess.Popen[bytes], node: Node) -> None:
        until = time.monotonic() + START_S
        while not self.is_ready(node):
            if server.poll() is not None or time.monotonic() > until:
                raise program.failed(
                    f"PostgreSQL {node.version} of node {node.name} did not start", "", node.log
                )
            time.sleep(_PAUSE_S)

    def _introduce(self, cluster: Cluster) -> None:
        with self.connect(cluster.coordinator) as connection:
            connection.execute("CREATE EXTENSION postgres_fdw")
            for shard in cluster.shards:
                options = {
                    "host": shard.address,
                    "port": str(PORT),
                    "dbname": DATABASE,
                    "async_capable": "true",
                    "use_remote_estimate": "true",
                    "fetch_size": "10000",
                }
                listed = ", ".join(f"{name} '{value}'" for name, value in options.items())
                connection.execute(
                    f"CREATE SERVER {shard.name} FOREIGN DATA WRAPPER postgres_fdw OPTIONS ({listed})"
                )
                connection.execute(
                    f"CREATE USER MAPPING FOR {USER} SERVER {shard.name} OPTIONS (user '{USER}')"
                )

    def is_ready(self, node: Node) -> bool:
        import psycopg

        with suppress(psycopg.Error, OSError), self.connect(node) as connection:
            return bool(connection.execute("SELECT 1").fetchone() == (1,))
        return False

    def process(self, node: Node) -> int | None:
        with suppress(OSError, ValueError, IndexError):
            pid = int((node.data / "postmaster.pid").read_text().split()[0])
            return pid if str(node.data) in local.command_line(pid) else None
        return None

    def url(self, node: Node) -> str:
        return f"postgresql:///{DATABASE}?host={quote(str(node.sockets), safe='/')}&user={USER}"

    def role(self, title: str) -> str:
        kind = title.removeprefix("postgres: ")
        known = next((role for sign, role in _ROLES.items() if kind.startswith(sign)), None)
        if known is not None:
            return known
        return "back end" if title.startswith("postgres: ") else "postmaster"

    def load_tpch(self, cluster: Cluster, folder: Path, report: Report) -> None:
        from tare.cluster.tpch import Loader

        Loader(cluster, self.connect).load(folder, report)

    def run(self, cluster: Cluster, sql: str) -> list[Sequence[object]]:
        import psycopg

        try:
            with self.connect(cluster.coordinator) as connection:
                return list(connection.execute(sql.encode()))
        except psycopg.Error as error:
            raise ServerFailed(f"the coordinator of cluster {cluster.name} failed: {error}", "") from error

    def stop(self, node: Node) -> None:
        pid = self.process(node)
        if pid is not None:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGINT)  # a fast shutdown

    def connect(self, node: Node) -> Any:
        """Open a connection to a node's server through its socket. Raises psycopg.Error."""
        import psycopg

        return psycopg.connect(self.url(node), autocommit=True, connect_timeout=5)


def _ours(node: Node, cluster: Cluster) -> Mapping[str, str]:
    """Settings of a node, which those of the user may follow."""
    wal = max(_WAL_LEAST, min(_WAL_MOST, cluster.limits.disk_bytes // _WAL_SHARE >> 20))
    ours = {
        "listen_addresses": node.address,
        "port": str(PORT),
        "unix_socket_directories": str(node.sockets),
        "dynamic_shared_memory_type": "sysv",
        "max_wal_size": f"{wal}MB",
        "min_wal_size": f"{min(80, wal)}MB",
    }
    if node.role != SHARD:
        ours |= {"enable_partitionwise_join": "on", "enable_partitionwise_aggregate": "on"}
    return ours


def _fitting(version: str | None) -> Install:
    try:
        return binaries.postgresql(version)
    except ServerFailed as error:
        raise UsageError(error.what, error.next_step) from error


def _reached(install: Install) -> Install:
    """Return the install with programs that the servers' user can run."""
    runs_as = owner.choose("postgres")
    return Install(install.version, reach.binaries_for(runs_as, install), install.wheel)


def _has_wrapper(install: Install) -> bool:
    return any((install.binaries.parent / folder / _WRAPPER).exists() for folder in _LIBRARIES)
