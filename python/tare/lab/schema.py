"""The lab's one schema: the eight-level hierarchy of TTPv2 Fig. 2, from scenario down to QE.

scenario, experiment → dbms → machine → run → query → qatc → qe, and below a QE what was read of it:
the processes that were active, each CPU, the raw readings. Raw readings are kept; nothing here is
ever deleted or rewritten by an analysis. Times are ns, ticks are 1/USER_HZ s, sizes are bytes;
counters are differences over the QE, both ends of which are in `reading`. NULL: not measured.
"""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)

metadata = MetaData()

Id = BigInteger().with_variant(Integer, "sqlite")  # SQLite numbers rows itself only for INTEGER


def id_column() -> Column[int]:
    return Column("id", Id, primary_key=True, autoincrement=True)


def _of(table: str, **more: bool) -> Column[int]:
    return Column(f"{table}_id", Id, ForeignKey(f"{table}.id"), nullable=False, **more)  # type: ignore[arg-type]


def _counters(*names: str) -> list[Column[int]]:
    return [Column(name, BigInteger) for name in names]


experiment = Table(
    "experiment",
    metadata,
    id_column(),
    Column("name", Text, nullable=False),
    Column("scenario", Text, nullable=False),  # the scenario's name
    Column("description", Text, nullable=False),
    Column("specification", Text, nullable=False),  # the TOML as it was given
    Column("specification_hash", Text, nullable=False, unique=True),  # SHA-256 of the canonical JSON
    Column("created_at", Text, nullable=False),  # UTC, ISO 8601, as all instants here
)

dbms = Table(
    "dbms",
    metadata,
    id_column(),
    Column("name", Text, nullable=False),  # "postgresql", "mariadb", "sqlite", "duckdb", …
    Column("version", Text, nullable=False),
    Column("settings", JSON, nullable=False),  # those that matter to a measurement
    Column("digest", Text, nullable=False, unique=True),  # of the three above
)

machine = Table(
    "machine",
    metadata,
    id_column(),
    Column("facts", JSON, nullable=False),  # measure.environment.MachineFacts
    Column("digest", Text, nullable=False, unique=True),
)

run = Table(
    "run",
    metadata,
    id_column(),
    _of("experiment"),
    _of("dbms"),
    _of("machine"),
    Column("uuid", Text, nullable=False, unique=True),  # the same in every lab that holds this run
    Column("state", Text, nullable=False),  # RunState
    Column("said", Text),  # why it is paused or failed
    Column("url", Text, nullable=False),  # without its password
    Column("started_at", Text, nullable=False),
    Column("ended_at", Text),
    Column("heartbeat_at", Text),
    Column("executor", Text),  # who holds the run: host, pid and start time; NULL: nobody
    Column("cache", Text, nullable=False),  # measure.records.CacheState
    Column("qes_per_qatc", Integer, nullable=False),
    Column("timeout_ns", BigInteger),
    Column("tick_ns", BigInteger, nullable=False),
    Column("online_cpus", Integer, nullable=False),  # that the DBMS and the executor may run on
    Column("tier", Text, nullable=False),  # measure.rig.Tier
    Column("tare", Text, nullable=False),  # version
    Column("means", JSON, nullable=False),  # why a measure is missing over the whole run, by name
    Column("deviations", JSON, nullable=False),  # list of sentences: where the run departs from the protocol
)

query = Table(
    "query",
    metadata,
    id_column(),
    _of("run", index=True),
    Column("number", Integer, nullable=False),  # within the experiment's query set, from 0
    Column("name", Text, nullable=False),
    Column("sql", Text, nullable=False),
    Column("error", Text),  # why it cannot be run on this DBMS: it is listed as missing
    UniqueConstraint("run_id", "number"),
)

qatc = Table(
    "qatc",
    metadata,
    id_column(),
    _of("query"),
    _of("run", index=True),
    Column("visit", Integer, nullable=False),  # place in the scenario's walk of this query, from 0
    Column("cardinality", BigInteger, nullable=False),  # rows of the variable table
    Column("state", Text, nullable=False),  # QatCState
    Column("said", Text),  # why it failed
    Column("attempt", Integer, nullable=False),  # 1, and one more after each restart for another plan
    Column("plan_fingerprint", Text),
    Column("plan", JSON(none_as_null=True)),  # the operator tree: dbms.base.PlanNode.as_json
    UniqueConstraint("query_id", "cardinality"),
    UniqueConstraint("query_id", "visit"),
)

OVERALL_TICKS = (
    "user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal", "guest", "guest_nice",
)  # fmt: skip

ELAPSED_PARTS = (
    "cpu_ns", "user_ns", "system_ns", "interrupt_ns", "block_io_ns", "run_queue_ns",
    "sleep_ns", "steal_ns", "residue_ns",
)  # fmt: skip

qe = Table(
    "qe",
    metadata,
    id_column(),
    _of("qatc"),
    _of("run"),
    Column("run_order", Integer, nullable=False),  # from 0, over the whole run
    Column("attempt", Integer, nullable=False),  # of its Q@C; only the Q@C's last attempt counts
    Column("number", Integer),  # 1 … QEs per Q@C; NULL: a warm-up, or a try that failed
    Column("warmup", Boolean, nullable=False),
    Column("outcome", Text, nullable=False),  # measure.records.Outcome
    Column("error", Text),
    Column("started_at", Text, nullable=False),
    Column("plan_fingerprint", Text),
    Column("row_count", BigInteger),
    Column("answer_hash", Text),
    Column("wall_ns", BigInteger),  # time_meas
    # the leader's timeline (measure.records.Elapsed), prefixed: `leader_cpu_ns`, …
    *_counters(*(f"leader_{name}" for name in ELAPSED_PARTS)),
    Column("leader_why", JSON(none_as_null=True)),  # measure.lacks.Lack of each part that is NULL
    Column("leader_pid", BigInteger),
    Column("leader_how", Text),
    Column("instructions", BigInteger),
    # differences of /proc/stat, summed over the CPUs, ticks: `overall_user`, …
    *_counters(*(f"overall_{name}" for name in OVERALL_TICKS)),
    *_counters("overall_forks", "overall_context_switches"),
    Column("online_cpus", Integer),
    *_counters("births", "exits", "exits_lost", "unaccounted_births"),
    *_counters("page_cache_bytes", "file_bytes", "buffer_bytes"),  # resident before the clock
    Column("page_cache_how", Text),
    Column("buffer_how", Text),
    Column("buffers_emptied", Text),
    *_counters("own_cpu_ns", "own_snapshots_ns", "own_rss_bytes"),
    UniqueConstraint("run_id", "run_order"),
    UniqueConstraint("qatc_id", "attempt", "number"),  # no QE is ever recorded twice
)

PROCESS_COUNTERS = (
    "user_ticks", "system_ticks", "user_ns", "system_ns", "guest_ns", "run_ns", "run_queue_ns", "slices",
    "block_io_ns", "min_faults", "maj_faults", "voluntary_switches", "involuntary_switches",
    "read_calls", "write_calls", "read_chars", "write_chars", "read_bytes", "write_bytes",
)  # fmt: skip

process = Table(
    "process",
    metadata,
    _of("qe"),
    Column("pid", BigInteger, nullable=False),
    Column("ppid", BigInteger, nullable=False),
    Column("comm", Text, nullable=False),
    Column("cmdline", Text, nullable=False),
    Column("role", Text, nullable=False),  # dbms.base.Role
    Column("dbms", Text),  # of which DBMS, where that is known: also another one's than the run's
    Column("fate", Text, nullable=False),  # measure.records.Fate
    Column("kernel", Boolean, nullable=False),
    Column("cpu", Integer, nullable=False),
    Column("threads", Integer, nullable=False),
    *_counters(*PROCESS_COUNTERS),
    Index("process_of_qe", "qe_id"),
)
"""The processes that were active in a QE (any counter moved, or born or ended), and the query
processes whatever they did. What rested is only counted, in `reading`."""

cpu = Table(
    "cpu",
    metadata,
    _of("qe"),
    Column("cpu", Integer, nullable=False),
    *_counters(*OVERALL_TICKS),
    Index("cpu_of_qe", "qe_id"),
)

reading = Table(
    "reading",
    metadata,
    Column("qe_id", Id, ForeignKey("qe.id"), primary_key=True),
    Column("data", LargeBinary, nullable=False),  # lab.readings: both readings of every counter
)

audit = Table(
    "audit",
    metadata,
    Column("qe_id", Id, ForeignKey("qe.id"), primary_key=True),
    Column("accepted", Boolean, nullable=False),
    Column("why", Text),  # why the trace was rejected
    *_counters(
        "cpu_ns", "run_queue_ns", "block_io_ns", "sleep_ns", "steal_ns", "disk_ns", "disk_requests",
        "switch_ins", "slices",
    ),
)  # fmt: skip
"""Figures of a kernel trace for a QE: ground truth, kept next to the counters and never in their place."""
