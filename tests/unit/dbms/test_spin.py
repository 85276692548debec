"""A thread is known by CPU time in proportion to work, in every statement and in none of the pauses."""

import pytest

from tare.dbms.mariadb.spin import fitting

COUNTS = [300, 100, 400, 200]
OURS = [3_100, 1_000, 3_900, 2_050]
STILL = [0, 0, 0, 0]


def fit(times: list[int], pauses: list[int]) -> list[int]:
    """The threads that fit, when thread 7 is the connection's and thread 8 used `times` and `pauses`."""
    spun = [{7: ours, 8: other} for ours, other in zip(OURS, times, strict=True)]
    return fitting(COUNTS, spun, [{7: 0, 8: pause} for pause in pauses])


@pytest.mark.parametrize(
    ("times", "pauses"),
    [
        ([0, 0, 0, 0], STILL),
        ([3_100, 1_000, 3_900, 0], STILL),
        ([2_000, 2_000, 2_000, 2_000], STILL),
        ([3_100, 1_000, 3_900, 2_050], [0, 0, 900, 0]),
    ],
    ids=["idle", "idle once", "as busy in each", "busy in a pause"],
)
def test_another_thread_does_not_fit(times: list[int], pauses: list[int]) -> None:
    assert fit(times, pauses) == [7]


def test_two_threads_that_fit_are_both_named() -> None:
    assert fit([2_900, 1_100, 4_000, 1_950], STILL) == [7, 8]


def test_a_thread_that_began_or_ended_in_between_does_not_fit() -> None:
    assert fitting([100, 200], [{7: 100}, {7: 200, 8: 200}], [{7: 0}, {8: 0}]) == [7]
