"""A cluster of `tare cluster` as the subject of `tare os`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.cluster.engine import engine
from tare.cluster.record import known
from tare.errors import UsageError

if TYPE_CHECKING:
    from tare.measure.query import Query


def node_texts(name: str) -> list[str]:
    """Return the nodes of a cluster as --node spells them: all processes of each network namespace.

    Raises UsageError if there is no such cluster."""
    return [f"{node.name}=netns:{node.namespace}" for node in known(name).nodes]


def coordinator_url(name: str) -> str:
    """Return the URL of the coordinator. Raises UsageError if there is no such cluster."""
    cluster = known(name)
    return engine(cluster.engine).url(cluster.coordinator)


def cluster_queries(name: str, numbers: str) -> list[Query]:
    """Return TPC-H's queries of these numbers, for the scale that was loaded. Raises UsageError."""
    from tare.cli.tpch_queries import of_numbers

    cluster = known(name)
    if cluster.workload != "tpch" or cluster.scale is None:
        raise UsageError(
            f"the cluster {name} has no tables of TPC-H",
            f"load them: tare cluster load tpch --name {name} --scale 0.1",
        )
    return of_numbers(numbers, cluster.engine, cluster.scale)
