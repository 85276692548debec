"""TTPv2 Figures 6 and 7, Tables VII and VIII: the same measures, another truth."""

from __future__ import annotations

import pytest

from tests.golden.accounting import Account, Mode, Moment, account

USER, LOW, SYSTEM, SOFTIRQ = (
    Moment(Mode.USER),
    Moment(Mode.LOW_PRIORITY),
    Moment(Mode.SYSTEM),
    Moment(Mode.SOFTIRQ),
)
BLOCKED, DISK, WAITING = Moment(Mode.BLOCK_IO), Moment(Mode.BLOCK_IO, disk=True), Moment(Mode.WAITING)

FIGURE_6 = {
    "query": (USER, DISK, BLOCKED, DISK, SYSTEM, DISK, SYSTEM),
    "daemon": (DISK, LOW, DISK, BLOCKED, WAITING, SOFTIRQ, DISK),
}
FIGURE_7 = {
    "query": (USER, DISK, DISK, DISK, SYSTEM, DISK, SYSTEM),
    "daemon": (WAITING, LOW, BLOCKED, BLOCKED, DISK, SOFTIRQ, DISK),
}


@pytest.fixture(params=[FIGURE_6, FIGURE_7], ids=["figure 6", "figure 7"])
def counted(request: pytest.FixtureRequest) -> Account:
    return account(request.param)


def test_table_vii_what_the_processor_tells(counted: Account) -> None:
    assert counted.overall == {
        "user": 1, "low priority": 1, "system": 2, "softirq": 1, "iowait": 2, "idle": 0,
    }  # fmt: skip


def test_table_viii_what_the_processes_tell(counted: Account) -> None:
    assert counted.processes["query"].told == (1, 2, 4)
    assert counted.processes["daemon"].told == (1, 1, 4)


def test_what_nothing_tells_is_for_whom_the_disk_worked() -> None:
    first, second = account(FIGURE_6), account(FIGURE_7)
    assert {name: p.disk for name, p in first.processes.items()} == {"query": 3, "daemon": 3}
    assert {name: p.disk for name, p in second.processes.items()} == {"query": 4, "daemon": 2}


def test_a_third_process_that_computes_leaves_no_iowait() -> None:
    busy = tuple(
        USER if {query.mode, daemon.mode} == {Mode.BLOCK_IO} else WAITING
        for query, daemon in zip(*FIGURE_6.values(), strict=True)
    )
    assert account({**FIGURE_6, "compute-bound": busy}).overall["iowait"] == 0


def test_nobody_there_is_idle() -> None:
    assert account({"query": (WAITING,)}).overall["idle"] == 1


def test_two_processes_cannot_run_on_one_processor() -> None:
    with pytest.raises(ValueError, match="tick 1: 2 processes"):
        account({"query": (USER,), "daemon": (SYSTEM,)})
