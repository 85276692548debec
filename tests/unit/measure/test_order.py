"""The order of a QE's steps: as the code takes them, as `ORDER` states them, as METHODOLOGY.md lists them."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tare.dbms.registry import find
from tare.measure import qe as module
from tare.measure.audit import Auditor
from tare.measure.choices import CacheState
from tare.measure.qe import ORDER, Step, time_single_qe
from tare.measure.query import Query
from tare.measure.records import Outcome
from tare.measure.rig import Rig

METHODOLOGY = Path(__file__).parents[3] / "METHODOLOGY.md"


class Trace:
    """Steps in the order in which their calls began; calls within a step are a part of it."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self._depth = 0

    @contextmanager
    def taking(self, step: Step) -> Iterator[None]:
        if self._depth == 0:
            self.steps.append(step)
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1

    def call(self, step: Step, function: Callable[..., Any]) -> Callable[..., Any]:
        def traced(*words: Any, **more: Any) -> Any:
            with self.taking(step):
                return function(*words, **more)

        return traced


class Spied:
    """An object some of whose methods are steps."""

    def __init__(self, inner: Any, trace: Trace, **steps: Step) -> None:
        self._inner, self._trace, self._steps = inner, trace, steps

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        return self._trace.call(self._steps[name], found) if name in self._steps else found


class SpiedStatement(Spied):
    def execute(self, timeout_s: float | None) -> Spied:
        with self._trace.taking(Step.EXECUTION):
            fetched = self._inner.execute(timeout_s)
        return Spied(fetched, self._trace, rows=Step.ANSWER)


def spy(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> Trace:
    """Has every instrument of the rig, and every function that a QE calls, leave its step in the trace."""
    trace = Trace()
    statement = rig.prepared
    monkeypatch.setattr(rig, "prepared", lambda sql: SpiedStatement(statement(sql), trace))
    monkeypatch.setattr(rig, "plan", trace.call(Step.PLAN, rig.plan))
    monkeypatch.setattr(rig, "settle", trace.call(Step.REST, rig.settle))
    monkeypatch.setattr(rig, "instructions", trace.call(Step.INSTRUCTIONS, rig.instructions))
    monkeypatch.setattr(rig, "mend_trace", lambda: None)
    monkeypatch.setattr(rig, "timeline", trace.call(Step.TIMELINE, rig.timeline))
    monkeypatch.setattr(rig, "probe", Spied(rig.probe, trace, processes=Step.PROCESSES, machine=Step.MACHINE))
    if rig.listener is not None:
        monkeypatch.setattr(rig, "_listener", Spied(rig.listener, trace, drain=Step.EXITS))
    if rig.auditor is not None:
        monkeypatch.setattr(rig, "auditor", Spied(rig.auditor, trace, begin=Step.AUDIT, end=Step.AUDIT))
    monkeypatch.setattr(module, "reach", trace.call(Step.CACHES, module.reach))
    monkeypatch.setattr(module, "residence", trace.call(Step.RESIDENCE, module.residence))
    monkeypatch.setattr(module, "time", Spied(time, trace, monotonic_ns=Step.CLOCK))
    return trace


@pytest.mark.parametrize("audited", [False, True], ids=["", "audited"])
@pytest.mark.parametrize("dbms", ["sqlite", "duckdb"])
def test_a_qe_takes_its_steps_in_the_documented_order(
    dbms: str, audited: bool, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = request.getfixturevalue(f"{dbms}_url")
    with Rig(lambda: find(url).connect(url)) as rig:
        rig.auditor = Auditor() if audited else None
        with monkeypatch.context() as patch:
            trace = spy(rig, patch)
            qe = time_single_qe(
                rig,
                Query("q", "SELECT count(*) FROM numbers"),
                index=0,
                query_index=0,
                warmup=False,
                cache=CacheState.WARM,
                timeout_s=None,
            )
        absent = {step for step, has in ((Step.AUDIT, audited), (Step.EXITS, rig.listener)) if not has}
    assert qe.outcome is Outcome.OK
    assert trace.steps == [step for step in ORDER if step not in absent]


def test_methodology_lists_the_same_order() -> None:
    section = METHODOLOGY.read_text().partition("## One query execution")[2]
    listed = re.search(r"^1\. .*?(?=\n\n)", section, re.DOTALL | re.MULTILINE)
    assert listed is not None
    steps = [re.sub(r"\s+", " ", step).strip() for step in listed.group().split(" ·")]
    assert steps == [
        f"{number}. {'**clock**' if step is Step.CLOCK else step}" for number, step in enumerate(ORDER, 1)
    ]
