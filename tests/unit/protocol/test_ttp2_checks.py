"""Each of TTPv2's sanity checks is violated by what it is for, and by nothing less."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tare.dbms.base import Role
from tare.measure.records import QE, Outcome
from tare.protocol.check import Judgement, Unjudged
from tare.protocol.ttp2.checks import QE_CHECKS
from tare.protocol.ttp2.qatc_checks import EXCESSIVE_VARIATION, POSSIBLE_RESULT_CACHE
from tare.protocol.ttp2.single import Case, measures_of, measures_of_qatc
from tests.unit.protocol.qe_records import MS, TICK_NS, elapsed, machine, process, qe


def case(of: QE, tied: tuple[int, ...] = ()) -> Case:
    return Case(of, tuple(p for p in of.processes if p.role is Role.QUERY), tied, TICK_NS)


VIOLATIONS: list[tuple[int, str, Callable[[], Case]]] = [
    (1, "a fork that nothing accounts for", lambda: case(qe(unaccounted_births=1))),
    (1, "a lost exit record", lambda: case(qe(exits_lost=2))),
    (2, "daemons above the DBMS",
     lambda: case(qe(processes=(process(), process(9, Role.DAEMON, user_ticks=7))))),
    (3, "no tick at all", lambda: case(qe(processes=(process(user_ticks=0, system_ticks=0),)))),
    (4, "more ticks than the clock had", lambda: case(qe(elapsed=elapsed(45, 44)))),
    (5, "system ticks alone", lambda: case(qe(processes=(process(user_ticks=0, system_ticks=6),)))),
    (6, "processes above the machine", lambda: case(qe(machine=machine(user=4, system=0)))),
    (7, "machine above the clock", lambda: case(qe(machine=machine(user=7, system=0)))),
    (8, "waited longer than it ran", lambda: case(qe(processes=(process(block_io_ns=60 * MS),)))),
    (9, "more iowait than delay", lambda: case(qe(machine=machine(iowait=1)))),
    (10, "waited without a switch",
     lambda: case(qe(processes=(process(block_io_ns=1, voluntary_switches=0),)))),
    (11, "a tie", lambda: case(qe(), tied=(100, 101))),
    (12, "no query process", lambda: case(qe(processes=(process(role=Role.DAEMON),)))),
    (13, "a time-out", lambda: case(qe(outcome=Outcome.TIMEOUT))),
]  # fmt: skip


def test_the_table_has_its_thirteen_checks_in_order() -> None:
    assert [check.number for check in QE_CHECKS] == list(range(1, 14))


@pytest.mark.parametrize("check", QE_CHECKS, ids=lambda check: check.name)
def test_a_clean_qe_passes(check) -> None:  # type: ignore[no-untyped-def]
    assert check.verdict(measures_of(case(qe()))) is None


@pytest.mark.parametrize(("number", "what", "make"), VIOLATIONS, ids=[v[1] for v in VIOLATIONS])
def test_a_violation_is_found_with_evidence(number: int, what: str, make: Callable[[], Case]) -> None:
    found = QE_CHECKS[number - 1].verdict(measures_of(make()))
    assert isinstance(found, str), what
    assert any(sign.isdigit() for sign in found) or number in (12, 13)


def test_every_check_has_its_violation_here() -> None:
    assert {number for number, _, _ in VIOLATIONS} == {check.number for check in QE_CHECKS}


def test_rounding_to_whole_ticks_is_no_violation_of_query_time() -> None:
    assert QE_CHECKS[3].verdict(measures_of(case(qe(elapsed=elapsed(57, 55))))) is None  # 6 ticks in 5.7


def test_parallel_workers_may_use_more_cpu_than_wall() -> None:
    workers = tuple(process(100 + i, user_ticks=50) for i in range(2))
    wide = qe(processes=workers, online_cpus=2, elapsed=elapsed(520, 510))
    assert QE_CHECKS[3].verdict(measures_of(case(wide))) is None
    narrow = qe(processes=workers, online_cpus=1, elapsed=elapsed(520, 510))
    assert isinstance(QE_CHECKS[3].verdict(measures_of(case(narrow))), str)


@pytest.mark.parametrize(
    ("number", "of"),
    [
        (1, qe(unaccounted_births=None)),
        (6, qe(machine=None)),
        (7, qe(machine=None)),
        (8, qe(processes=(process(block_io_ns=None),))),
        (9, qe(online_cpus=2, machine=machine(iowait=9))),
        (10, qe(processes=(process(block_io_ns=None),))),
    ],
)
def test_what_cannot_be_judged_is_not_called_a_violation(number: int, of: QE) -> None:
    assert isinstance(QE_CHECKS[number - 1].verdict(measures_of(case(of))), Unjudged)


def ticks(*values: int) -> list[Case]:
    return [case(qe(i, processes=(process(user_ticks=v, system_ticks=0),))) for i, v in enumerate(values)]


def walls(*values: float) -> list[Case]:
    return [case(qe(i, elapsed=elapsed(v, 1))) for i, v in enumerate(values)]


def excessive_variation(cases: list[Case]) -> Judgement:
    return EXCESSIVE_VARIATION.verdict(measures_of_qatc([measures_of(one) for one in cases]))


def possible_result_cache(cases: list[Case]) -> Judgement:
    return POSSIBLE_RESULT_CACHE.verdict(measures_of_qatc([measures_of(one) for one in cases]))


def test_excessive_variation_is_more_than_a_fifth_of_the_mean() -> None:
    assert excessive_variation(ticks(100, 100, 100, 60, 140, 100)) is not None
    assert excessive_variation(ticks(100, 100, 100, 90, 110, 100)) is None


def test_a_first_qe_far_above_all_later_ones_hints_at_a_result_cache() -> None:
    assert possible_result_cache(walls(500, 100, 101, 99, 100)) is not None
    assert possible_result_cache(walls(101.1, 100, 101, 99, 100)) is None
    assert possible_result_cache(walls(500, 100, 501, 99, 100)) is None
