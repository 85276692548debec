"""Audits without a usable trace, which state why, and the lab's columns for what an audit states."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

import pytest

from tare._probe import ProbeError, Tracer
from tare.dbms.registry import find
from tare.errors import PrivilegeMissing
from tare.lab import schema
from tare.measure.audit import Auditor, auditing
from tare.measure.choices import CacheState
from tare.measure.qe import time_single_qe
from tare.measure.query import Query
from tare.measure.records import QE, Audit, Outcome
from tare.measure.rig import Rig


@pytest.fixture
def rig(sqlite_url: str) -> Iterator[Rig]:
    with Rig(lambda: find(sqlite_url).connect(sqlite_url)) as opened:
        yield opened


def weigh(rig: Rig) -> QE:
    query = Query("count", "SELECT count(*) FROM numbers")
    return time_single_qe(
        rig, query, index=0, query_index=0, warmup=False, cache=CacheState.WARM, timeout_s=None
    )


class Refusing:
    """A kernel that lets the first trace be taken, and no later one."""

    def __init__(self, refuses: int) -> None:
        self.left = refuses

    def __call__(self, processes: Sequence[int]) -> object:
        self.left -= 1
        if self.left < 0:
            raise ProbeError("the kernel refused\n  next: be root")
        return self

    def stop(self) -> None:
        pass


def test_where_nothing_can_be_traced_the_block_is_not_entered(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tare.measure.audit.Tracer", Refusing(0))
    with pytest.raises(PrivilegeMissing, match="the kernel refused") as caught, auditing(rig, Auditor()):
        pytest.fail("entered")
    assert caught.value.next_step == "be root"
    assert rig.auditor is None


def test_a_trace_that_is_refused_later_rejects_the_audit_and_not_the_qe(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tare.measure.audit.Tracer", Refusing(1))
    with auditing(rig, Auditor()):
        qe = weigh(rig)
    assert qe.outcome is Outcome.OK
    assert qe.audit == Audit(False, "no trace was taken: the kernel refused")


def test_a_trace_of_other_processes_is_rejected(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    """The query's process is not in the trace, as if nobody had known of it."""
    try:
        Tracer([1]).stop()
    except ProbeError as error:
        pytest.skip(str(error))
    monkeypatch.setattr("tare.measure.audit.Tracer", lambda processes: Tracer([2]))
    with auditing(rig, Auditor()) as auditor:
        qe = weigh(rig)
    assert qe.audit
    assert not qe.audit.accepted
    assert qe.audit.why
    assert auditor.last
    assert auditor.last.recording is not None


def test_the_lab_has_a_column_for_each_figure() -> None:
    columns = [column.name for column in schema.audit.columns if column.name != "qe_id"]
    assert [field.name for field in dataclasses.fields(Audit)] == columns
