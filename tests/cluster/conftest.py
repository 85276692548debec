"""Clusters with names of their own, and the check that nothing of them is left."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tare.cluster.engine import engine
from tare.cluster.load import load_tpch
from tare.cluster.record import Cluster, Limits
from tare.cluster.request import ClusterRequest
from tare.cluster.start import start
from tare.cluster.stop import stop
from tests.cluster.leftovers import leftovers, links

SCALE = 0.01
DISK = 1 << 30

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="a cluster needs root")


@pytest.fixture
def name() -> Iterator[str]:
    """A name that no other test has. Whatever the test leaves under it is removed, and is a failure."""
    name = fresh_name()
    before = links()
    try:
        yield name
        assert leftovers(name) == []
        assert links() == before
    finally:
        stop(name)


@pytest.fixture
def started(name: str) -> Iterator[Callable[..., Cluster]]:
    """Starts a cluster of that name, which is stopped after the test."""

    def begin(shards: int = 2, **limits: Any) -> Cluster:
        return start(request_of(name, shards, **limits))

    yield begin
    stop(name)


@pytest.fixture(scope="module")
def loaded() -> Iterator[Cluster]:
    """Cluster of two shards with TPC-H, for tests that only read it."""
    name = fresh_name()
    try:
        start(request_of(name, 2))
        yield load_tpch(name, SCALE)
    finally:
        stop(name)
    assert leftovers(name) == []


def fresh_name() -> str:
    return f"t{secrets.token_hex(4)}"


def request_of(name: str, shards: int = 2, **limits: Any) -> ClusterRequest:
    """Request for small disks."""
    return ClusterRequest("postgresql", name, shards, Limits(**{"disk_bytes": DISK, **limits}))


def count(cluster: Cluster, table: str) -> object:
    """Number of rows of a table, as the coordinator counts them."""
    return engine(cluster.engine).run(cluster, f"SELECT count(*) FROM {table}")[0][0]
