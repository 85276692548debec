"""A model held against rows whose correlations are known."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tare.errors import UsageError
from tare.measure.records import Outcome as Ended
from tare.protocol.model.holding import hold, over
from tare.protocol.model.result import Verdict
from tests.unit.protocol.lab_records import RecordedQatC, RecordedRun, lab_of
from tests.unit.protocol.model.rows import named, qes
from tests.unit.protocol.qe_records import process, qe

X, Y = "query_user_ticks", "query_system_ticks"  # Ia


def test_a_straight_line_has_r_one() -> None:
    found = named(over(qes({X: [1, 2, 3, 4], Y: [10, 20, 30, 40]}), "ttp2"), "Ia")
    assert found.r == pytest.approx(1.0, abs=1e-15)
    assert found.p == pytest.approx(0.0, abs=1e-12)
    assert (found.n, found.verdict) == (4, Verdict.EXACT)


def test_an_r_worked_out_by_hand() -> None:
    """x 1 2 3 4, y 1 3 2 4: deviations' products sum to 4, squares to 5 and 5."""
    found = named(over(qes({X: [1, 2, 3, 4], Y: [1, 3, 2, 4]}), "ttp2"), "Ia")
    assert found.r == pytest.approx(0.8, abs=1e-15)
    assert found.p == pytest.approx(0.2, abs=1e-12)  # t = 4√2/3 with 2 degrees of freedom
    assert found.verdict is Verdict.NOT_SIGNIFICANT


_ticks = st.integers(0, 10**6)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(_ticks, _ticks), min_size=4, max_size=60))
def test_r_and_p_are_those_of_scipy(pairs: list[tuple[int, int]]) -> None:
    x, y = [one[0] for one in pairs], [one[1] for one in pairs]
    found = named(over(qes({X: x, Y: y}), "ttp2"), "Ia")
    if len(set(x)) == 1 or len(set(y)) == 1:
        assert found.verdict is Verdict.NON_VARYING
        return
    expected = stats.pearsonr(x, y)
    assert found.r == pytest.approx(expected.statistic, abs=1e-9)
    if abs(expected.statistic) < 1 - 1e-12:
        assert found.p == pytest.approx(expected.pvalue, abs=1e-9)


@settings(max_examples=10, deadline=None)
@given(
    st.lists(st.tuples(_ticks, _ticks, st.sampled_from(["a", "b", "c"])), min_size=6, max_size=40),
    st.floats(0.001, 1e6),
    st.randoms(use_true_random=False),
)
def test_neither_units_nor_the_order_of_qes_matter(
    rows: list[tuple[int, int, str]], unit: float, chance: random.Random
) -> None:
    def observed(rows: list[tuple[int, int, str]], unit: float) -> list[tuple[str | None, int, float | None]]:
        table = qes({X: [unit * x for x, _, _ in rows], Y: [y for _, y, _ in rows]}, [of for *_, of in rows])
        result = over(table, "ttp2")
        return [(one.dbms, one.n, one.r) for one in result.observed if one.relationship.name == "Ia"]

    shuffled = chance.sample(rows, len(rows))
    for (dbms, n, r), (other_dbms, other_n, other_r) in zip(
        observed(rows, 1.0), observed(shuffled, unit), strict=True
    ):
        assert (dbms, n) == (other_dbms, other_n)
        assert other_r == (None if r is None else pytest.approx(r, abs=1e-9))


def test_each_dbms_is_scaled_by_itself_before_they_are_pooled() -> None:
    """Two DBMSes on the same line, the one a thousand times as fast: scaled, they are one line."""
    table = qes({X: [1, 2, 3, 1000, 2000, 3000], Y: [5, 6, 7, 5, 6, 7]}, ["fast"] * 3 + ["slow"] * 3)
    result = over(table, "ttp2")
    assert result.dbmses == ("fast", "slow")
    assert named(result, "Ia").r == pytest.approx(1.0, abs=1e-15)
    assert named(result, "Ia").n == 6


def test_pooled_r_is_that_of_the_scaled_rows() -> None:
    fast, slow = ([1, 2, 9], [4, 1, 3]), ([100, 700, 300], [20, 60, 90])
    table = qes({X: fast[0] + slow[0], Y: fast[1] + slow[1]}, ["fast"] * 3 + ["slow"] * 3)

    def scaled(values: list[int]) -> list[float]:
        return [(x - min(values)) / (max(values) - min(values)) for x in values]

    expected = stats.pearsonr(scaled(fast[0]) + scaled(slow[0]), scaled(fast[1]) + scaled(slow[1]))
    found = named(over(table, "ttp2"), "Ia")
    assert found.r == pytest.approx(expected.statistic, abs=1e-12)
    assert found.p == pytest.approx(expected.pvalue, abs=1e-12)


def test_a_dbms_in_which_a_measure_rests_is_left_out_of_the_pool_and_named() -> None:
    table = qes({X: [1, 2, 3, 7, 7, 7], Y: [1, 2, 3, 1, 2, 3]}, ["moving"] * 3 + ["resting"] * 3)
    result = over(table, "ttp2")
    assert named(result, "Ia", "resting").verdict is Verdict.NON_VARYING
    assert named(result, "Ia", "resting").reason == f"the same in every QE: {X}"
    pooled = named(result, "Ia")
    assert (pooled.n, pooled.r) == (3, pytest.approx(1.0, abs=1e-15))
    assert pooled.reason == "without resting, where one of the two does not vary or is missing"


def test_a_qe_that_lacks_a_measure_counts_only_where_it_is_not_asked_for() -> None:
    delay = "query_block_io_ticks"  # Id: reads to block-I/O delay
    table = qes({"query_read_calls": [1, 2, 3, 4, 5], delay: [2, 4, None, 8, None], X: [5, 3, 9, 1, 2]})
    result = over(table, "ttp2")
    assert (named(result, "Id").n, named(result, "Id").r) == (3, pytest.approx(1.0))
    assert named(result, "Ib").n == 5
    expected = stats.pearsonr([5, 3, 9, 1, 2], [1, 2, 3, 4, 5])
    assert named(result, "Ib").r == pytest.approx(expected.statistic, abs=1e-12)


def test_a_measure_that_rests_wherever_the_other_is_known_does_not_vary() -> None:
    table = qes({"query_read_calls": [7, 7, 7, 1], "query_block_io_ticks": [1, 2, 3, None]})
    found = named(over(table, "ttp2"), "Id")
    assert found.verdict is Verdict.NON_VARYING
    assert found.reason == "one of the two is the same in every QE that has both"


def test_a_measure_that_was_never_taken_is_missing_and_named() -> None:
    found = named(
        over(qes({"query_read_calls": [1, 2, 3], "query_block_io_ticks": [None] * 3}), "ttp2"), "Id"
    )
    assert found.verdict is Verdict.MISSING
    assert found.reason == "never measured: query_block_io_ticks"
    assert found.measures == ("query_block_io_ticks",)


def test_two_measures_never_taken_together_are_missing() -> None:
    table = qes({"query_read_calls": [1, 2, None, None], "query_block_io_ticks": [None, None, 3, 4]})
    found = named(over(table, "ttp2"), "Id")
    assert (found.verdict, found.n) == (Verdict.MISSING, 0)


def test_two_qes_are_too_few() -> None:
    found = named(over(qes({X: [1, 2], Y: [1, 2]}), "ttp2"), "Ia")
    assert (found.verdict, found.reason) == (
        Verdict.NOT_SIGNIFICANT,
        "2 QEs: too few for a correlation",
    )


def test_a_significant_negative_r_is_off_and_says_so() -> None:
    found = named(over(qes({X: [1, 2, 3, 4, 5], Y: [5, 4, 3, 2, 1]}), "ttp2"), "Ia")
    assert (found.r, found.verdict) == (pytest.approx(-1.0, abs=1e-15), Verdict.OFF)
    assert found.reason == "negative, and a positive one was predicted"


def test_great_numbers_with_small_differences_keep_their_correlation() -> None:
    """Sums of squares of the numbers themselves would lose every digit."""
    x, y = [10**12 + i for i in (1, 2, 3, 4)], [10**12 + i for i in (1, 3, 2, 4)]
    assert named(over(qes({X: x, Y: y}), "ttp2"), "Ia").r == pytest.approx(0.8, abs=1e-12)


def test_overall_major_faults_are_those_of_all_processes() -> None:
    faults = {
        "query": [1, 0, 0, 4],
        "utility": [0, 2, 0, 0],
        "daemon": [3, 1, 0, 0],
        "executor": [0, 0, 5, 0],
    }
    table = qes({f"{kind}_maj_faults": values for kind, values in faults.items()})
    whole = [sum(values) for values in zip(*faults.values(), strict=True)]
    expected = stats.pearsonr(faults["query"], whole).statistic
    assert named(over(table, "ttp1"), "VId").r == pytest.approx(expected, abs=1e-12)


def test_no_qe_leaves_every_relationship_missing() -> None:
    result = over(qes({X: []}), "ttp2")
    assert (result.qes, result.dbmses, len(result.observed)) == (0, (), 73)
    assert {one.verdict for one in result.observed} == {Verdict.MISSING}


# Through a lab ---------------------------------------------------------------------------
def _lab(user: list[int], system: list[int], **more: object) -> RecordedQatC:
    pairs = zip(user, system, strict=True)
    return RecordedQatC([qe(processes=(process(user_ticks=u, system_ticks=s),), **more) for u, s in pairs])


def test_a_lab_gives_the_r_of_its_processes_ticks() -> None:
    user, system = [100, 140, 120, 190, 160], [10, 12, 15, 22, 14]
    found = named(hold(lab_of(RecordedRun([_lab(user, system)])), "ttp2"), "Ia")
    assert found.r == pytest.approx(stats.pearsonr(user, system).statistic, abs=1e-12)


def test_a_qe_that_ran_into_its_timeout_is_no_whole_execution() -> None:
    whole, cut = _lab([1, 2, 3, 4], [1, 2, 3, 4]), _lab([900], [1], outcome=Ended.TIMEOUT)
    result = hold(lab_of(RecordedRun([whole, cut])), "ttp2")
    assert (result.qes, named(result, "Ia").n) == (4, 4)
    assert named(result, "Ia").r == pytest.approx(1.0, abs=1e-15)


def test_one_dbms_can_be_looked_at_alone() -> None:
    frames = lab_of(
        RecordedRun([_lab([1, 2, 3], [1, 2, 3])], dbms="postgresql"),
        RecordedRun([_lab([1, 2, 3], [9, 2, 5])], dbms="mariadb"),
    )
    result = hold(frames, "ttp2", dbms="postgresql")
    assert (result.dbmses, result.qes) == (("postgresql",), 3)
    with pytest.raises(UsageError, match="oracle: these runs have no QE of it"):
        hold(frames, "ttp2", dbms="oracle")
