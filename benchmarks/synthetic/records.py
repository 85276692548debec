"""The rows of `qe`, `process` and `cpu` of one run, as columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.random import Generator
from numpy.typing import NDArray

from benchmarks.synthetic.executions import DAEMONS, QUERY, UTILITIES, Executions
from benchmarks.synthetic.hierarchy import TimedQatcs
from benchmarks.synthetic.shape import TICK_NS
from tare.dbms.base import Role
from tare.lab.schema import OVERALL_TICKS
from tare.measure.records import Fate, Outcome

Columns = dict[str, Any]

PAGE = 8192
_DAEMON_NAMES = (
    "kworker/0:1", "jbd2/sda1-8", "ksoftirqd/0", "rcu_preempt", "kswapd0", "kcompactd0", "systemd-journal",
    "cron", "sshd", "khugepaged",
)  # fmt: skip
_NAMES = ("query", "checkpointer", "writer", "logwriter", "purge", *_DAEMON_NAMES, "tare")
_STEADY, _STARTED, _STOPPED, _PHANTOM = range(4)
_FATES = (Fate.STEADY, Fate.STARTED, Fate.STOPPED, Fate.PHANTOM)
_UNSTEADY = 0.04  # of the daemons' rows


def records(
    random: Generator, qatcs: TimedQatcs, one: Executions, first_qe: int
) -> dict[str, Columns]:  # fmt: skip
    n = len(one.qatc)
    ids = np.arange(first_qe, first_qe + n)
    process, sums = _processes(random, qatcs, one, ids)
    overall = _overall(one)
    return {
        "qe": _qes(random, qatcs, one, ids, overall, sums),
        "process": process,
        "cpu": {"qe_id": ids, "cpu": np.zeros(n, np.int64), **overall},
    }


def _overall(one: Executions) -> Columns:
    known = {
        "user": one.overall_user, "system": one.overall_system, "idle": one.idle, "iowait": one.iowait,
        "softirq": one.softirq,
    }  # fmt: skip
    none = np.zeros(len(one.qatc), np.int64)
    return {name: known.get(name, none) for name in OVERALL_TICKS}


def _processes(
    random: Generator, qatcs: TimedQatcs, one: Executions, ids: NDArray[np.int64]
) -> tuple[Columns, Mapping[str, NDArray[np.int64]]]:
    row, slot = np.nonzero(one.present)
    n = len(row)
    user, system = one.user[row, slot], one.system[row, slot]
    query = slot == QUERY
    is_utility = np.isin(slot, UTILITIES)
    is_daemon = np.isin(slot, DAEMONS)
    told = one.told[row]

    fate = np.where(
        is_daemon & (random.random(n) < _UNSTEADY), random.choice((_STARTED, _STOPPED, _PHANTOM), n), _STEADY
    )
    blocked = np.where(query, one.block_io[row], random.poisson(0.08, n) * (user + system > 0))
    block_io_ns = blocked * TICK_NS + random.integers(0, TICK_NS * 4 // 10, n) * (blocked > 0)
    run_ns = np.maximum(20_000, (user + system) * TICK_NS + random.integers(-4_000_000, 4_000_001, n))
    run_ns[query] = np.minimum(run_ns[query], one.wall_ns[row[query]] * 9 // 10)
    run_ns[query] = np.minimum(
        run_ns[query], np.maximum(20_000, one.wall_ns[row[query]] - block_io_ns[query])
    )
    left = np.maximum(0, one.wall_ns[row] - run_ns - block_io_ns)
    run_queue_ns = np.where(query, left // 3, random.integers(0, 100_000, n))
    voluntary = random.poisson(np.where(query, 5 + 3 * np.minimum(blocked, 10_000), 4)) + 1
    involuntary = random.poisson(np.where(query, 1 + 0.05 * (user + system), 0.3))
    reads = random.poisson(np.where(query, 10 + 2 * blocked + 0.5 * system, 3))
    writes = random.poisson(np.where(query, 1 + 0.1 * system, 1.5))
    user_ns = run_ns * user // np.maximum(1, user + system)
    kernel = is_daemon & (slot < DAEMONS[0] + 6)

    columns = {
        "qe_id": ids[row],
        "pid": np.where(query, 20_000 + qatcs.run, 100 + slot * 10),
        "ppid": np.where(kernel, 2, 1),
        "comm": _text(slot, (qatcs.dbms, *_NAMES[1:])),
        "cmdline": _text(np.where(kernel, 1, 0), ("/usr/bin/synthetic --process", "")),
        "role": _text(
            np.select([query & told, query | is_utility, is_daemon], [0, 1, 2], 3),
            (Role.QUERY, Role.UTILITY, Role.DAEMON, Role.EXECUTOR),
        ),
        "dbms": _text(np.where(query | is_utility, 0, -1), (qatcs.dbms,)),
        "fate": _text(fate, _FATES),
        "kernel": kernel,
        "cpu": np.zeros(n, np.int64),
        "threads": np.ones(n, np.int64),
        "user_ticks": user,
        "system_ticks": system,
        "user_ns": user_ns,
        "system_ns": run_ns - user_ns,
        "guest_ns": np.zeros(n, np.int64),
        "run_ns": run_ns,
        "run_queue_ns": run_queue_ns,
        "slices": voluntary + involuntary + 1,
        "block_io_ns": block_io_ns,
        "min_faults": random.poisson(np.where(query, 20 + 0.5 * np.minimum(user, 2_000), 3)),
        "maj_faults": random.poisson(np.where(query, 0.02, np.where(is_daemon, 0.01, 0))),
        "voluntary_switches": voluntary,
        "involuntary_switches": involuntary,
        "read_calls": reads,
        "write_calls": writes,
        "read_chars": reads * PAGE,
        "write_chars": writes * PAGE,
        "read_bytes": blocked * 8 * PAGE,
        "write_bytes": np.where(is_daemon, writes * PAGE, 0),
    }
    size = len(ids)

    def count(chosen: NDArray[np.bool_]) -> NDArray[np.int64]:
        return np.bincount(row[chosen], minlength=size)

    def of_query(values: NDArray[np.int64]) -> NDArray[np.int64]:
        found = np.zeros(size, np.int64)
        found[row[query]] = values[query]
        return found

    sums = {
        "births": count(np.isin(fate, (_STARTED, _PHANTOM))),
        "exits": count(np.isin(fate, (_STOPPED, _PHANTOM))),
        "switches": np.bincount(row, voluntary + involuntary, size).astype(np.int64),
        "run_ns": of_query(run_ns),
        "user_ns": of_query(user_ns),
        "block_io_ns": of_query(block_io_ns),
        "run_queue_ns": of_query(run_queue_ns),
    }
    return columns, sums


def _qes(
    random: Generator,
    qatcs: TimedQatcs,
    one: Executions,
    ids: NDArray[np.int64],
    overall: Columns,
    sums: Mapping[str, NDArray[np.int64]],
) -> Columns:
    n = len(ids)
    none = np.zeros(n, np.int64)
    lost = random.integers(1, 4, n) * (one.trouble == 1)
    residue = random.integers(0, 2_000, n)
    told = sums["run_ns"] + sums["block_io_ns"] + sums["run_queue_ns"]
    residue = np.minimum(residue, np.maximum(0, one.wall_ns - told))
    started = np.datetime64("2026-01-01T00:00:00", "ns") + (np.cumsum(one.wall_ns) - one.wall_ns)
    plans = pa.array(qatcs.plan, pa.string())
    return {
        "id": ids,
        "qatc_id": qatcs.id[one.qatc],
        "run_id": np.full(n, qatcs.run),
        "run_order": np.arange(n),
        "attempt": np.ones(n, np.int64),
        "number": one.number,
        "warmup": np.zeros(n, np.bool_),
        "outcome": _text(one.timed_out.astype(np.int64), (Outcome.OK, Outcome.TIMEOUT)),
        "started_at": pa.array(np.char.add(np.datetime_as_string(started, unit="ms"), "Z")),
        "plan_fingerprint": plans.take(pa.array(one.qatc)),
        "row_count": 1 + qatcs.cardinality[one.qatc] // 1000,
        "answer_hash": plans.take(pa.array(one.qatc)),
        "wall_ns": one.wall_ns,
        "leader_cpu_ns": sums["run_ns"],
        "leader_user_ns": sums["user_ns"],
        "leader_system_ns": sums["run_ns"] - sums["user_ns"],
        "leader_interrupt_ns": none,
        "leader_block_io_ns": sums["block_io_ns"],
        "leader_run_queue_ns": sums["run_queue_ns"],
        "leader_sleep_ns": np.maximum(0, one.wall_ns - told - residue),
        "leader_steal_ns": none,
        "leader_residue_ns": residue,
        "leader_why": _text(none, ("{}",)),
        "leader_pid": pa.array(np.full(n, 20_000 + qatcs.run), mask=~one.told),
        "leader_how": _text(np.where(one.told, 0, -1), ("synthetic",)),
        "instructions": sums["run_ns"] * 5 // 2,
        **{f"overall_{name}": values for name, values in overall.items()},
        "overall_forks": sums["births"] + lost,
        "overall_context_switches": sums["switches"],
        "online_cpus": np.ones(n, np.int64),
        "births": sums["births"] + lost,
        "exits": sums["exits"],
        "exits_lost": none,
        "unaccounted_births": lost,
        "page_cache_bytes": none,
        "file_bytes": qatcs.cardinality[one.qatc] * 40,
        "buffer_bytes": none,
        "own_cpu_ns": random.integers(2_000_000, 4_000_000, n),
        "own_snapshots_ns": random.integers(1_000_000, 2_000_000, n),
        "own_rss_bytes": np.full(n, 90 << 20),
    }


def _text(codes: NDArray[np.int64], values: tuple[str, ...]) -> pa.Array:
    """The value of each code; -1 is NULL."""
    indices = pa.array(codes.astype(np.int32), mask=codes < 0)
    return pa.array([str(value) for value in values]).take(indices)
