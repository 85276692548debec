"""Ground truth for chosen QEs: a kernel trace, held beside the counters and never in their place.

Every switch and wake-up of the DBMS's threads and every block request of the machine are recorded around
the QE and cut to its clocked interval. A trace that contradicts itself, or the kernel's own count of
slices, is rejected with the reason; its figures stay to be looked at.

    with auditing(rig, Auditor()) as auditor:
        qe = time_single_qe(rig, …)
    qe.audit         # what the lab keeps
    auditor.last     # threads, disk and CPUs one by one

What it cannot tell: a block request belongs to the thread that submitted it. For whom a thread of the
kernel submits (write-back, a journal) is not known, nor who else waits for a page that another one asked
for. PostgreSQL's I/O workers submit for a backend: their requests are in `Audited.dbms`, not in the
query's. Threads of io_uring belong to their process and are counted with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

from tare._probe import Recording, ThreadParts, Tracer, Weighed
from tare.dbms.base import Role
from tare.errors import PrivilegeMissing, cause_and_step
from tare.measure.records import Audit, ProcessUse
from tare.measure.rig import Rig

_DBMS = (Role.QUERY, Role.UTILITY)


@dataclass(frozen=True, slots=True)
class Audited:
    """Trace of a QE in full. `query` and `dbms`: of the query's processes, and of all of the DBMS."""

    audit: Audit
    leader: ThreadParts | None
    query: Weighed | None
    dbms: Weighed | None
    recording: Recording | None


class Auditor:
    """Traces each QE of the rig that it is given to."""

    def __init__(self) -> None:
        self.last: Audited | None = None
        self._tracer: Tracer | None = None
        self._recording: Recording | None = None
        self._refused = ""

    def begin(self, rig: Rig) -> None:
        """Call when the DBMS rests and its processes are those of this QE."""
        self._recording, self._refused = None, ""
        ours = [
            process.tgid
            for process in rig.probe.processes().processes()
            if rig.session.role(process, rig.leader) in _DBMS
        ]
        try:
            self._tracer = Tracer(ours)
        except OSError as error:
            self._refused = cause_and_step(error)[0]

    def end(self) -> None:
        """Call when it rests again. Does nothing the second time."""
        tracer, self._tracer = self._tracer, None
        if tracer is None:
            return
        try:
            self._recording = tracer.finish()
        except OSError as error:
            self._refused = cause_and_step(error)[0]

    def judge(self, rig: Rig, clock_1: int, clock_2: int, processes: Iterable[ProcessUse]) -> Audit:
        """Return the trace's figures for the time between the clocks (CLOCK_MONOTONIC, ns)."""
        recording, self._recording = self._recording, None
        if recording is None:
            refused = Audit(False, f"no trace was taken: {self._refused or 'the QE did not get that far'}")
            self.last = Audited(refused, None, None, None, None)
            return refused
        pids = {role: [p.pid for p in processes if p.role is role] for role in _DBMS}
        query = recording.weigh(clock_1, clock_2, pids[Role.QUERY])
        dbms = recording.weigh(clock_1, clock_2, pids[Role.QUERY] + pids[Role.UTILITY])
        audit = _audit(query)
        leader = next((t for t in query.threads if t.tid == rig.leader.tid), None)
        self.last = Audited(audit, leader, query, dbms, recording)
        return audit


def _audit(query: Weighed) -> Audit:
    threads = query.threads
    stolen = sum(t.stolen_ns for t in threads)
    return Audit(
        accepted=not query.why,
        why="; ".join(query.why) or None,
        cpu_ns=sum(t.on_cpu_ns for t in threads) - stolen,
        run_queue_ns=sum(t.run_queue_ns for t in threads),
        block_io_ns=sum(t.block_io_ns for t in threads),
        sleep_ns=sum(t.sleep_ns + t.other_wait_ns for t in threads),
        steal_ns=stolen,
        disk_ns=query.disk.in_flight_ns,
        disk_requests=query.disk.requests,
        switch_ins=sum(t.switch_ins for t in threads),
        slices=sum(t.slices for t in threads),
    )


SomeAuditor = TypeVar("SomeAuditor", bound=Auditor)


@contextmanager
def auditing(rig: Rig, auditor: SomeAuditor) -> Iterator[SomeAuditor]:
    """Traces every QE weighed on `rig` within the block. Raises PrivilegeMissing where nothing can be traced."""
    try:
        Tracer([rig.leader.pid]).stop()
    except OSError as error:
        what, step = cause_and_step(error)
        raise PrivilegeMissing(
            f"no kernel trace can be taken here: {what}", step or "leave the audit out"
        ) from error
    rig.auditor = auditor
    try:
        yield auditor
    finally:
        rig.auditor = None
        auditor.end()
