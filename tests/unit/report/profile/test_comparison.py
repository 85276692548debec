"""Two profiles beside each other: what became of the variance, and by which function."""

from __future__ import annotations

import json
import math
import re

import pytest

from tare.protocol.profile.difference import difference
from tare.report import json as as_json
from tare.report.kit import markdown, page, terminal
from tare.report.kit.shell import MOST_BYTES
from tare.report.profile.comparison import Comparison, build
from tare.report.profile.comparison_story import story, verdict
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
    assert re.match(
        r"The variance fell to \d+% \[\d+, \d+\] of what it was\. "
        r"By own shares of the variance before: LWLockAcquireOrWait −",
        verdict(faster),
    )
    assert terminal.render(story(faster)).startswith("✓ The variance fell to")


def test_changes_of_all_functions_add_up_to_that_of_the_variance(faster: Comparison) -> None:
    ratio = faster.variance_ratio
    assert ratio is not None
    assert math.fsum(one.change.value for one in faster.functions if one.change) == pytest.approx(
        ratio.value - 1
    )


def test_two_profiles_of_the_same_load_have_no_established_change() -> None:
    assert verdict(compared(1.0)).startswith("No change of the variance is established: it is ")


@pytest.mark.parametrize("width", [60, 80, 100, 140])
def test_no_line_is_longer_than_the_terminal(faster: Comparison, width: int) -> None:
    lines = terminal.render(story(faster), width).splitlines()
    assert max(map(len, lines)) <= width
    [place] = (place for place, one in enumerate(lines) if one.startswith("LWLockAcquireOrWait"))
    assert "*" in "".join(lines[place : place + 4])
    whole = "\n".join(lines)
    headings = (
        "before",
        "after",
        "change [95%]",
        "own mean before",
        "own mean after",
        "calls before",
        "calls after",
    )
    assert all(word in whole for one in headings for word in one.split())


def test_every_form_reads_back_or_is_a_page(faster: Comparison) -> None:
    assert Comparison.model_validate(json.loads(as_json.render(faster))) == faster
    whole = page.render(story(faster))
    assert len(whole.encode()) < MOST_BYTES
    assert '"name":"paired"' in whole
    assert "| LWLockAcquireOrWait |" in markdown.render(story(faster))


def test_names_from_the_data_become_no_markup() -> None:
    found = story(compared(0.3, 1000, names={3: sample.HOSTILE, 7: sample.LONG}))
    whole = page.render(found)
    assert "<b onclick" not in whole
    assert whole.count("</script>") == 3
    for form in (whole, terminal.render(found), markdown.render(found)):
        assert "\x1b" not in form
