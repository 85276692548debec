"""The exact protocol: what adds up, what does not, and what cannot be told."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tare.measure.lacks import Cause, Lack
from tare.measure.records import QE
from tare.protocol.check import Finding, Judgement, Unjudged
from tare.protocol.exact import check
from tare.protocol.exact.checks import NO_NEGATIVE_PARTS, PARTS_ADD_UP, SLICES_MATCH
from tare.protocol.exact.single import measures_of
from tests.unit.protocol.qe_records import MS, elapsed, qe, resources, run_of


def parts_add_up(of: QE) -> Judgement:
    return PARTS_ADD_UP.verdict(measures_of(of))


def no_negative_parts(of: QE) -> Judgement:
    return NO_NEGATIVE_PARTS.verdict(measures_of(of))


def timeline_trusted(of: QE) -> Judgement:
    return SLICES_MATCH.verdict(measures_of(of))


def test_a_clean_run_violates_nothing() -> None:
    assert [finding.violated for finding in check(run_of([55.0, 56.0, 54.0]))] == [0, 0, 0]


def test_three_per_cent_left_over_is_told_with_its_size() -> None:
    found = parts_add_up(qe(elapsed=elapsed(100, 90, residue_ns=3 * MS)))
    assert found == "+3.00 ms of 100.00 ms are in no part (+3.0%)"


def test_a_surplus_counts_like_a_lack() -> None:
    assert isinstance(parts_add_up(qe(elapsed=elapsed(100, 90, residue_ns=-3 * MS))), str)


def test_below_a_millisecond_nothing_is_held_against_a_short_query() -> None:
    assert parts_add_up(qe(elapsed=elapsed(2, 1, residue_ns=900_000))) is None


def test_a_missing_part_makes_no_violation() -> None:
    lower_tier = elapsed(
        100, 90, sleep_ns=None, steal_ns=None, residue_ns=9 * MS, why={"sleep": Lack(Cause.NO_TRACE)}
    )
    assert isinstance(parts_add_up(qe(elapsed=lower_tier)), Unjudged)


def test_a_negative_part_is_named() -> None:
    assert no_negative_parts(qe(elapsed=elapsed(sleep_ns=-2 * MS))) == "sleep is -2.000 ms"
    assert no_negative_parts(qe(resources=resources(read_bytes=-512))) == "read_bytes is -512"


def test_microseconds_below_zero_are_the_distance_between_two_readings() -> None:
    assert no_negative_parts(qe(elapsed=elapsed(steal_ns=-20_000))) is None


def test_a_trace_that_lost_events_is_found() -> None:
    why = Lack(Cause.TRACE_REJECTED, switch_ins=9, slices=10)
    lost = elapsed(sleep_ns=None, steal_ns=None, why={"sleep": why, "steal": why})
    evidence = timeline_trusted(qe(elapsed=lost))
    assert evidence == "scheduler trace rejected: 9 switch-ins traced, 10 counted by the kernel"


def test_a_tier_without_a_trace_lost_nothing() -> None:
    none = elapsed(
        sleep_ns=None, steal_ns=None, why={"sleep": Lack(Cause.NO_TRACE, "this tier has no scheduler trace")}
    )
    assert isinstance(timeline_trusted(qe(elapsed=none)), Unjudged)


def test_a_server_that_died_leaves_nothing_to_judge() -> None:
    finding: Finding = check([qe(elapsed=None, resources=None)])[0]
    assert (finding.judged, finding.violated) == (0, 0)
    assert finding.unjudged is not None


@given(st.integers(1_000, 10**12), st.floats(-0.1, 0.1))
def test_the_bound_is_two_per_cent_or_one_millisecond_whichever_is_more(wall: int, share: float) -> None:
    residue = int(wall * share)
    found = parts_add_up(qe(elapsed=elapsed(wall_ns=wall, residue_ns=residue)))
    assert (found is not None) == (abs(residue) > max(0.02 * wall, 1_000_000))
