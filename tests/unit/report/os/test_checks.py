"""Conservation: what agrees within 1%, what does not, and what is too small or unknown."""

from __future__ import annotations

from typing import Any

import pytest

from tare.os.level import Level
from tare.os.record import Call, PageCache
from tare.report.os.build import build_report
from tare.report.os.document import Check, CheckKind, CheckResult, OsReport
from tests.unit.report.os.sample import MS, PAGE, PAGES, back_end, observation, window


def report(role: dict[str, Any], **changes: Any) -> OsReport:
    """Report on one back end with these changes."""
    return build_report(observation(window(roles=(back_end(**role),)), **changes), "0.1.0", "")


def checks(role: dict[str, Any], **changes: Any) -> dict[CheckKind, Check]:
    return {check.kind: check for check in report(role, **changes).checks}


def test_a_whole_observation_agrees_with_the_kernel() -> None:
    found = checks({})
    assert set(found) == set(CheckKind)
    assert found.pop(CheckKind.WRITE_BYTES).result is CheckResult.TOO_SMALL
    assert {check.result for check in found.values()} == {CheckResult.WITHIN}
    assert found[CheckKind.SCHEDULER].observed == found[CheckKind.SCHEDULER].expected == 340 * MS
    assert found[CheckKind.PAGES].expected == PAGES * PAGE
    whole = report({})
    assert whole.check_results == {CheckResult.WITHIN: 5, CheckResult.TOO_SMALL: 1}
    assert whole.is_reliable


def test_a_residue_beyond_1_percent_is_outside() -> None:
    parts = back_end().times.model_copy(update={"present_ns": 1020 * MS})
    found = checks({"times": parts})[CheckKind.PARTS]
    assert (found.result, found.ratio) == (CheckResult.OUTSIDE, pytest.approx(1000 / 1020))
    assert not report({"times": parts}).is_reliable


def test_bytes_of_calls_that_the_kernel_counts_are_compared_and_no_others() -> None:
    calls = {
        "read": Call(count=1, bytes=PAGES * PAGE - 500_000),
        "sendfile": Call(count=1, bytes=500_000),
        "recvfrom": Call(count=1, bytes=9_000_000),
        "sendto": Call(count=1, bytes=9_000_000),
    }
    kept = back_end().kept.model_copy(update={"write_chars": 250_000})
    found = checks({"calls": calls, "kept": kept})
    assert found[CheckKind.READ_BYTES].ratio == 1
    assert (found[CheckKind.WRITE_BYTES].ratio, found[CheckKind.WRITE_BYTES].result) == (
        2,
        CheckResult.OUTSIDE,
    )


def test_bytes_that_the_kernel_has_none_of_have_no_ratio() -> None:
    kept = back_end().kept.model_copy(update={"read_chars": 0})
    found = checks({"kept": kept})[CheckKind.READ_BYTES]
    assert (found.ratio, found.result) == (None, CheckResult.OUTSIDE)


def test_pages_are_compared_only_where_caches_were_emptied_and_mapped_ones_count() -> None:
    cache = PageCache(requested=100, missed=100, ahead=PAGES - 1100, mapped=1000)
    assert checks({"cache": cache})[CheckKind.PAGES].ratio == 1
    assert CheckKind.PAGES not in checks({"cache": cache}, cold=False)


def test_what_is_unknown_is_not_checked() -> None:
    unknown = dict.fromkeys(("run_delay_ns", "read_chars", "write_chars", "read_bytes"))
    kept = back_end().kept.model_copy(update=unknown)
    assert set(checks({"kept": kept})) == {CheckKind.PARTS, CheckKind.PAGES}
    assert set(checks({"calls": None, "disk": None})) == {CheckKind.PARTS, CheckKind.SCHEDULER}
    parts = back_end().times.model_copy(update={"sleep_ns": None})
    assert CheckKind.PARTS not in checks({"times": parts})


def test_level_proc_checks_nothing_against_itself() -> None:
    assert checks({"calls": None, "cache": None, "disk": None}, level=Level.PROC) == {}
