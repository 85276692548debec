"""Records of clusters that exist nowhere."""

from __future__ import annotations

from pathlib import Path

from tare.cluster.record import COORDINATOR, SHARD, Cluster, Limits, Node


def node(name: str, directory: Path = Path("/nowhere")) -> Node:
    return Node(
        name=name,
        role=COORDINATOR if name == "c" else SHARD,
        namespace=f"tare-test-0a0a-{name}",
        cgroup=f"tare-test-0a0a-{name}",
        address="10.77.3.10",
        image=directory / f"{name}.img",
        mount=directory / name,
        version="15.18",
        binaries=Path("/usr/lib/postgresql/15/bin"),
    )


def cluster(name: str = "test", index: int = 3, cpus: float | None = None, shards: int = 2) -> Cluster:
    return Cluster(
        name=name,
        tag="0a0a",
        engine="postgresql",
        index=index,
        directory=Path("/nowhere"),
        directory_existed=False,
        switch=f"tare-{name}-0a0a-switch",
        helpers=f"tare-{name}-0a0a-helpers",
        limits=Limits(1 << 30, cpus=cpus),
        settings={"jit": "off"},
        nodes=tuple(map(node, ["c", *(f"s{number + 1}" for number in range(shards))])),
        since="2026-01-01T00:00:00+00:00",
        throttled_before={"c": (1, 2)},
    )
