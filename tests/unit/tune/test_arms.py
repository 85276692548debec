"""Arms, their order in blocks, and the durability that they give up."""

from __future__ import annotations

from itertools import islice

import pytest

from tare.errors import UsageError
from tare.tune.arms import AGAIN, BASELINE, Arm, is_baseline, needs, single_settings, turns, with_baselines
from tare.tune.durability import losses, table
from tare.tune.settings.setting import Reach, Setting


def test_every_block_holds_each_arm_once_and_the_next_one_mirrors_it() -> None:
    blocks = list(islice(turns(5, seed=7), 10))
    assert all(sorted(block) == list(range(5)) for block in blocks)
    assert all(blocks[at] == blocks[at + 1][::-1] for at in range(0, 10, 2))
    assert len(set(blocks)) > 2


def test_the_baseline_and_its_copy_are_always_arms() -> None:
    arms = with_baselines(single_settings({"work_mem": ["4MB", "8MB"]}))
    assert [arm.name for arm in arms] == [BASELINE, AGAIN, "work_mem=4MB", "work_mem=8MB"]
    with pytest.raises(UsageError, match="baseline"):
        with_baselines([Arm("baseline", {"work_mem": "4MB"})])


def test_an_arm_of_values_that_the_server_has_is_the_baseline() -> None:
    facts = {"shared_buffers": Setting("shared_buffers", "16384", Reach.RESTART, "integer", unit="8kB")}
    assert is_baseline(Arm("same", {"shared_buffers": "128MB"}), facts)
    assert not is_baseline(Arm("larger", {"shared_buffers": "256MB"}), facts)
    assert needs(Arm("larger", {"shared_buffers": "256MB"}), facts) is Reach.RESTART


@pytest.mark.parametrize(
    ("settings", "count"),
    [
        ({"synchronous_commit": "off"}, 1),
        ({"synchronous_commit": "on", "commit_delay": "100"}, 0),
        ({"innodb_flush_log_at_trx_commit": "2"}, 1),
        ({"innodb_flush_log_at_trx_commit": "1"}, 0),
        ({"innodb_doublewrite": "0", "sync_binlog": "0"}, 2),
        ({"fsync": "false"}, 1),
    ],
)
def test_an_arm_that_gives_durability_up_says_what_a_crash_may_lose(
    settings: dict[str, str], count: int
) -> None:
    found = losses(settings)
    assert len(found) == count
    assert all("machine" in loss.what and loss.source for loss in found)


def test_every_rule_has_a_source() -> None:
    assert all(rule.source and rule.keeps and rule.loses for rule in table().values())
