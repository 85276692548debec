"""TTPv2's equations, and which Q@Cs get a time."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.dbms.base import Role
from tare.measure.records import QE
from tare.protocol.ttp2 import IOWAIT_NOT_APPLICABLE, time_of
from tare.protocol.ttp2.equations import io_calc, io_calc_of_type, time_calc_ms
from tare.protocol.ttp2.query_process import identify
from tests.unit.protocol.qe_records import TICK_NS, elapsed, machine, process, qe

counts = st.integers(0, 10_000)


def ten() -> list[QE]:
    return [qe(i) for i in range(10)]


def test_equation_1_and_2_on_the_first_execution_of_table_ix() -> None:
    assert io_calc(57, 40) == 37
    assert time_calc_ms(148, 15, 37, TICK_NS) == 2000


def test_a_tick_need_not_be_ten_milliseconds() -> None:
    assert time_calc_ms(148, 15, 37, 4_000_000) == 800


@given(counts, counts, counts, counts)
def test_equation_3_shares_out_exactly_the_iowait_there_was(q: int, u: int, d: int, iowait: int) -> None:
    shares = [io_calc_of_type(own, q, u, d, iowait) for own in (q, u, d)]
    taken = q + u + d - sum(shares)
    assert taken == pytest.approx(iowait if q + u + d else 0, abs=1e-6)


def test_a_clean_qatc_has_the_median_of_its_times() -> None:
    found = time_of(ten(), TICK_NS)
    assert (found.time_ms, found.reason) == (60, None)


def test_fewer_than_six_qes_give_no_time_and_say_so() -> None:
    found = time_of(ten()[:5], TICK_NS)
    assert found.time_ms is None
    assert found.reason == "5 of 5 QEs are left, 6 are needed"
    assert time_of(ten()[:5], TICK_NS, min_qes=5).time_ms == 60


def test_the_reason_names_the_checks_that_dropped_the_qes() -> None:
    both = (process(), process(9, Role.DAEMON, user_ticks=8))
    noisy = [qe(i, processes=both, machine=machine(user=13), elapsed=elapsed(140, 55)) for i in range(7)]
    found = time_of([*noisy, *(qe(i) for i in range(7, 10))], TICK_NS)
    assert found.time_ms is None
    assert found.reason is not None
    assert "3 of 10 QEs are left" in found.reason
    assert "DBMS time (7)" in found.reason


def test_a_query_of_two_ticks_is_too_short() -> None:
    short = [
        qe(i, elapsed=elapsed(20, 18), processes=(process(user_ticks=1, system_ticks=0),),
           machine=machine(user=1, system=0)) for i in range(10)
    ]  # fmt: skip
    assert "2.00 ticks; more than 2 are needed" in (time_of(short, TICK_NS).reason or "")


def test_without_delay_accounting_there_is_no_time() -> None:
    blind = [qe(i, processes=(process(block_io_ns=None),)) for i in range(10)]
    found = time_of(blind, TICK_NS)
    assert "block-I/O delay" in (found.reason or "")
    assert set(found.samples_ms) == {None}


def test_on_more_cpus_the_time_is_computed_and_the_deviation_is_reported() -> None:
    found = time_of([qe(i, online_cpus=2) for i in range(10)], TICK_NS)
    assert found.time_ms == 60
    assert IOWAIT_NOT_APPLICABLE in {deviation.name for deviation in found.deviations}
    assert IOWAIT_NOT_APPLICABLE not in {d.name for d in time_of(ten(), TICK_NS).deviations}


def test_no_qes_no_time() -> None:
    assert time_of([], TICK_NS).reason == "no QE was run to its end"


class TestQueryProcess:
    """The paper's way needs no help from the server; what the server tells comes first."""

    def untold(self, *processes: object) -> list[QE]:
        return [dataclasses.replace(qe(i), leader_pid=None, processes=processes) for i in range(6)]

    def test_the_server_s_word_is_taken_where_it_is_given(self) -> None:
        found = identify(ten())
        assert (found.way, found.how) == ("told", "pg_backend_pid()")

    def test_else_it_is_the_one_with_the_highest_total(self) -> None:
        found = identify(
            self.untold(process(1, Role.UTILITY, user_ticks=2), process(2, Role.UTILITY, user_ticks=9))
        )
        assert found.way == "paper"
        assert {p.pid for ps in found.processes for p in ps} == {2}

    def test_a_process_that_misses_one_qe_is_no_candidate(self) -> None:
        qes = self.untold(process(1, Role.UTILITY, user_ticks=2), process(2, Role.UTILITY, user_ticks=9))
        qes[3] = dataclasses.replace(qes[3], processes=(process(1, Role.UTILITY),))
        assert {p.pid for ps in identify(qes).processes for p in ps} == {1}

    def test_none_in_every_qe_is_none_at_all(self) -> None:
        qes = [dataclasses.replace(qe(i), leader_pid=None, processes=(process(i),)) for i in range(6)]
        assert time_of(qes, TICK_NS).reason == "no query process is in every QE"

    def test_a_tie_is_ambiguous_and_drops_every_qe(self) -> None:
        found = time_of(self.untold(process(1), process(2)), TICK_NS)
        assert found.query_process.tied == (1, 2)
        assert all(found.dropped)

    def test_a_daemon_is_never_the_query_process(self) -> None:
        found = identify(self.untold(process(1), process(2, Role.DAEMON, user_ticks=99)))
        assert {p.pid for ps in found.processes for p in ps} == {1}
