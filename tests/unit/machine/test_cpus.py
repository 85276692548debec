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


def test_the_least_burdened_cpus_are_reserved() -> None:
    burden = {0: 0.003, 1: 0.99, 2: 0.004, 3: 0.003}
    assert cpus.choose(1, allowed={0, 1, 2}, every={0, 1, 2, 3}, burden=burden.__getitem__) == {0}
    assert cpus.choose(2, allowed={0, 1, 2}, every={0, 1, 2, 3}, burden=burden.__getitem__) == {0, 2}


def test_a_difference_below_a_thousandth_does_not_change_the_choice() -> None:
    assert cpus.choose(1, {0, 1, 2}, {0, 1, 2}, {0: 0.0101, 1: 0.0099, 2: 0.9}.__getitem__) == {1}
    assert cpus.choose(1, {0, 1, 2}, {0, 1, 2}, {0: 0.0099, 1: 0.0101, 2: 0.9}.__getitem__) == {1}


def test_of_equally_burdened_cpus_the_highest_allowed_are_reserved() -> None:
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


def test_listed_cpus_are_reserved_as_they_are() -> None:
    assert cpus.named("1,3-4", allowed={0, 1, 3, 4}, every=set(range(8))) == {1, 3, 4}


@pytest.mark.parametrize(
    ("listed", "complaint"),
    [
        ("", "not a list"),
        ("two", "not a list"),
        ("-1", "not a list"),
        ("0-99999999999", "not a list"),  # and no memory is filled with it
        ("3-1", "names no CPU"),
        ("9", "not there or offline"),
        ("3", "may use"),
        ("0-3", "may use"),
    ],
)
def test_a_list_that_cannot_be_reserved_is_refused(listed: str, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint) as refused:
        cpus.named(listed, allowed={0, 1, 2}, every={0, 1, 2, 3})
    assert "--cpu" in refused.value.next_step


def test_a_list_of_every_cpu_is_refused() -> None:
    with pytest.raises(UsageError, match="everybody else"):
        cpus.named("0-1", allowed={0, 1}, every={0, 1})
