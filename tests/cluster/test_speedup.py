"""Speed-up over real clusters: all sizes are measured in each block, and all clusters go."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tare.cluster.record import Limits
from tare.cluster.speedup import Arm, SpeedupRequest
from tare.errors import UsageError
from tests.cli.running import tare
from tests.cluster.conftest import DISK, fresh_name, needs_root
from tests.cluster.leftovers import leftovers, links

pytestmark = needs_root


def test_each_block_has_every_cluster_once(tmp_path: Path) -> None:
    name, before = fresh_name(), links()
    page, out = tmp_path / "s.html", tmp_path / "s.json"
    said = tare(
        "cluster", "speedup", "--name", name, "--shards", "1,2", "--cpus", "0.2", "--queries", "6", "--scale",
        "0.01", "--blocks", "2", "--html", str(page), "--json", str(out),
    )  # fmt: skip
    assert said.code == 0, said.err
    report = json.loads(out.read_text())
    executions = report["record"]["executions"]
    assert [(one["block"], one["query"]) for one in executions] == [(0, "q6")] * 2 + [(1, "q6")] * 2
    for block in (executions[:2], executions[2:]):
        assert {one["arm"]["shards"] for one in block} == {1, 2}
    assert {tuple(one["throttled_ns"]) for one in executions} == {("c", "s1"), ("c", "s1", "s2")}
    assert page.read_text().startswith("<!")
    for number in (1, 2):
        assert leftovers(f"{name}{number}") == []
    assert links() == before


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("--shards", "2"), "a speed-up compares clusters"),
        (("--shards", "1,x"), "'x' is no number of shards"),
        (("--shards", "1,64", "--cpus", "1"), "the sum must stay below"),
        (("--rate", "fast"), "--rate"),
        (("--queries", "23"), "no query of TPC-H"),
        (("--name", "Not a name"), "is no name of a cluster"),
    ],
)
def test_a_request_at_fault_makes_nothing(words: tuple[str, ...], what: str) -> None:
    said = tare("cluster", "speedup", *words)
    assert said.code == 2
    assert what in " ".join(said.err.split())


def test_clusters_take_turns_so_the_largest_one_alone_must_fit() -> None:
    arms = (Arm(shards=1), Arm(shards=2), Arm(shards=3))
    request = SpeedupRequest("postgresql", "t", arms, 0.3, 0.01, (), 2, 0, Limits(DISK))
    request.check()
    too_large = SpeedupRequest("postgresql", "t", (*arms, Arm(shards=60)), 2.0, 0.01, (), 2, 0, Limits(DISK))
    with pytest.raises(UsageError, match="the sum must stay below"):
        too_large.check()
