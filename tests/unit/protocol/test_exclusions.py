"""Every drop has its rule, every rule its evidence, and each check has a case that violates it alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest

from tare.protocol import run_protocol
from tare.protocol.exact.method import EXACT
from tare.protocol.named import complete
from tare.protocol.outcome import Outcome
from tare.protocol.ttp1.method import TTP1
from tare.protocol.ttp2.checks import QE_CHECKS
from tare.protocol.ttp2.method import TTP2
from tests.unit.protocol import violations
from tests.unit.protocol.lab_records import RecordedQatC, RecordedRun, lab_of
from tests.unit.protocol.qe_records import machine, process, qe
from tests.unit.protocol.violations import Make

PROTOCOLS = {
    "ttp2": (TTP2, violations.TTP2),
    "ttp1": (TTP1, violations.TTP1),
    "exact": (EXACT, violations.EXACT),
}


def rows(table: Any) -> list[dict[str, Any]]:
    return table.to_pyarrow().to_pylist()


def one_of_each(cases: Mapping[str, Make]) -> Outcome:
    """A lab in which each Q@C is clean but for its second QE."""
    qatcs = [
        RecordedQatC([make(1) if i == 1 else qe(i) for i in range(40)], query=number)
        for number, make in enumerate(cases.values())
    ]
    return lab_of(RecordedRun(qatcs))


@pytest.mark.parametrize("name", PROTOCOLS)
def test_each_check_has_a_case_that_violates_only_it(name: str) -> None:
    method, cases = PROTOCOLS[name]
    accept = [check.name for check in method.experiment]
    outcome = run_protocol(one_of_each(cases), name, accept=accept)
    of_qes = [row for row in rows(outcome.exclusions) if row["level"] == "qe"]
    found = {row["qatc_id"]: row["rule"] for row in of_qes if row["qe_id"] % 40 == 2}
    assert Counter(row["qatc_id"] for row in of_qes) == Counter(range(1, len(cases) + 1))
    assert [found[i] for i in range(1, len(cases) + 1)] == list(cases)


def test_the_cases_leave_out_no_check_of_ttp2_but_the_tie() -> None:
    assert {check.name for check in QE_CHECKS} - set(violations.TTP2) == {"ambiguous query process"}


def test_a_tie_drops_every_qe_of_its_qatc_and_none_other() -> None:
    def tied(i: int) -> Any:
        return qe(i, leader_pid=None, processes=(process(1), process(2)), machine=machine(user=11))

    told = RecordedQatC([qe(i) for i in range(10)])
    outcome = run_protocol(
        lab_of(RecordedRun([told, RecordedQatC([tied(i) for i in range(10)], query=1)])), "ttp2"
    )
    ties = [row for row in rows(outcome.exclusions) if row["rule"] == "ambiguous query process"]
    assert {row["qatc_id"] for row in ties} == {2}
    assert len(ties) == 10
    assert ties[0]["evidence"].startswith("2 processes tie for the highest user + system time, 1 and 2")


def test_an_exclusion_tells_the_values_that_it_rests_on() -> None:
    outcome = run_protocol(one_of_each({"iowait time": violations.TTP2["iowait time"]}), "ttp2")
    (row,) = rows(outcome.exclusions)
    assert row["evidence"] == "1 iowait ticks, 0 ticks of the query's block-I/O delay"
    assert (row["step"], row["number"], row["source"]) == ("step 2", 9, "TTPv2 Table XI")


def test_what_several_rules_hold_of_has_a_row_for_each() -> None:
    def bad(i: int) -> Any:
        return qe(i, unaccounted_births=1, exits_lost=0, machine=machine(iowait=1))

    outcome = run_protocol(one_of_each({"both": bad}), "ttp2")
    assert sorted(row["rule"] for row in rows(outcome.exclusions)) == ["ephemeral process", "iowait time"]


def test_the_definitions_use_no_measure_that_they_do_not_name() -> None:
    """A ground that read an undeclared measure would fail where that measure is missing."""
    for method, _ in PROTOCOLS.values():
        checks = (*method.experiment, *method.qe_checks, *method.qatc_checks, *method.monotonicity)
        steps = (*method.drops, *method.qatc_drops)
        for check in (*checks, *(c for step in steps for c in step.checks)):
            for ground in (*check.grounds, *((check.unless,) if check.unless else ())):
                ground.holds(_Only(ground.needs))
        for one in (*method.equations, *method.parts.values()):
            complete(dict.fromkeys(one.needs, 1), [one])


class _Only:
    """Gives 1 for the measures named, and fails for any other."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self._names = names

    def __getattr__(self, name: str) -> int:
        if name not in self._names:
            raise AssertionError(f"{name} is used and not named among {self._names}")
        return 1
