"""Text that a user reads at the end of a run: the report's own story."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tare.cli.oltp_json import document
from tare.lab.oltp import load, record
from tare.lab.store import open_lab
from tare.report.kit import terminal
from tare.report.oltp.build import build
from tare.report.oltp.story import story
from tare.workload.oltp.run import OltpRun, Phase
from tare.workload.oltp.verdict import Abandoned, RateTooFew
from tests.unit.report.oltp import sample

QUIET = sample.run(stall=None)


def told(run: OltpRun, width: int = 100) -> str:
    return terminal.render(story(build(run, 3, lab="lab.db")), width)


def test_an_invalid_run_says_so_before_anything_else() -> None:
    run = sample.run()
    broken = replace(run, outcome=run.outcome.model_copy(update={"invalid": (Abandoned(count=3),)}))
    assert told(broken).startswith(
        "✗ This run is not valid: 3 transactions did not end while the driver waited"
    )
    assert told(QUIET).startswith(
        "✓ Valid: 350/s were asked for and 349.8/s succeeded (0.048% less), over 60 s.\n"
    )


def test_a_run_that_is_too_short_to_be_judged_is_neither_valid_nor_invalid() -> None:
    run = sample.run()
    short = replace(run, outcome=run.outcome.model_copy(update={"not_judged": (RateTooFew(offered=25),)}))
    assert told(short).startswith(
        "! This run is too short to be judged: its rate was not judged: 25 transactions are too few"
    )
    assert not short.is_valid
    assert not short.invalid


def test_what_a_run_prints_is_what_its_report_prints(tmp_path: Path) -> None:
    run = sample.run()
    with open_lab(str(tmp_path / "lab.db"), create=True) as lab:
        number = record(lab, run)
        again = load(lab, number)
    before, after = (terminal.render(story(build(one, number, lab="lab.db"))) for one in (run, again))
    assert before == after


@pytest.mark.parametrize("width", [60, 80, 200])
@pytest.mark.parametrize("make", [sample.run, sample.hostile], ids=lambda make: make.__name__)
def test_nothing_is_wider_than_the_terminal_and_nothing_is_cut(make, width: int) -> None:  # type: ignore[no-untyped-def]
    shown = told(make(), width)
    assert max(map(len, shown.splitlines())) <= width
    assert "…" not in shown


def test_text_is_printed_without_drawing_a_chart(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("tare.report.oltp.charts")]:
        monkeypatch.delitem(sys.modules, name)
    told(sample.run())
    assert not [name for name in sys.modules if name.startswith("tare.report.oltp.charts")]


def test_every_kind_of_end_that_happened_has_a_column_and_no_other() -> None:
    ends = told(sample.run()).partition("What became of the transactions")[2].partition("Requested and")[0]
    for word in ("offered", "committed", "rolled back", "deadlocks", "retries"):
        assert word in ends
    assert "shed" not in ends


def test_the_seed_that_sends_the_same_again_is_named() -> None:
    assert "data 18446744073709551615, run 7 (--seed 7 sends the same again)" in told(sample.run())


def test_what_chance_made_of_a_poisson_rate_is_told_from_what_was_asked() -> None:
    run = QUIET
    poisson = replace(run, asked=replace(run.asked, arrivals="poisson", phases=(Phase(360.0, 60.0),)))
    assert "350/s were due (Poisson arrivals at 360/s) and 349.8/s succeeded" in told(poisson)
    assert "350/s were asked for and 349.8/s succeeded" in told(run)


def test_a_condition_that_fails_is_named_with_its_rows() -> None:
    run = replace(sample.run(), after=sample.checks(failing=2))
    text = told(run)
    failing = next(one for one in run.after if one.failing)
    assert text.startswith(f"✗ This run is not valid: condition {failing.name} does not hold after the run")
    assert f"Condition {failing.name} does not hold in 2 rows" in text
    for row in failing.rows:
        assert all(cell in text for cell in row)


def test_a_run_that_could_not_be_recorded_names_no_lab() -> None:
    assert "recorded" not in terminal.render(story(build(sample.run(), 0, lab="lab.db")))


def test_the_document_has_the_figures_of_the_distribution_and_the_distribution_itself() -> None:
    run = sample.run()
    made = json.loads(json.dumps(document(run, 3), allow_nan=False))
    response = made["all"]["response"]
    assert response["p99_ms"] == run.outcome.all.response.quantile(0.99) / 1e6  # type: ignore[operator]
    assert response["distribution"]["count"] == run.outcome.all.response.count
    assert made["run"] == 3
    assert made["valid"] is True
    assert len(made["seconds"]) == len(run.seconds)
