"""The measures of a QE that protocols judge by, each defined once (TTPv2 §3.5, §3.6, Table IX).

`PER_TYPE` are summed over the processes of a type: query, utility, daemon, executor. `DEFINED` are
computed from what a QE has. `derived` makes them for a whole lab, `single` for one QE in plain Python.
"""

from __future__ import annotations

from typing import Final

from tare.protocol.named import Defined, greatest, least

NS_PER_MS: Final = 1_000_000

TICK_COUNTERS: Final = ("user_ticks", "system_ticks")
WHOLE_TICKS: Final = {"block_io_ticks": "block_io_ns", "guest_ticks": "guest_ns"}
"""Counters in ns that TTPv2 has in ticks: the whole ticks of each process, as /proc/PID/stat would show."""
COUNTS: Final = ("maj_faults", "voluntary_switches", "involuntary_switches", "read_calls", "write_calls")
PER_TYPE: Final = {
    **dict.fromkeys(("query", "utility", "daemon"), (*TICK_COUNTERS, *WHOLE_TICKS, *COUNTS)),
    "executor": (*TICK_COUNTERS, "guest_ticks", "maj_faults"),
}
"""Quantities by type of process; of the executor only those that sums over the whole machine need."""
TYPES: Final = tuple(PER_TYPE)
EXACT: Final = ("run_ns", "run_queue_ns", "block_io_ns")
"""Quantities of the query processes that the exact protocol adds up."""

BUSY: Final = ("user", "nice", "system", "irq", "softirq")
"""The modes in which a CPU computes (TTPv2 §7.3)."""

MODEL: Final = (
    *(
        f"{kind}_{measure}"
        for kind in ("query", "utility", "daemon")
        for measure in (
            "user_ticks", "system_ticks", "block_io_ticks", "voluntary_switches", "involuntary_switches",
            "read_calls", "write_calls",
        )
    ),
    "overall_user", "overall_system", "overall_iowait", "overall_softirq",
)  # fmt: skip
"""The 25 measures of TTPv2's causal model (Figure 3)."""


def _cpu(kind: str) -> Defined:
    user, system = f"{kind}_user_ticks", f"{kind}_system_ticks"
    return Defined(f"{kind}_cpu_ticks", (user, system), lambda m: getattr(m, user) + getattr(m, system))


DEFINED: Final = (
    Defined("wall_ticks", ("wall_ns", "tick_ns"), lambda m: m.wall_ns / m.tick_ns),
    Defined("measured_ms", ("wall_ns",), lambda m: m.wall_ns / NS_PER_MS),
    *(_cpu(kind) for kind in TYPES),
    Defined(
        "dbms_cpu_ticks", ("query_cpu_ticks", "utility_cpu_ticks"),
        lambda m: m.query_cpu_ticks + m.utility_cpu_ticks,
    ),
    Defined(
        "busy_ticks", tuple(f"overall_{mode}" for mode in BUSY),
        lambda m: m.overall_user + m.overall_nice + m.overall_system + m.overall_irq + m.overall_softirq,
    ),
    Defined(
        "width", ("query_threads", "online_cpus"), lambda m: greatest(1, least(m.query_threads, m.online_cpus))
    ),
    Defined("query_could_ticks", ("wall_ticks", "width"), lambda m: m.wall_ticks * m.width),
    Defined("machine_could_ticks", ("wall_ticks", "online_cpus"), lambda m: m.wall_ticks * m.online_cpus),
    Defined("run_ticks", ("worker_run_ns", "tick_ns"), lambda m: m.worker_run_ns / m.tick_ns),
    Defined("residue_share", ("leader_residue_ns", "wall_ns"), lambda m: m.leader_residue_ns / m.wall_ns),
)  # fmt: skip
"""In this order: a later one may need an earlier one. `width` is how many threads of the query could run."""

MISSING: Final = {
    **dict.fromkeys((f"overall_{mode}" for mode in BUSY), "the overall measures of /proc/stat are missing"),
    "overall_iowait": "the overall measures of /proc/stat are missing",
    "busy_ticks": "the overall measures of /proc/stat are missing",
    **dict.fromkeys(
        ("wall_ns", "wall_ticks", "query_could_ticks", "machine_could_ticks"), "the measured time is missing"
    ),
    **dict.fromkeys(
        ("query_block_io_ticks", "query_longest_block_io", "query_never_switched"),
        "block-I/O delay is missing: delay accounting was off, or on only later",
    ),
    "unaccounted_births": "no exit records in this tier: short processes cannot be told",
}
"""Reasons for which a check cannot be made."""


def part_of_ticks(name: str, measure: str) -> Defined:
    """A part of a QE's time, ms, from a measure in ticks."""
    return Defined(
        f"part_{name}_ms", (measure, "tick_ns"), lambda m: getattr(m, measure) * m.tick_ns / NS_PER_MS
    )
