"""The table of knobs: each says what it does, where that is from, and which functions show it."""

from __future__ import annotations

import pytest

from tare.errors import UsageError
from tare.tune.durability import table as durability
from tare.tune.knobs import candidates, changeable, governing, table
from tare.tune.settings.setting import Reach, Setting

KNOBS = [(dbms, name) for dbms, knobs in table().items() for name in knobs]


@pytest.mark.parametrize(("dbms", "name"), KNOBS)
def test_each_knob_has_values_functions_and_a_source(dbms: str, name: str) -> None:
    knob = table()[dbms][name]
    assert knob.values
    assert knob.governs
    assert knob.why
    assert "documentation" in knob.source


def test_knobs_that_may_lose_commits_are_in_the_table_of_durability() -> None:
    names = {name for _, name in KNOBS}
    dangerous = {"synchronous_commit", "full_page_writes", "innodb_flush_log_at_trx_commit", "sync_binlog"}
    assert dangerous <= names & durability().keys()


@pytest.mark.parametrize(
    ("dbms", "function", "knob"),
    [
        ("mysql", "os_event_wait_low", "innodb_lock_schedule_algorithm"),
        ("mariadb", "lock_wait_suspend_thread(que_thr_t*)", "innodb_lock_schedule_algorithm"),
        ("mysql", "fil_flush", "innodb_flush_log_at_trx_commit"),
        ("mysql", "buf_page_make_young", "innodb_old_blocks_time"),
        ("postgresql", "LWLockAcquireOrWait", "commit_delay"),
    ],
)
def test_factors_of_the_tprofiler_paper_lead_to_their_settings(dbms: str, function: str, knob: str) -> None:
    assert knob in governing(dbms, [function, "memcpy"])
    assert governing(dbms, ["memcpy"]) == ()


def fact(name: str, **more: object) -> Setting:
    return Setting(name, "x", **{"reach": Reach.AT_ONCE, "kind": "enum", **more})  # type: ignore[arg-type]


def test_all_knobs_are_those_that_the_server_can_change_with_the_values_that_it_takes() -> None:
    facts = {
        one.name: one
        for one in (
            fact("jit", choices=("on", "off")),
            fact("wal_compression", choices=("on", "off", "pglz")),
            fact("commit_delay", overridden_by="command line"),
            fact("deadlock_timeout", reach=Reach.FIXED),
            fact("work_mem"),
        )
    }
    names = changeable("postgresql", facts)
    assert [arm.name for arm in candidates("postgresql", facts, names)] == ["wal_compression=pglz", "jit=off"]
    named = candidates("postgresql", facts, ["commit_delay"])
    assert [arm.name for arm in named] == ["commit_delay=100", "commit_delay=1000"], (
        "refused later, with its reason"
    )


def test_a_name_that_is_no_knob_is_refused_with_the_most_similar() -> None:
    with pytest.raises(UsageError) as refused:
        candidates("postgresql", {}, ["comit_delay"])
    assert refused.value.next_step == "did you mean commit_delay?"
