"""Two profiles beside each other: what became of the variance, and by which function."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import pytest

from tare.protocol.profile.difference import difference
from tare.report.document import as_json
from tare.report.kit import markdown, page, terminal
from tare.report.kit.deliver import deliver
from tare.report.profile.comparison import Comparison, build
from tare.report.profile.comparison_story import answer, story, verdict
from tests.unit.report.profile import sample


def compared(flush: float, n: int = 3000, **after: object) -> Comparison:
    """A flush takes so much of what it took before."""
    names: dict[int, str] = after.get("names", {})  # type: ignore[assignment]
    found = difference(
        sample.measured(n, 1, names=names), sample.measured(n, 2, flush=flush, names=names), replicates=200
    )
    return build(sample.ABOUT, sample.ABOUT.model_copy(update={"name": "pg-after"}), found)


@pytest.fixture(scope="module")
def faster() -> Comparison:
    return compared(0.3)


def test_the_verdict_says_how_much_is_left_and_whose_part_went(faster: Comparison) -> None:
    said = verdict(faster)
    assert re.fullmatch(r"The variance fell to \d+% \(\d+–\d+%\) of what it was\.", said[0])
    assert said[1].startswith("Of the variance before, by own shares: LWLockAcquireOrWait −")


def test_changes_of_all_functions_add_up_to_that_of_the_variance(faster: Comparison) -> None:
    ratio = faster.variance_ratio
    assert ratio is not None
    assert math.fsum(one.change.value for one in faster.functions if one.change) == pytest.approx(
        ratio.value - 1
    )


def test_two_profiles_of_the_same_load_have_no_established_change() -> None:
    said = verdict(compared(1.0))
    assert said[0].startswith("No change of the variance is established: it is ")


@pytest.mark.parametrize("width", [60, 80, 100, 140])
def test_no_line_is_longer_than_the_terminal(faster: Comparison, width: int) -> None:
    lines = terminal.render(story(faster), width).splitlines()
    assert max(map(len, lines)) <= width
    [place] = (place for place, line in enumerate(lines) if line.startswith("LWLockAcquireOrWait"))
    assert "*" in "".join(lines[place : place + 3])
    whole = " ".join(" ".join(lines).split())
    for part in (
        "before",
        "after",
        "change (95% interval)",
        "own mean",
        "calls",
        "pg-after",
        "99th percentile",
    ):
        assert part in whole


def test_a_terminal_shows_the_first_twenty_functions_and_counts_all(faster: Comparison) -> None:
    many = faster.model_copy(update={"functions": faster.functions[:1] * 30})
    lines = terminal.render(story(many), 80).splitlines()
    assert sum(line.startswith("LWLockAcquireOrWait") for line in lines) == 20
    assert "the first 20 of 30; all are in the JSON report" in lines
    assert markdown.render(story(many)).count("| LWLockAcquireOrWait |") == 30


def test_every_form_reads_back_or_is_a_page(faster: Comparison) -> None:
    assert Comparison.model_validate(json.loads(as_json(faster))) == faster
    shown = page.render(story(faster))
    assert len(shown.encode()) < page.MOST_BYTES
    assert '"name":"paired"' in shown
    assert "| LWLockAcquireOrWait |" in markdown.render(story(faster))


def test_a_page_draws_each_change_with_its_interval(faster: Comparison) -> None:
    shown = page.render(story(faster))
    assert shown.count('<span class="track">') == sum(
        function.change is not None for function in faster.functions
    )
    assert '<i class="minus"' in shown
    assert "Bars: shares; lines: their 95% intervals." in shown


def test_files_alone_print_the_verdict_and_where_they_are(
    faster: Comparison, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(tmp_path / ("long" * 30) / "d.md")
    Path(file).parent.mkdir()
    deliver(story(faster), faster, {"markdown": file, "html": None}, answer=answer(faster))
    printed = capsys.readouterr().out
    assert printed.startswith("✓ The variance fell to ")
    assert printed.endswith(f"\nmarkdown: {file}\n")
    assert "99th percentile" not in printed


def test_warnings_come_before_the_verdict(faster: Comparison) -> None:
    doubtful = faster.model_copy(update={"warnings": ["The servers differ in their versions."]})
    lines = terminal.render(story(doubtful), 80).splitlines()
    assert lines[0] == "! The servers differ in their versions."
    assert lines[2].startswith("! The variance fell to ")


def test_names_from_the_data_become_no_markup() -> None:
    hostile = story(compared(0.3, 1000, names={3: sample.HOSTILE, 7: sample.LONG}))
    shown = page.render(hostile)
    assert "<b onclick" not in shown
    assert shown.count("</script>") == 3
    for form in (shown, terminal.render(hostile), markdown.render(hostile)):
        assert "\x1b" not in form
