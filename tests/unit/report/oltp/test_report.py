"""The report says of a run what happened, and does not soften it."""

from __future__ import annotations

import json
from dataclasses import replace

import jsonschema
import pytest

from tare.report.charts.chart import MOST_MARKS, Chart
from tare.report.document import as_json
from tare.report.kit import markdown, page, terminal
from tare.report.kit.shell import MOST_BYTES
from tare.report.oltp.build import Built, build
from tare.report.oltp.document import OltpReport
from tare.report.oltp.story import story
from tare.report.schema import schema_text
from tare.workload.oltp.measures.names import NAMES
from tare.workload.oltp.verdict import Unsuccessful
from tests.unit.report.oltp import sample


def text(built: Built, width: int = 80) -> str:
    return terminal.render(story(built), width)


def as_markdown(built: Built) -> str:
    return markdown.render(story(built))


def html(built: Built) -> str:
    return page.render(story(built))


# The document ---------------------------------------------------------------------------
@pytest.mark.parametrize("which", ["built", "hostile"])
def test_every_report_keeps_to_the_schema_and_reads_back(which: str, request: pytest.FixtureRequest) -> None:
    report: OltpReport = request.getfixturevalue(which).report
    written = as_json(report)
    jsonschema.validate(
        json.loads(written), json.loads(schema_text("oltp-v1")), cls=jsonschema.Draft202012Validator
    )
    assert OltpReport.model_validate_json(written) == report


def test_a_report_of_an_earlier_version_is_read(built: Built) -> None:
    written = json.loads(as_json(built.report))
    for name in ("invalid_facts", "not_judged_facts", "freezes", "restarted"):
        del written[name]
    for name in ("sustained_rate", "sustained_off"):
        del written["held"][name]
    jsonschema.validate(written, json.loads(schema_text("oltp-v1")), cls=jsonschema.Draft202012Validator)
    earlier = OltpReport.model_validate(written)
    assert (earlier.held.sustained_rate, earlier.freezes, earlier.all) == (None, [], built.report.all)


def test_a_stall_is_seen_in_full_in_response_times_and_hardly_in_service_times(built: Built) -> None:
    every = built.report.all
    response, service = every.response.quantiles["p99"], every.service.quantiles["p99"]
    assert response is not None
    assert service is not None
    assert response.value > 1000
    assert service.value < 100
    assert [(one.first, one.last) for one in built.report.stalls] == [(12, 13)]


def test_response_is_lag_and_service_in_the_mean(built: Built) -> None:
    for one in (built.report.all, *built.report.types):
        parts = [of.mean.value for of in (one.response, one.lag, one.service) if of.mean]
        assert parts[0] == pytest.approx(parts[1] + parts[2], rel=1e-6)


def test_a_quiet_second_of_a_low_rate_is_no_stall() -> None:
    found = build(sample.run(rates=(0.4,), seconds=30, stall=None), 1, lab="lab.db")
    assert any(one.ended == 0 for one in found.report.seconds if one.number >= 0)
    assert (found.report.stalls, found.report.freezes) == ([], [])


def test_a_short_run_gives_its_figures_without_intervals(hostile: Built) -> None:
    mean = hostile.report.all.response.mean
    assert mean is not None
    assert mean.low is None
    assert hostile.report.precision["response"].batches is None
    assert "an interval takes 10" in text(hostile, 200)


def test_the_checks_name_their_failing_rows(hostile: Built) -> None:
    first = hostile.report.checks[0]
    assert (first.before, first.after) == (0, 5)
    assert first.rows[0] == ["1", "300000.00", "299999.00"]


def test_a_closed_loop_is_told_from_an_open_one() -> None:
    found = build(sample.run(closed=True, seconds=12, stall=None), 1, lab="lab.db")
    assert "closed loop" in found.report.headline[0]
    assert "start lag" not in text(found)
    assert {one.name for one in found.charts if isinstance(one, Chart)} >= {"latency", "throughput", "tail"}
    assert "no measure of what users wait" in html(found)


# Words ------------------------------------------------------------------------------------
def test_validity_comes_first(built: Built, hostile: Built) -> None:
    assert hostile.report.headline[0].startswith(
        "This run is not valid: it missed its rate: 97.10/s were started"
    )
    for render in (text, as_markdown):
        assert render(hostile).find("not valid") < render(hostile).find("Response time")


def test_the_difference_of_response_and_service_is_said_in_a_sentence(built: Built) -> None:
    for said in (text(built), as_markdown(built), html(built)):
        assert "the wait for a free connection" in " ".join(said.split())


def test_the_box_says_what_was_asked_and_what_was_held(built: Built) -> None:
    shown = as_markdown(built)
    for line in (
        "| schedule | 300/s for 30 s, then 400/s for 30 s |",
        "| connections | 16 |",
        "| rate of success | 349.8/s (0.048% less) |",
        "| rate of starts | 350/s |",
        "| stood still | 2 s from 12.0 s on |",
        "| isolation at work | read committed |",
        "| driver's memory | 21.0 MiB at most |",
        "| conditions on the data | all 2 hold |",
    ):
        assert line in shown


def test_measures_bear_the_names_that_are_read_in_their_order(built: Built) -> None:
    names = [one.name for one in built.report.measures]
    assert names == [name for name in NAMES if name in names]
    assert all(one.unit == NAMES[one.name].unit for one in built.report.measures)


def test_the_data_can_be_loaded_again_with_their_options(built: Built) -> None:
    assert built.report.commands[0] == (
        "tare bench oltp load tpcc --db URL --scale 4 --seed 18446744073709551615 --option fixed_lines=15"
    )
    assert "| workload | tpcc, scale 4, fixed\\_lines = 15 |" in as_markdown(built)


def test_a_norm_and_conditions_left_out_are_in_the_command_that_makes_the_run_again() -> None:
    run = sample.run(seconds=5, rates=(100.0,), stall=None)
    response = run.outcome.all.response.model_copy(update={"norm": 3.0})
    outcome = run.outcome.model_copy(
        update={"all": run.outcome.all.model_copy(update={"response": response})}
    )
    found = build(replace(run, outcome=outcome, before=(), after=()), 1, lab="lab.db")
    assert found.report.commands[1].endswith("--seed 7 --norm 3 --no-check")


def test_the_run_can_be_made_again_from_the_report(built: Built) -> None:
    assert built.report.commands[1] == (
        "tare bench oltp run tpcc --db URL --rate 300:30s,400:30s --arrivals constant --connections 16 --warmup 5s "
        "--drain 10s --isolation read-committed --tries 3 --seed 7"
    )


def test_no_markup_of_the_data_is_markup_in_the_report(hostile: Built) -> None:
    page = html(hostile)
    assert "<script>document.title" not in page
    assert "&lt;script&gt;document.title" in page
    assert "<h1>Sample &lt;b&gt;run&lt;/b&gt;</h1>" in page
    assert "<script>" not in as_markdown(hostile).replace("\\<", "")


# Charts and page -----------------------------------------------------------------------------
def test_every_chart_keeps_to_the_number_of_marks(built: Built) -> None:
    drawn = [one for one in built.charts if isinstance(one, Chart)]
    assert [one.name for one in drawn][:5] == ["latency", "throughput", "backlog", "distribution", "tail"]
    for one in drawn:
        assert 0 < one.marks <= MOST_MARKS, one.name


def test_an_hour_is_put_together_to_points_that_keep_the_highest(built: Built) -> None:
    run = sample.run()
    spike = run.seconds[20].model_copy(
        update={"response": run.seconds[20].response.model_copy(update={"max": 9_000_000_000})}  # type: ignore[union-attr]
    )
    many = tuple(
        (spike if number == 1800 else run.seconds[10]).model_copy(update={"number": number})
        for number in range(3600)
    )
    found = build(replace(run, seconds=many), 1, lab="lab.db")
    latency = next(one for one in found.charts if isinstance(one, Chart) and one.name == "latency")
    assert latency.marks <= 2 * MOST_MARKS
    highest = max(row["ms"] for row in latency.data["latency"] if row["times"] == "response")
    assert highest == 9000
    assert "Each point stands for 6 seconds" in latency.caption
    assert len(html(found).encode()) < MOST_BYTES


def test_measures_that_rested_are_named_and_not_drawn(built: Built) -> None:
    page = html(built)
    assert "0 throughout: deadlocks." in page
    assert "server_block_io: the kernel accounts no delays" in page


def test_a_run_in_which_nothing_ended_still_has_a_report() -> None:
    run = sample.run(seconds=5, rates=(100.0,), stall=(0.0, 4.0))
    nothing = {
        "counts": run.outcome.all.counts.model_copy(update={"committed": 0, "rolled_back": 0, "lost": 500})
    }
    empty = run.outcome.model_copy(
        update={
            "types": (),
            "mix": (),
            "all": run.outcome.all.model_copy(
                update={**nothing, "response": sample.distribution(_NONE), "service": sample.distribution(_NONE),
                        "lag": sample.distribution(_NONE)}
            ),
            "invalid": (Unsuccessful(offered=500, deadlocks=0, serialization_failures=0, lock_timeouts=0,
                                     lost=500, errors=0),),
        }
    )  # fmt: skip
    seconds = tuple(
        one.model_copy(update={"response": None, "service": None, "counts": nothing["counts"]})
        for one in run.seconds
    )
    found = build(replace(run, outcome=empty, seconds=seconds, measures=()), 1, lab="lab.db")
    assert "No transaction ended." in html(found)
    assert "lost with their connection" in text(found, 200)
    as_markdown(found)


_NONE = sample.np.array([], dtype=sample.np.float64)
