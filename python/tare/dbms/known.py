"""Servers of DBMSs by the name of their processes, so that another DBMS's work is told from a daemon's.

The kernel keeps 15 characters of a name; a prefix stands for all processes that begin with it.
"""

from __future__ import annotations

import re

SERVERS: dict[str, str] = {
    "postgres": "postgresql",
    "postmaster": "postgresql",
    "mariadbd": "mariadb",
    "mysqld": "mysql",
    "oracle": "oracle",
    "db2sysc": "db2",
    "db2fmp": "db2",
    "db2vend": "db2",
    "sqlservr": "sqlserver",
    "mongod": "mongodb",
    "mongos": "mongodb",
    "redis-server": "redis",
    "valkey-server": "valkey",
    "clickhouse": "clickhouse",
    "clickhouse-serv": "clickhouse",
    "cockroach": "cockroachdb",
    "firebird": "firebird",
    "fbserver": "firebird",
    "tidb-server": "tidb",
    "tikv-server": "tidb",
    "yb-tserver": "yugabytedb",
    "yb-master": "yugabytedb",
    "hdbindexserver": "saphana",
    "monetdbd": "monetdb",
    "mserver5": "monetdb",
}

THREADED = ("mariadb", "mysql")
"""Whose server is one process with a thread for each connection; the thread that answers is known."""

PREFIXES: dict[str, str] = {
    "ora_": "oracle",  # ora_pmon_ORCL, ora_dbw0_ORCL, …
    "oracle_": "oracle",  # oracle_4711_orcl: a client's server process
    "asm_": "oracle",
}


_SERVES = re.compile(r"^postgres: .* (\[local\]|\S+\(\d+\))")


def serves_client(cmdline: str) -> bool:
    """Whether the title is that of a backend of PostgreSQL that serves a client, on this machine or another."""
    return _SERVES.match(cmdline) is not None


def server_of(comm: str) -> str | None:
    """The DBMS whose server a process of this name is; None for any other process."""
    if comm in SERVERS:
        return SERVERS[comm]
    return next((dbms for prefix, dbms in PREFIXES.items() if comm.startswith(prefix)), None)
