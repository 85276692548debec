"""The audit of a QE says the same as the counters, and its parts add up to the wall time to the nanosecond."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tare._probe import Probe, ProbeError
from tare.dbms.registry import find
from tare.measure.audit import Audited, Auditor, auditing
from tare.measure.choices import CacheState
from tare.measure.machine.settings import MachineSettings, delay_accounting_on
from tare.measure.qe import time_single_qe
from tare.measure.query import Query
from tare.measure.records import QE
from tare.measure.rig import Rig

pytestmark = [pytest.mark.bpf, pytest.mark.root]

QUERY = Query("sums", "SELECT grp, count(*), sum(val) FROM numbers GROUP BY grp ORDER BY grp")


@pytest.fixture(autouse=True)
def _bpf() -> None:
    try:
        Probe("bpf").close()
    except ProbeError as error:
        pytest.skip(str(error))


@pytest.fixture
def rig(url: str) -> Iterator[Rig]:
    with MachineSettings() as settings:
        delay_accounting_on(settings)
        with Rig(lambda: find(url).connect(url)) as opened:
            yield opened


def weigh(rig: Rig) -> QE:
    return time_single_qe(
        rig, QUERY, index=0, query_index=0, warmup=False, cache=CacheState.WARM, timeout_s=None
    )


def accepted(rig: Rig) -> tuple[QE, Audited]:
    """A QE whose trace was not rejected: not five in a row are."""
    with auditing(rig, Auditor()) as auditor:
        for _ in range(5):
            qe = weigh(rig)
            assert auditor.last
            assert qe.audit == auditor.last.audit
            if auditor.last.audit.accepted:
                return qe, auditor.last
    pytest.fail(f"five traces in a row were rejected: {auditor.last.audit.why}")


def test_an_audit_adds_up_and_agrees_with_the_counters_and_is_made_of_a_chosen_qe_only(rig: Rig) -> None:
    weigh(rig)
    qe, found = accepted(rig)
    leader, audit, query = found.leader, found.audit, found.query
    assert leader
    assert qe.elapsed
    waits = leader.run_queue_ns + leader.block_io_ns + leader.sleep_ns + leader.other_wait_ns
    assert leader.on_cpu_ns + waits == leader.present_ns == qe.elapsed.wall_ns

    assert query
    parts = (audit.cpu_ns, audit.steal_ns, audit.run_queue_ns, audit.block_io_ns, audit.sleep_ns)
    assert sum(part for part in parts if part is not None) == sum(t.present_ns for t in query.threads)
    assert audit.switch_ins == audit.slices
    assert audit.why is None

    # The scheduler's clock may lag behind at a switch-out: within a tick or so a preemption.
    assert qe.elapsed.cpu_ns is not None
    traced = leader.on_cpu_ns - leader.stolen_ns
    slack = 1_000_000 + 4_000_000 * (1 + leader.switch_ins)
    assert abs(traced - qe.elapsed.cpu_ns) <= slack

    assert weigh(rig).audit is None, "it was not chosen"
