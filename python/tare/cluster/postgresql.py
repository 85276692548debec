"""PostgreSQL as a cluster: a coordinator with partitioned tables, whose partitions are foreign tables on shards.

The shape is a star: shards never talk to each other (postgres_fdw)."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from tare.cluster import system
from tare.cluster.engine import Place
from tare.cluster.node import NETWORK, Node
from tare.dbms.servers import binaries, program
from tare.dbms.servers.owner import Owner
from tare.errors import ServerFailed

KIND = "postgresql"
COORDINATOR = "coordinator"
SHARD = "shard"
_USER = "postgres"
_PORT = 5432
_START_S = 60


class PostgreSQL:
    kind = KIND

    def __init__(self) -> None:
        self._install = _install()
        self.version = self._install.version

    def places(self, workers: int) -> Sequence[Place]:
        shards = [Place(f"shard{number}", SHARD) for number in range(1, workers + 1)]
        return [Place(COORDINATOR, COORDINATOR), *shards]

    def lay_out(self, nodes: Sequence[Node], owner: Owner) -> None:
        first = _data(nodes[0])
        initdb: list[str | Path] = [
            self._install.binaries / "initdb",
            *("-D", first, "-U", _USER, "-E", "UTF8", "--locale=C", "--no-sync"),
            *("--auth-local=trust", "--auth-host=trust"),
        ]
        program.run(initdb, owner, what="initdb failed", log=None, timeout_s=_START_S)
        with (first / "pg_hba.conf").open("a") as rules:
            rules.write(f"host all all {NETWORK} trust\n")
        for node in nodes[1:]:
            shutil.copytree(first, _data(node))
            for path in (_data(node), *_data(node).rglob("*")):
                shutil.chown(path, owner.uid, owner.gid)
        for node in nodes:
            self._configure(node)

    def _configure(self, node: Node) -> None:
        settings = {
            "listen_addresses": node.address,
            "port": str(_PORT),
            "unix_socket_directories": str(node.directory),
            "max_connections": "50",
        }
        if node.role == COORDINATOR:
            settings |= {"enable_partitionwise_join": "on", "enable_partitionwise_aggregate": "on"}
        with (_data(node) / "postgresql.conf").open("a") as configuration:
            configuration.writelines(f"{key} = '{value}'\n" for key, value in settings.items())

    def start(self, nodes: Sequence[Node], owner: Owner) -> None:
        starting = [(node, self._launch(node, owner)) for node in nodes]
        for node, process in starting:
            try:
                code = process.wait(_START_S + 10)
            except subprocess.TimeoutExpired:
                process.kill()
                code = -1
            if code != 0:
                raise program.failed(f"PostgreSQL on the node {node.name} did not start", "", _log(node))

    def _launch(self, node: Node, owner: Owner) -> subprocess.Popen[bytes]:
        control: list[str | Path] = [
            *(self._install.binaries / "pg_ctl", "start", "-D", _data(node), "-s", "-w"),
            *("-t", str(_START_S), "-l", _log(node)),
        ]
        return subprocess.Popen(
            node.command(owner, control),
            cwd="/",
            env=program.base_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def connect_nodes(self, nodes: Sequence[Node]) -> None:
        import psycopg

        with psycopg.connect(self.url(nodes), autocommit=True) as coordinator:
            coordinator.execute("CREATE EXTENSION postgres_fdw")
            for node in nodes[1:]:
                coordinator.execute(
                    f"CREATE SERVER {node.name} FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '{node.address}', "
                    f"port '{_PORT}', dbname 'postgres', async_capable 'true', use_remote_estimate 'true', "
                    "fetch_size '10000')"
                )
                coordinator.execute(
                    f"CREATE USER MAPPING FOR {_USER} SERVER {node.name} "
                    f"OPTIONS (user '{_USER}', password_required 'false')"
                )

    def url(self, nodes: Sequence[Node]) -> str:
        return url_of(nodes[0])

    def is_ready(self, node: Node) -> bool:
        import psycopg

        try:
            with psycopg.connect(url_of(node), connect_timeout=5) as connection:
                connection.execute("SELECT 1")
        except psycopg.Error:
            return False
        return True


def url_of(node: Node) -> str:
    """URL by socket: the machine has no way into the node's network, and the client adds no traffic to it."""
    return f"postgresql:///postgres?host={quote(str(node.directory), safe='/')}&user={_USER}"


def _install() -> binaries.Install:
    """Newest PostgreSQL with postgres_fdw. The wheel's PostgreSQL lacks it."""
    candidates = [install for install in binaries.postgresql_installs() if _has_fdw(install)]
    if not candidates:
        raise ServerFailed(
            "no PostgreSQL with postgres_fdw found",
            "install the system's PostgreSQL server with its contrib modules (Debian: postgresql)",
        )
    return max(candidates, key=lambda install: install.major)


def _has_fdw(install: binaries.Install) -> bool:
    config = install.binaries / "pg_config"
    if not config.exists():
        return False
    shared = system.run(config, "--sharedir").strip()
    return Path(shared, "extension", "postgres_fdw.control").exists()


def _data(node: Node) -> Path:
    return node.directory / "data"


def _log(node: Node) -> Path:
    return node.directory / "server.log"
