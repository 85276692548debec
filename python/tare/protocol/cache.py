"""Was the cache as cold or as warm as asked? Judged from what was resident before each QE and read in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tare.dbms.base import Role
from tare.measure.choices import CacheState
from tare.measure.records import QE, FileResidence

LEFTOVER_SHARE = 0.02  # of the database's files
LEFTOVER_BYTES = {"page_cache_bytes": 2 << 20, "buffer_bytes": 16 << 20}
"""A server that comes up and a session that connects read their catalogue again: so much of it, or 2% of
the files, may be resident where a cache was emptied (half of a database that is smaller). The page cache
is emptied last; the buffers of MariaDB hold some 5 MB of system pages after a restart."""

READ_AGAIN_BYTES = 2 << 20  # read from memory after a cold start: catalogues, configuration
MOST_NAMED = 3

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
        proofs += [_emptied(qes, "page_cache_bytes", "page cache"), *_query_files(qes)]
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


def _query_files(qes: Sequence[QE]) -> list[Proof]:
    """Return proofs for the files outside the database that the query reads, if these were sought."""
    readings = [(qe, qe.residence) for qe in qes if qe.residence and qe.residence.query_files_how]
    proofs = []
    files = [(qe, file) for qe, seen in readings for file in seen.query_files]
    if files:
        proofs.append(_outside(files))
    if unseen := [qe for qe, seen in readings if not seen.query_files_complete]:
        worst = max(unseen, key=_from_memory)
        if _from_memory(worst) > READ_AGAIN_BYTES:
            proofs.append(
                Proof(
                    None,
                    f"QE {worst.index} read {_size(_from_memory(worst))} from files in memory, and a file that it "
                    "opened may have been missed: as root, Tare sees every open",
                )
            )
    return proofs


def _outside(files: Sequence[tuple[QE, FileResidence]]) -> Proof:
    """Each file by itself: a large one must not hide a small one that was warm."""
    unseen = next((file for _, file in files if file.resident_bytes is None), None)
    if unseen:
        return Proof(None, f"{unseen.path}, which the query reads, cannot be looked at")
    excess, worst_qe, worst = max(
        ((_held(file) - _allowed(file.size_bytes or 0), qe, file) for qe, file in files),
        key=lambda found: found[0],
    )
    if excess > 0:
        return Proof(
            False,
            f"{worst.path}, which the query reads: {_size(_held(worst))} resident before QE {worst_qe.index}",
        )
    paths = sorted({file.path for _, file in files})
    most = max(_held(file) for _, file in files)
    named = ", ".join(paths[:MOST_NAMED]) + (
        f" and {len(paths) - MOST_NAMED} more" if len(paths) > MOST_NAMED else ""
    )
    return Proof(True, f"outside the database, evicted too: at most {_size(most)} resident of {named}")


def _held(file: FileResidence) -> int:
    return file.resident_bytes or 0


def _allowed(size: int) -> float:
    return max(LEFTOVER_SHARE * size, min(LEFTOVER_BYTES["page_cache_bytes"], size / 2))


def _from_memory(qe: QE) -> int:
    """Bytes that query processes read by system calls beyond what came from disk and what they wrote. 0 if unknown."""
    query = [process for process in qe.processes if process.role is Role.QUERY]
    use = qe.resources
    from_disk = (use.read_bytes or 0) + (use.utility_read_bytes or 0) if use else 0
    return sum((p.read_chars or 0) - (p.write_chars or 0) for p in query) - from_disk


def _emptied(qes: Sequence[QE], field: str, name: str) -> Proof:
    worst, worst_allowed, worst_at = -1, 0, 0
    for qe in qes:
        held = None if qe.residence is None else getattr(qe.residence, field)
        if held is None or qe.residence is None:
            return Proof(None, f"{name}: not visible")
        files = qe.residence.file_bytes or 0
        if field == "buffer_bytes":  # they hold pages of attached databases, too
            files += sum(file.size_bytes or 0 for file in qe.residence.query_files)
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
