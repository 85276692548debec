"""Workers are summed with the leader; utility processes stand beside them."""

from typing import Any

from tare.dbms.base import Role
from tare.measure.differences import Life, use_of
from tare.measure.lacks import Cause, Lack
from tare.measure.records import Relation
from tare.measure.resources import resources_view
from tare.protocol.unmeasured import reason
from tests.unit.measure.readings import MS, ended, process


def used(role: Role, relation: Relation | None = None, **given: Any) -> Any:
    return use_of(Life(None, process(**given), ()), role, relation=relation)


def test_parallel_workers_are_summed_and_utilities_are_not_mixed_in() -> None:
    view = resources_view([
        used(Role.QUERY, run_ns=10, read_bytes=1),
        use_of(Life(None, None, (ended(11, run_ns=7, read_bytes=2),)), Role.QUERY),
        used(Role.UTILITY, run_ns=100, read_bytes=50),
        used(Role.DAEMON, run_ns=1000),
    ])  # fmt: skip
    assert (view.processes, view.cpu_ns, view.read_bytes) == (2, 17, 3)
    assert (view.utility_cpu_ns, view.utility_read_bytes) == (100, 50)


def test_a_sum_with_an_unreadable_part_is_unknown_and_names_it() -> None:
    view = resources_view([used(Role.QUERY, pid=7, read_bytes=None)])
    assert view.read_bytes is None
    lack = view.why["read_bytes"]
    assert (lack.cause, lack.counter, lack.process) == (Cause.UNREADABLE, "read_bytes", 7)


def test_workers_that_may_have_come_and_gone_unseen_are_said_beside_the_sum() -> None:
    view = resources_view([used(Role.QUERY, run_ns=10)], came_and_went=2)
    assert view.cpu_ns == 10
    assert view.why["cpu"] == Lack(Cause.UNSEEN_LIVES, tasks=2)
    assert not resources_view([used(Role.QUERY, run_ns=10)]).why


def test_a_query_process_that_ended_unseen_is_said() -> None:
    view = resources_view([use_of(Life(process(), None, ()), Role.QUERY)])
    assert view.why["cpu"] == Lack(Cause.UNSEEN_ENDS, tasks=1)


def test_a_helper_is_in_the_sum_and_what_may_be_one_stands_beside() -> None:
    view = resources_view([
        used(Role.QUERY, run_ns=10),
        used(Role.QUERY, pid=8, run_ns=200, relation=Relation.CLIENT),
        used(Role.DAEMON, pid=9, run_ns=3000, relation=Relation.SHARED_SERVER),
        used(Role.UTILITY, pid=10, run_ns=40_000, relation=Relation.UNSEEN_CLIENT),
        used(Role.DAEMON, pid=11, run_ns=500_000),
    ])  # fmt: skip
    assert (view.cpu_ns, view.processes, view.unattributed_cpu_ns) == (210, 2, 43_000)
    assert view.why["instructions"].process == 8, "only the leader and its workers have a counter"


def test_a_delay_that_no_thread_can_have_waited_is_not_summed() -> None:
    """Linux 6.18 counts some delays from the machine's start on."""
    waited = used(Role.QUERY, pid=7, comm="python", threads=3, block_io_ns=500 * MS)
    broken = used(Role.QUERY, pid=8, comm="python", threads=3, block_io_ns=52_000_000 * MS)
    assert resources_view([waited], interval_ns=200 * MS).block_io_ns == 500 * MS
    view = resources_view([waited, broken], interval_ns=200 * MS)
    assert view.block_io_ns is None
    assert view.why["block_io"] == Lack(Cause.IMPOSSIBLE_DELAY, process=8, process_name="python")
    assert "process 8 (python)" in reason(view.why["block_io"])
