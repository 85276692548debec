"""What a user reads of a run at its end."""

from __future__ import annotations

import io
import json
from dataclasses import replace

from rich.console import Console

from tare.cli.oltp_json import document
from tare.cli.oltp_text import print_run
from tare.workload.oltp.run import OltpRun, Phase
from tests.unit.report.oltp import sample


def told(run: OltpRun) -> str:
    out = io.StringIO()
    print_run(run, "run 3 of the lab lab.db", Console(file=out, width=100, color_system=None))
    return out.getvalue()


def test_an_invalid_run_says_so_before_anything_else() -> None:
    run = sample.run()
    broken = replace(run, outcome=run.outcome.model_copy(update={"invalid": ("backlog grew",)}))
    assert told(broken).startswith("INVALID: backlog grew\n")
    assert "INVALID" not in told(run)
    assert "valid: the rate was held" in told(run)


def test_every_kind_of_end_that_happened_has_a_column_and_no_other() -> None:
    run = sample.run()
    text = told(run)
    for word in ("offered", "committed", "rolled back", "deadlocks", "retries: deadlock"):
        assert word in text
    assert "shed" not in text.split("response, ms")[0].split("transactions  ")[1]


def test_the_seed_that_sends_the_same_again_is_named() -> None:
    assert "seeds: data 18446744073709551615, run 7 (--seed 7 sends the same again)" in told(sample.run())


def test_what_chance_made_of_a_poisson_rate_is_told_from_what_was_asked() -> None:
    run = sample.run()
    poisson = replace(run, asked=replace(run.asked, arrivals="poisson", phases=(Phase(360.0, 60.0),)))
    assert "350/s were due (Poisson arrivals at 360/s) over 60 s, 350/s were started" in told(poisson)
    assert "350/s were asked for over 60 s" in told(run)


def test_a_condition_that_fails_is_named_with_its_rows() -> None:
    run = replace(sample.run(), after=sample.checks(failing=2))
    text = told(run)
    failing = next(one for one in run.after if one.failing)
    assert text.startswith(f"INVALID: condition {failing.name} does not hold after the run")
    assert f"condition {failing.name} does not hold" in text
    for row in failing.rows:
        assert all(cell in text for cell in row)


def test_the_document_has_the_figures_of_the_distribution_and_the_distribution_itself() -> None:
    run = sample.run()
    made = json.loads(json.dumps(document(run, 3), allow_nan=False))
    response = made["all"]["response"]
    assert response["p99_ms"] == run.outcome.all.response.quantile(0.99) / 1e6  # type: ignore[operator]
    assert response["distribution"]["count"] == run.outcome.all.response.count
    assert made["run"] == 3
    assert made["valid"] is True
    assert len(made["seconds"]) == len(run.seconds)
