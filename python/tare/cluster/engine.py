"""Interface of an engine: what a DBMS has to offer to be started as a cluster."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from tare.cluster.record import Cluster, Node
from tare.errors import UsageError

if TYPE_CHECKING:
    from tare.cluster.helpers import Helpers
    from tare.dbms.servers.owner import Owner

Report = Callable[[str], None]
"""Receives what is done next."""


class Program(Protocol):
    """Programs of one version."""

    @property
    def version(self) -> str: ...
    @property
    def binaries(self) -> Path: ...


class Engine(Protocol):
    """DBMS that runs as a coordinator and shards. Its methods raise ServerFailed."""

    def owner(self) -> Owner:
        """Return the ordinary user that its servers run as."""
        ...

    def programs(self, version: str | None) -> tuple[Program, Program]:
        """Return the programs of the coordinator and of the shards. Raises UsageError and ServerFailed."""
        ...

    def lay_out(self, helpers: Helpers) -> None:
        """Make the data directories of all nodes, with their settings."""
        ...

    def start(self, helpers: Helpers) -> None:
        """Start all servers, wait until they answer, and make them know each other."""
        ...

    def is_ready(self, node: Node) -> bool:
        """Whether the server of a node answers."""
        ...

    def process(self, node: Node) -> int | None:
        """Return the main process of a node by its own note; it may have ended."""
        ...

    def url(self, node: Node) -> str:
        """Return the URL of a node's server, through its socket."""
        ...

    def role(self, title: str) -> str:
        """Return the role of a process by its title."""
        ...

    def load_tpch(self, cluster: Cluster, folder: Path, report: Report) -> None:
        """Load TPC-H's .csv files, instead of what an interrupted load left. Raises NotEnoughDisk."""
        ...

    def run(self, cluster: Cluster, sql: str) -> list[Sequence[object]]:
        """Run a query on the coordinator and return its rows."""
        ...

    def stop(self, node: Node) -> None:
        """Ask the server of a node to end, without waiting for it."""
        ...


def engine(name: str) -> Engine:
    """Return an engine by its name. Raises UsageError."""
    if name == "postgresql":
        from tare.cluster.postgresql import PostgreSQL

        return PostgreSQL()
    raise UsageError(f"there is no engine {name}", "the engines are: postgresql")
