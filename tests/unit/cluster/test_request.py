"""Requests that no cluster can fulfil are refused before anything is made."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tare.cluster import rights
from tare.cluster.engine import engine
from tare.cluster.link import address, free_index, network, shape
from tare.cluster.postgresql import PostgreSQL
from tare.cluster.record import Limits
from tare.cluster.request import DEFAULT_DISK, ClusterRequest
from tare.dbms.servers.owner import Owner
from tare.errors import UsageError

REQUEST = ClusterRequest("postgresql", "one", 2)
OWNER = Owner("us", os.geteuid(), os.getegid(), switch=False)


@pytest.mark.parametrize("name", ["a", "main", "c4", "a234567890123456"])
def test_a_name_is_small_letters_and_digits(name: str) -> None:
    replace(REQUEST, name=name).check()


@pytest.mark.parametrize("name", ["", "A", "4c", "a-b", "a/b", "..", "a_b", "a2345678901234567", "ä", "a\n"])
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(UsageError, match="no name of a cluster"):
        replace(REQUEST, name=name).check()


@pytest.mark.parametrize(
    ("option", "limits"),
    [
        ("--cpus", {"cpus": 0.01}),
        ("--cpus", {"cpus": -1.0}),
        ("--cpus", {"cpus": float("nan")}),
        ("--memory", {"memory_bytes": 1 << 20}),
        ("--rate", {"rate_bits": 1000}),
        ("--read-ahead", {"read_ahead_kib": -1}),
        ("--disk-size", {"disk_bytes": 1 << 20}),
    ],
)
def test_limits_have_bounds(option: str, limits: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=option):
        replace(REQUEST, limits=Limits(**{"disk_bytes": DEFAULT_DISK, **limits})).check()


@pytest.mark.parametrize("shards", [0, -1, 65])
def test_so_do_shards(shards: int) -> None:
    with pytest.raises(UsageError, match="--shards"):
        replace(REQUEST, shards=shards).check()


def test_a_quota_now_needs_a_quota() -> None:
    with pytest.raises(UsageError, match="--quota-now"):
        replace(REQUEST, quota_now=True).check()


def test_a_directory_that_is_not_empty_is_refused(tmp_path: Path) -> None:
    request = replace(REQUEST, directory=tmp_path)
    assert request.place("0a0a", OWNER) == (tmp_path, True)
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="not an empty directory"):
        request.place("0a0a", OWNER)


def test_a_path_too_long_for_a_socket_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="too long for a socket"):
        replace(REQUEST, directory=tmp_path / ("x" * 90)).place("0a0a", OWNER)


def test_the_usual_directory_carries_name_and_tag() -> None:
    directory, existed = REQUEST.place("0a0a", OWNER)
    assert directory.name == "tare-cluster-one-0a0a"
    assert not existed


def test_the_capabilities_that_lack_are_named() -> None:
    assert rights.lacking_capabilities("CapEff:\t000001ffffffffff\n") == []
    assert rights.lacking_capabilities("CapEff:\t0000000000200000\n") == ["CAP_NET_ADMIN"]
    assert rights.lacking_capabilities("") == ["CAP_NET_ADMIN", "CAP_SYS_ADMIN"]


def test_clusters_have_networks_of_their_own() -> None:
    assert free_index([1, 2, 4]) == 3
    assert free_index(range(1, 255)) is None
    assert (network(3), address(3, 0), address(3, 64)) == ("10.77.3.0/24", "10.77.3.10", "10.77.3.74")


@pytest.mark.parametrize(("rate", "burst"), [(10**6, "65536"), (10**8, "125000"), (10**10, "12500000")])
def test_a_burst_is_ten_milliseconds_of_the_rate(rate: int, burst: str) -> None:
    words = shape("eth0", rate)
    assert words[words.index("rate") + 1] == f"{rate}bit"
    assert words[words.index("burst") + 1] == burst


@pytest.mark.parametrize(
    ("title", "role"),
    [
        ("/usr/lib/postgresql/15/bin/postgres -D /x/data", "postmaster"),
        ("postgres: io worker 2", "I/O worker"),
        ("postgres: checkpointer ", "checkpointer"),
        ("postgres: parallel worker for PID 12 ", "parallel worker"),
        ("postgres: postgres postgres 10.77.1.10(40000) idle", "back end"),
    ],
)
def test_roles_of_postgresql_by_title(title: str, role: str) -> None:
    assert PostgreSQL().role(title) == role


def test_an_unknown_engine_is_refused() -> None:
    with pytest.raises(UsageError, match="no engine oracle"):
        engine("oracle")
