"""Preemptions of the query's processes bound by how much its CPU time is too low."""

from __future__ import annotations

import pytest

from tare.dbms.base import Role
from tare.protocol.preemption import preemption
from tests.unit.protocol.qe_records import process, qe, resources


def test_the_bound_is_14_us_a_preemption_of_any_query_process() -> None:
    processes = (
        process(involuntary_switches=400),
        process(101, involuntary_switches=300),
        process(7, Role.DAEMON, involuntary_switches=9000),
    )
    found = preemption([qe(i, resources=resources(180), processes=processes) for i in range(6)])
    assert found is not None
    assert found.count == 700
    assert found.bound_ms == pytest.approx(9.8)
    assert found.share == pytest.approx(9.8 / 180)


def test_it_is_unknown_where_a_query_process_hides_its_switches() -> None:
    hidden = (process(), process(101, involuntary_switches=None))
    assert preemption([qe(0), qe(1, processes=hidden)]) is None
    assert preemption([]) is None
