"""Quotas that the machine cannot keep are refused with one that it can."""

from __future__ import annotations

import pytest

from tare.cluster.quota import largest_quota, refuse_too_much
from tare.errors import UsageError
from tests.unit.cluster.makings import cluster


@pytest.mark.parametrize(
    ("nodes", "left", "quota"), [(5, 2, 0.35), (3, 2, 0.65), (2, 2, 0.95), (4, 2, 0.45), (5, 4, 0.75)]
)
def test_the_largest_quota_leaves_something(nodes: int, left: float, quota: float) -> None:
    assert largest_quota(nodes, left) == quota
    assert nodes * quota < left


def test_too_many_nodes_have_no_quota() -> None:
    assert largest_quota(65, 2) is None


def test_a_sum_that_is_all_of_the_machine_is_refused() -> None:
    with pytest.raises(
        UsageError, match=r"5 nodes .* of 0\.4 CPUs need 2, and this machine has 2"
    ) as refused:
        refuse_too_much(0.4, 5, [], machine_cpus=2)
    assert refused.value.next_step == "give --cpus 0.35, or fewer shards"


def test_a_sum_below_it_is_taken() -> None:
    refuse_too_much(0.35, 5, [], machine_cpus=2)


def test_other_clusters_count() -> None:
    refuse_too_much(0.3, 3, [cluster(cpus=None)], machine_cpus=2)
    with pytest.raises(UsageError, match=r"of which other clusters take 1\.2") as refused:
        refuse_too_much(0.3, 3, [cluster(cpus=0.4)], machine_cpus=2)
    assert refused.value.next_step == "give --cpus 0.25, or fewer shards"


def test_no_figure_is_given_where_none_would_do() -> None:
    with pytest.raises(UsageError) as refused:
        refuse_too_much(0.05, 50, [], machine_cpus=2)
    assert refused.value.next_step == "give fewer shards, or stop other clusters"
