"""The nine items of TTPv2 §9 and the two paragraphs: what the data say, and no more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from tare.protocol.outcome import CheckCount, Level, Outcome, PostCheck, Precision, Remaining
from tare.report.conditions.document import Run
from tare.report.experiment.document import Statement
from tare.report.experiment.statement import NAMES, statement
from tare.report.words import two_digits

MACHINE = {
    "cpu_model": "Cortex-X", "usable_cpus": 1, "memory_bytes": 4 << 30, "hypervisor": None,
    "operating_system": "Debian GNU/Linux 12 (bookworm)", "kernel": "6.1.0", "storage": "an NVMe disk",
}  # fmt: skip

CHECKS = (
    CheckCount(1, "missing queries", "TTPv2 Table X", Level.EXPERIMENT, 555_850, 0, None),
    CheckCount(5, "steal time", "TTPv2 Table X", Level.EXPERIMENT, 555_850, 0, None),
    CheckCount(1, "ephemeral process", "TTPv2 Table XI", Level.QE, 555_850, 40, None),
)

PAPER = Outcome(
    protocol="ttp2", title="TTPv2", citation="Currim et al. 2016", tick_ns=10_000_000, min_qes=6, checks=CHECKS,
    accepted=(), stopped=None,
    remaining=(
        Remaining("at start", "XIII", 555_850, 55_585, 0, 0),
        Remaining("after step 2", "XIII", 515_892, 55_181, 39_958, 404),
        Remaining("after step 3-(iv)", "XIII", 505_000, 53_385, 10_892, 1_796),
    ),
    post=(
        PostCheck(1, "excessive variation", "XIV", 0.0025, "share", None),
        PostCheck(2, "strict monotonicity", "XIV", 0.0068, "share", None),
        PostCheck(3, "relaxed monotonicity", "XIV", 0.0035, "share", None),
    ),
    precision=Precision(0.96, 9.4, 0.023, 0.021), deviations=(), coefficients={}, times=None, qes=None,
    exclusions=None,
)  # fmt: skip
"""TTPv2's own figures (Tables XIII and XIV)."""


def run(number: int = 1, **changes: Any) -> Run:
    facts: dict[str, Any] = {
        "id": number, "uuid": "ab" * 16, "experiment": "e", "scenario": "onepass", "dbms": "postgresql",
        "version": "18.1", "settings": {}, "machine": 0, "state": "done", "said": None, "cache": "cold",
        "qes_per_qatc": 10, "timeout_ms": None, "started_at": "2025-01-01T00:00:00+00:00", "ended_at": None,
        "tier": "bpf", "tick_ms": 10.0, "online_cpus": 1, "tare": "0.1.0", "means": {}, "deviations": [],
        "queries": 1, "qatcs": 1, "same_plan": 0, "failed_qatcs": 0, "qes": 10,
    }  # fmt: skip
    return Run(**{**facts, **changes})


def said(
    outcome: Outcome, runs: Sequence[Run] = (), machines: Sequence[dict[str, Any]] = (MACHINE,)
) -> Statement:
    return statement(outcome, runs or [run()], machines, ("user", "system", "io"))


def item(statement: Statement, number: int) -> str:
    return statement.items[number - 1].text


def test_the_papers_figures_give_the_papers_percentages() -> None:
    text = said(PAPER).paragraphs[1]
    assert "7.2% of the 555,850 QEs and 4.0% of the 55,585 Q@Cs were dropped" in text
    assert "0.25% of the retained Q@Cs" in text
    assert "0.68% of adjacent Q@C pairs violated strict monotonicity" in text
    assert "0.35% violated relaxed monotonicity" in text


def test_there_are_nine_items_in_two_paragraphs_and_nothing_is_said_twice() -> None:
    found = said(PAPER)
    assert [one.number for one in found.items] == list(range(1, 10))
    assert [one.name for one in found.items] == list(NAMES)
    assert len(found.paragraphs) == 2
    assert " ".join(found.paragraphs) == " ".join(one.text for one in found.items)
    assert all(one.complete for one in found.items)


def test_a_clean_run_says_that_no_run_violated_anything_and_nothing_deviated() -> None:
    assert "No run (1 in all) violated any of the two experiment-wide" in item(said(PAPER), 7)
    assert "no deviation" in item(said(PAPER), 6)


def test_a_violation_that_was_accepted_is_counted_and_listed_as_a_deviation() -> None:
    broken = replace(CHECKS[1], violations=12, judged=400)
    found = said(replace(PAPER, checks=(CHECKS[0], broken), accepted=("steal time",)), [run(1), run(2)])
    assert "one was violated over two runs: “steal time” (12 of 400)" in item(found, 7)
    assert "violations of the check “steal time” were accepted" in item(found, 6)


def test_a_check_that_could_not_be_judged_is_never_called_passed() -> None:
    unjudged = replace(CHECKS[1], judged=0, unjudged="steal is not known here")
    found = said(replace(PAPER, checks=(CHECKS[0], unjudged)))
    assert "those that could be judged" in item(found, 7)
    assert "One check could not be judged: “steal time” (steal is not known here)." in item(found, 7)
    assert not found.items[6].complete


def test_a_stopped_analysis_reports_no_drops_and_no_post_checks() -> None:
    broken = replace(CHECKS[0], violations=10)
    found = said(replace(PAPER, checks=(broken,), stopped="10 missing queries", remaining=(), post=()))
    assert "This stopped the analysis (10 missing queries), so no time is reported." in item(found, 7)
    assert "%" not in found.paragraphs[1]
    assert not found.items[7].complete
    assert not found.items[8].complete


def test_deviations_of_the_protocol_and_of_every_run_are_listed_once() -> None:
    outcome = replace(PAPER, deviations=("two CPUs were online.",))
    found = item(said(outcome, [run(1, deviations=["cron ran"]), run(2, deviations=["cron ran"])]), 6)
    assert found == "The protocol was followed with two deviations: (1) two CPUs were online; (2) cron ran."


def test_hardware_that_was_not_recorded_is_named_as_such() -> None:
    found = said(PAPER, machines=[{**MACHINE, "storage": None}])
    assert "disk, board and network are not recorded" in item(found, 2)
    assert not found.items[1].complete


def test_every_machine_is_named_once() -> None:
    found = item(said(PAPER, machines=[MACHINE, MACHINE, {**MACHINE, "cpu_model": "Xeon"}]), 2)
    assert found.count("Cortex-X") == 1
    assert "Xeon" in found


def test_a_post_check_without_a_value_says_why() -> None:
    post = (replace(PAPER.post[0], value=None, reason="no Q@C was retained"), *PAPER.post[1:])
    found = said(replace(PAPER, post=post))
    assert "excessive variation is not known (no Q@C was retained)" in item(found, 9)
    assert not found.items[8].complete


@pytest.mark.parametrize(
    ("share", "text"),
    [(0, "0%"), (0.0718, "7.2%"), (0.04, "4.0%"), (0.0025, "0.25%"), (0.235, "24%"), (1, "100%"),
     (0.9996, "more than 99%"), (0.0000123, "0.0012%"), (0.00000004, "0.0000040%")],
)  # fmt: skip
def test_percentages_have_two_significant_digits(share: float, text: str) -> None:
    assert two_digits(share) == text
