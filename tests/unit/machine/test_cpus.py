"""Sets of CPUs in the kernel's notation, and which are reserved."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.errors import UsageError
from tare.measure.machine import cpus


@given(st.sets(st.integers(0, 300)))
def test_what_is_shown_is_read_back(wanted: set[int]) -> None:
    assert cpus.parse(cpus.show(wanted)) == wanted


def test_the_kernels_lists_are_read_and_written() -> None:
    assert cpus.parse("0-2,5\n") == {0, 1, 2, 5}
    assert cpus.show({5, 0, 1, 2}) == "0-2,5"
    assert cpus.show({33}) == "33"


def test_the_highest_allowed_cpus_are_reserved() -> None:
    assert cpus.choose(2, allowed={0, 1, 2, 5}, every=set(range(8))) == {2, 5}


def test_a_run_confined_to_some_cpus_may_reserve_all_of_those() -> None:
    assert cpus.choose(1, allowed={3}, every={0, 1, 2, 3}) == {3}


def test_one_cpu_cannot_be_reserved() -> None:
    with pytest.raises(UsageError, match="one CPU"):
        cpus.choose(1, allowed={0}, every={0})


@pytest.mark.parametrize("count", [0, -1, 4, 5])
def test_a_count_that_leaves_nobody_else_a_cpu_is_refused(count: int) -> None:
    with pytest.raises(UsageError):
        cpus.choose(count, allowed={0, 1, 2, 3}, every={0, 1, 2, 3})
