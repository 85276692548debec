"""From a measurement's records to the rows of the lab's tables, and from those to their digests."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from tare.dbms.base import Role, Server
from tare.dbms.known import server_of
from tare.dbms.redaction import redacted_text
from tare.experiment.specification import Specification
from tare.lab.schema import ELAPSED_PARTS, OVERALL_TICKS, PROCESS_COUNTERS
from tare.measure.differences import was_active
from tare.measure.environment import MachineFacts
from tare.measure.records import QE, Elapsed, MachineUse, Outcome, ProcessUse

Row = dict[str, Any]

COUNTING = (Outcome.OK, Outcome.TIMEOUT)
"""A QE with another outcome is kept as a row without a number: it is tried again."""


def experiment_row(spec: Specification, toml: str, now: str) -> Row:
    return {
        "name": spec.name,
        "scenario": spec.scenario,
        "description": clean(spec.description),
        "specification": clean(toml),
        "specification_hash": digest(spec.model_dump(mode="json")),
        "created_at": now,
    }


def dbms_row(server: Server) -> Row:
    facts = {"name": server.dbms, "version": server.version, "settings": dict(server.settings)}
    return {**facts, "digest": digest(facts)}


def machine_row(machine: MachineFacts) -> Row:
    facts = asdict(machine)
    return {"facts": facts, "digest": digest(facts)}


def qe_row(qe: QE, number: int | None) -> Row:
    """All of `qe` but what names its run and its Q@C. `number` is kept only for a QE that counts."""
    counts = not qe.warmup and qe.outcome in COUNTING
    return {
        "run_order": qe.index,
        "number": number if counts else None,
        "warmup": qe.warmup,
        "outcome": qe.outcome.value,
        "error": clean(qe.error),
        "started_at": qe.started_at,
        "plan_fingerprint": qe.plan_fingerprint,
        "row_count": qe.row_count,
        "answer_hash": qe.answer_hash,
        "leader_pid": qe.leader_pid,
        "leader_how": clean(qe.leader_how),
        "instructions": qe.instructions,
        "online_cpus": qe.online_cpus,
        "births": qe.births,
        "exits": qe.exits,
        "exits_lost": qe.exits_lost,
        "unaccounted_births": qe.unaccounted_births,
        **_leader(qe),
        **overall(qe.machine),
        **_residence(qe),
        **_own(qe),
    }


def process_rows(qe: QE, dbms: str) -> list[Row]:
    """Return rows of the processes that were active, and of all query processes."""
    return [_process(use, dbms) for use in qe.processes if is_kept(use)]


def is_kept(use: ProcessUse) -> bool:
    return use.role is Role.QUERY or was_active(use)


def cpu_rows(machine: MachineUse | None) -> list[Row]:
    if machine is None:
        return []
    return [{"cpu": cpu.get("cpu", place), **_ticks(cpu)} for place, cpu in enumerate(machine.cpus)]


def overall(machine: MachineUse | None) -> Row:
    if machine is None:
        return {}
    return {
        **{f"overall_{name}": value for name, value in _ticks(machine.total).items()},
        "overall_forks": machine.forks,
        "overall_context_switches": machine.context_switches,
    }


def digest(facts: Mapping[str, Any]) -> str:
    """SHA-256 of the canonical JSON, hexadecimal."""
    canonical = json.dumps(facts, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(canonical.encode()).hexdigest()


def clean(text: str | None) -> str | None:
    """Return text that every engine can store: PostgreSQL takes no NUL, and no engine half a surrogate pair."""
    if text is None:
        return None
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()


def _process(use: ProcessUse, dbms: str) -> Row:
    return {
        "pid": use.pid,
        "ppid": use.ppid,
        "comm": clean(use.comm),
        "cmdline": clean(redacted_text(use.cmdline)),
        "role": use.role.value,
        "dbms": _whose(use, dbms),
        "fate": use.fate.value,
        "kernel": use.kernel,
        "cpu": use.cpu,
        "threads": use.threads,
        **{name: getattr(use, name) for name in PROCESS_COUNTERS},
    }


def _whose(use: ProcessUse, dbms: str) -> str | None:
    if use.role in (Role.QUERY, Role.UTILITY):
        return dbms
    return server_of(use.comm) if use.role is Role.DAEMON and not use.kernel else None


def _leader(qe: QE) -> Row:
    if qe.elapsed is None:
        return {}
    return {
        "wall_ns": qe.elapsed.wall_ns,
        **{f"leader_{name}": getattr(qe.elapsed, name) for name in ELAPSED_PARTS},
        "leader_run_queue_ns": _queued(qe.elapsed),
        "leader_why": {part: lack.as_json() for part, lack in qe.elapsed.why.items()},
    }


def _queued(elapsed: Elapsed) -> int | None:
    """Return the run-queue wait as the kernel counts it, with the time in which the quota was used up."""
    if elapsed.run_queue_ns is None:
        return None
    return elapsed.run_queue_ns + (elapsed.throttled_ns or 0)


def _residence(qe: QE) -> Row:
    if qe.residence is None:
        return {}
    return {
        "page_cache_bytes": qe.residence.page_cache_bytes,
        "file_bytes": qe.residence.file_bytes,
        "buffer_bytes": qe.residence.buffer_bytes,
        "page_cache_how": clean(qe.residence.page_cache_how),
        "buffer_how": clean(qe.residence.buffer_how),
        "buffers_emptied": clean(qe.residence.buffers_emptied),
    }


def _own(qe: QE) -> Row:
    if qe.own is None:
        return {}
    return {
        "own_cpu_ns": qe.own.cpu_ns,
        "own_snapshots_ns": qe.own.snapshots_ns,
        "own_rss_bytes": qe.own.rss_bytes,
    }


def _ticks(of: Mapping[str, int]) -> Row:
    return {name: of.get(name) for name in OVERALL_TICKS}
