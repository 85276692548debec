"""Every message may be reworded: verdicts come from facts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tare.measure.lacks import Cause, Lack
from tare.measure.records import QE
from tare.protocol import check as checks
from tare.protocol import exact, judge, run_protocol, unmeasured
from tare.protocol.check import Finding
from tests.unit.protocol import violations
from tests.unit.protocol.lab_records import RecordedQatC, RecordedRun, lab_of
from tests.unit.protocol.qe_records import elapsed, qe

OPAQUE = "\u2588\u2588\u2588"

REJECTED = Lack(Cause.TRACE_REJECTED, switch_ins=9, slices=10)
NONE = Lack(Cause.NO_TRACE, "no such kernel")


class Sentence(Lack):
    """A lack as an older Tare stored it."""

    def as_json(self) -> Any:
        return unmeasured.reason(self)


def traced(index: int, lack: Lack | None) -> QE:
    if lack is None:
        return qe(index)
    rejected = lack.cause is Cause.TRACE_REJECTED
    residue = {"residue_ns": None} if rejected else {}
    return qe(index, elapsed=elapsed(sleep_ns=None, steal_ns=None, why={"sleep": lack}, **residue))


def lab_verdict(qes: list[QE], protocol: str = "exact") -> Mapping[str, tuple[int, int]]:
    outcome = run_protocol(lab_of(RecordedRun([RecordedQatC(qes)])), protocol)
    return {one.name: (one.judged, one.violations) for one in outcome.checks}


def verdicts(findings: tuple[Finding, ...]) -> Mapping[str, tuple[int, list[int | None]]]:
    return {one.name: (one.judged, [violation.qe for violation in one.violations]) for one in findings}


def test_a_lab_tells_a_rejected_trace_from_none_and_from_a_whole_one() -> None:
    qes = [traced(i, lack) for i, lack in enumerate([None] * 4 + [REJECTED] * 3 + [NONE] * 3)]
    assert lab_verdict(qes)["slices match"] == (7, 3)
    assert verdicts(exact.check(qes))["slices match"] == (7, [4, 5, 6])


def test_a_lab_of_an_older_tare_holds_sentences_and_gets_the_same_verdict() -> None:
    old = [Sentence(lack.cause, lack.detail, lack.switch_ins, lack.slices) for lack in (REJECTED, NONE)]
    new, then = (
        [traced(i, lack) for i, lack in enumerate([None, *pair] * 3)] for pair in ((REJECTED, NONE), old)
    )
    assert lab_verdict(then) == lab_verdict(new)
    assert lab_verdict(then)["slices match"] == (6, 3)


@pytest.mark.parametrize("protocol", ["ttp1", "ttp2", "exact"])
def test_a_lab_of_reworded_messages_gets_the_same_verdicts(
    protocol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = {"ttp1": violations.TTP1, "ttp2": violations.TTP2, "exact": violations.EXACT}[protocol]
    qes = [make(i) for i, make in enumerate(cases.values())]
    qes += [traced(len(qes) + i, lack) for i, lack in enumerate((REJECTED, REJECTED, NONE))]
    before = lab_verdict(qes, protocol)
    assert any(violated for _, violated in before.values())
    _reword(monkeypatch)
    assert lab_verdict(qes, protocol) == before


def test_executions_with_reworded_messages_get_the_same_verdicts(monkeypatch: pytest.MonkeyPatch) -> None:
    qes = [make(i) for i, make in enumerate(violations.EXACT.values())]
    qes += [traced(len(qes) + i, lack) for i, lack in enumerate((REJECTED, NONE))]
    before = verdicts(exact.check(qes))
    _reword(monkeypatch)
    found = exact.check(qes)
    assert verdicts(found) == before
    evidence = [violation.evidence for finding in found for violation in finding.violations]
    assert set(evidence) == {OPAQUE}


def _reword(monkeypatch: pytest.MonkeyPatch) -> None:
    for cause in Cause:
        monkeypatch.setitem(unmeasured.WORDS, cause, OPAQUE)  # type: ignore[arg-type]
    monkeypatch.setattr(unmeasured, "reason", lambda lack: OPAQUE)
    monkeypatch.setattr(exact.single, "reason", lambda lack: OPAQUE)
    for room in (checks, judge):
        monkeypatch.setattr(room, "say", lambda template, view: OPAQUE)
