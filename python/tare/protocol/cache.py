"""Was the cache as cold or as warm as asked? Judged from what was resident before each QE and read in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tare.measure.choices import CacheState
from tare.measure.records import QE

LEFTOVER_SHARE = 0.02  # of the database's files
LEFTOVER_BYTES = {"page_cache_bytes": 2 << 20, "buffer_bytes": 16 << 20}
"""A server that comes up and a session that connects read their catalogue again: so much of it, or 2% of
the files, may be resident where a cache was emptied (half of a database that is smaller). The page cache
is emptied last; the buffers of MariaDB hold some 5 MB of system pages after a restart."""

WARM_READ_SHARE = 0.01  # of the database's files
WARM_READ_BYTES = 1 << 20  # or 1%: read from disk in a QE that still counts as warm (logs, catalogue)


@dataclass(frozen=True, slots=True)
class Proof:
    """`reached` is None where nothing could be seen that would prove or disprove it."""

    reached: bool | None
    evidence: str


def prove(qes: Sequence[QE], asked: CacheState) -> Proof:
    """Over the QEs of a Q@C: the worst of them decides."""
    if not qes:
        return Proof(None, "no QE was run to its end")
    if asked is CacheState.WARM:
        return _warm(qes)
    proofs = []
    if asked in (CacheState.COLD, CacheState.LUKEWARM_OS):
        proofs.append(_emptied(qes, "page_cache_bytes", "page cache"))
    if asked in (CacheState.COLD, CacheState.LUKEWARM_DBMS):
        proofs.append(_buffers(qes))
    evidence = "; ".join(proof.evidence for proof in proofs)
    if any(proof.reached is False for proof in proofs):
        return Proof(False, evidence)
    return Proof(None if any(proof.reached is None for proof in proofs) else True, evidence)


def _buffers(qes: Sequence[QE]) -> Proof:
    """By what the DBMS tells of its buffers; where it tells nothing, by how they were emptied."""
    seen = _emptied(qes, "buffer_bytes", "DBMS buffers")
    if seen.reached is not None:
        return seen
    ways = {qe.residence.buffers_emptied if qe.residence else None for qe in qes}
    if None in ways:
        return seen
    return Proof(True, f"DBMS buffers: emptied by {', '.join(sorted(way for way in ways if way))}")


def _emptied(qes: Sequence[QE], field: str, name: str) -> Proof:
    worst, worst_allowed, worst_at = -1, 0, 0
    for qe in qes:
        held = None if qe.residence is None else getattr(qe.residence, field)
        if held is None or qe.residence is None:
            return Proof(None, f"{name}: not visible")
        files = qe.residence.file_bytes or 0
        allowed = max(LEFTOVER_SHARE * files, min(LEFTOVER_BYTES[field], files / 2))
        if held - allowed > worst - worst_allowed or worst < 0:
            worst, worst_allowed, worst_at = held, int(allowed), qe.index
    reached = worst <= worst_allowed
    found = f"{name}: at most {_size(worst)} resident"
    return Proof(reached, found if reached else f"{name}: {_size(worst)} resident before QE {worst_at}")


def _warm(qes: Sequence[QE]) -> Proof:
    worst, worst_at, allowed = -1, 0, WARM_READ_BYTES
    for qe in qes:
        use = qe.resources
        if use is None or use.read_bytes is None:
            return Proof(None, "bytes read from disk are not visible")
        read = use.read_bytes + (use.utility_read_bytes or 0)
        if read > worst:
            worst, worst_at = read, qe.index
            files = (qe.residence.file_bytes if qe.residence else None) or 0
            allowed = max(WARM_READ_BYTES, int(WARM_READ_SHARE * files))
    if worst <= allowed:
        return Proof(
            True, f"no QE read more than {_size(worst)} from disk" if worst else "no QE read from disk"
        )
    return Proof(False, f"QE {worst_at} read {_size(worst)} from disk")


def _size(size: int) -> str:
    return f"{size / (1 << 20):.1f} MiB" if size >= 1 << 20 else f"{size >> 10} KiB"
