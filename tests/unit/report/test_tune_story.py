"""The report of a tuning run: its answer first, and what a search tells beside it."""

from __future__ import annotations

from tare.report.tune.build import build
from tests.unit.tune.sample import run_record, tuning

SEARCHED = "The search took two rounds among four candidates; the figures above are of fresh blocks."


def test_the_answer_names_the_best_arm_of_each_objective_and_what_it_gives_up() -> None:
    report = build(tuning())
    assert report.search is None
    assert report.headline[0].startswith(
        "Variance: synchronous_commit=off is better, 0.49 times the baseline's [0.47, 0.52]"
    )
    assert "it gives durability up" in report.headline[0]
    assert SEARCHED not in report.headline


def test_a_search_is_told_after_the_verdicts_that_its_fresh_blocks_gave() -> None:
    report = build(tuning(searched=True))
    assert report.headline[0].startswith(
        "Variance: synchronous_commit=off is better, 0.49 times the baseline's [0.47, 0.52]"
    )
    assert report.headline[-1] == SEARCHED
    assert report.search is not None
    told = [(one.name, len(one.ratios), one.why_ended is None) for one in report.search.candidates]
    assert told == [
        ("synchronous_commit=off", 2, True),
        ("jit=off", 2, True),
        ("geqo=off", 2, False),
        ("fsync=off", 1, False),
    ]
    best = report.search.candidates[0].ratios[-1]
    assert best is not None
    assert best.blocks == 16, "of both rounds"
    assert best.low < 0.5 < best.high


def test_a_search_that_did_not_end_has_no_result_and_says_why() -> None:
    stopped = build(tuning(search_run=run_record(is_stopped=True)))
    assert stopped.headline == ("The search was stopped in round 1, so no arm has a result.",)
    assert not stopped.is_result
    over = build(tuning(search_run=run_record(is_over=True)))
    assert (
        over.headline[0]
        == "Over capacity at 80/s: the baseline itself left a backlog in round 1 of the search."
    )
    assert not over.is_result
