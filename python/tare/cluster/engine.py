"""Interface between a cluster and its engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from tare.cluster.node import Node
from tare.dbms.servers.owner import Owner


@dataclass(frozen=True, slots=True)
class Place:
    """Name of a node to be made, and its role in the engine."""

    name: str
    role: str


class Engine(Protocol):
    kind: str
    version: str

    def places(self, workers: int) -> Sequence[Place]:
        """Nodes of a cluster with this many workers, the coordinator first."""

    def lay_out(self, nodes: Sequence[Node], owner: Owner) -> None:
        """Make each node's data and configuration in its folder."""

    def start(self, nodes: Sequence[Node], owner: Owner) -> None:
        """Start the servers; return when each answers."""

    def connect_nodes(self, nodes: Sequence[Node]) -> None:
        """Make the nodes known to each other."""

    def url(self, nodes: Sequence[Node]) -> str:
        """URL of the coordinator, for every command that takes --db."""

    def is_ready(self, node: Node) -> bool:
        """Whether the node's server runs and accepts connections."""
