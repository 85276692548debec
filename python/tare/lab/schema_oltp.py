"""The lab's tables of transactional runs (`tare bench oltp`), in the same metadata as its experiments.

dbms, machine → oltp_run → oltp_type, oltp_second, oltp_measure, oltp_check. Times are ns, sizes bytes, rates
transactions a second; seconds are numbered from the start of the measured part, warm-up below 0. NULL: there is
no such value.
"""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    Table,
    Text,
    UniqueConstraint,
)

from tare.lab.schema import Id, id_column, metadata

COUNTS = (
    "offered", "started", "committed", "rolled_back", "deadlocks", "serialization_failures", "lock_timeouts",
    "lost", "errors", "shed", "unstarted", "retried_deadlock", "retried_serialization", "retried_lock_timeout",
)  # fmt: skip
"""workload.oltp.told.Counts."""

DISTRIBUTIONS = ("response", "service", "lag")
"""Distributions of each type: intended start to end, real start to end, intended to real start."""

QUICK = ("mean", "p50", "p95", "p99", "max")


def _of_run() -> Column[int]:
    return Column("oltp_run_id", Id, ForeignKey("oltp_run.id"), nullable=False)


def _counts() -> list[Column[int]]:
    return [Column(name, BigInteger, nullable=False) for name in COUNTS]


def _distribution(name: str) -> list[Column[float]]:
    """Exact moments beside a histogram of three significant digits (lab.histogram); two can be merged."""
    return [
        Column(f"{name}_count", BigInteger, nullable=False),
        Column(f"{name}_mean", Double, nullable=False),
        Column(f"{name}_m2", Double, nullable=False),  # sum of squared deviations from the mean, ns²
        Column(f"{name}_norm", Double, nullable=False),  # p of the L_p norm
        Column(f"{name}_power_sum", Double, nullable=False),  # of p-th powers of values in ms
        Column(f"{name}_min", BigInteger, nullable=False),
        Column(f"{name}_max", BigInteger, nullable=False),
        Column(f"{name}_histogram", LargeBinary, nullable=False),
    ]


def _quick(name: str) -> list[Column[float]]:
    """Columns about the transactions that ended in the second; NULL: none did."""
    return [Column(f"{name}_{one}", Double if one == "mean" else BigInteger) for one in QUICK]


oltp_run = Table(
    "oltp_run",
    metadata,
    id_column(),
    Column("dbms_id", Id, ForeignKey("dbms.id"), nullable=False),
    Column("machine_id", Id, ForeignKey("machine.id"), nullable=False),
    Column("uuid", Text, nullable=False, unique=True),  # the same in every lab that holds this run
    Column("url", Text, nullable=False),  # without its password
    Column("local", Boolean, nullable=False),  # the server ran on this machine
    Column("started_at", Text, nullable=False),  # UTC, ISO 8601: start of the measured part
    Column("ended_at", Text, nullable=False),
    Column("workload", Text, nullable=False),
    Column("scale", Double, nullable=False),
    Column("data_seed", Text, nullable=False),  # 64 bits without a sign: more than an integer of SQL holds
    Column("data_options", Text, nullable=False),  # those that shape the data
    Column("data_complete", Boolean, nullable=False),
    Column("asked", JSON, nullable=False),  # workload.oltp.run.Asked
    Column("isolation", Text, nullable=False),  # at work, in the DBMS's words
    Column("valid", Boolean, nullable=False),
    # workload.oltp.verdict. Rows of schemas before 0004: sentences, without those of failing conditions
    Column("invalid", JSON, nullable=False),
    Column("not_judged", JSON),  # the same; NULL: recorded before a run could be too short to be judged
    Column("freezes", JSON),  # workload.oltp.verdict.Freeze; NULL: recorded before they were looked for
    Column("restarted", Boolean),  # the server, during the run; NULL: not known
    Column("started_ns", BigInteger, nullable=False),  # of CLOCK_MONOTONIC
    Column("took_ns", BigInteger, nullable=False),
    Column("intended_rate", Double),  # NULL: closed loop
    Column("rate", Double, nullable=False),  # started before the schedule's end
    Column("sustained_rate", Double),  # of these, successful; NULL: recorded before they were counted
    Column("warmup_ns", BigInteger, nullable=False),
    Column("warmup", JSON, nullable=False),  # what happened in it, by COUNTS
    Column("reconnects", BigInteger, nullable=False),
    Column("own_cpu_ns", BigInteger, nullable=False),  # the driver's process
    Column("own_peak_rss_bytes", BigInteger, nullable=False),
    Column("mix", JSON, nullable=False),  # as used, in the order of the types
    Column("samples", BigInteger, nullable=False),  # rows of the file of samples; 0: none was kept
    Column("troubles", JSON, nullable=False),  # workload.oltp.run.Trouble
    Column("unmeasured", JSON, nullable=False),  # why a server measure is missing, by name
    Column("deviations", JSON, nullable=False),  # sentences
)

oltp_type = Table(
    "oltp_type",
    metadata,
    id_column(),
    _of_run(),
    Column("number", Integer, nullable=False),  # its place in the workload; all types together come last
    Column("name", Text, nullable=False),  # "all": all types together
    *_counts(),
    *(column for name in DISTRIBUTIONS for column in _distribution(name)),
    UniqueConstraint("oltp_run_id", "number"),
)

oltp_second = Table(
    "oltp_second",
    metadata,
    _of_run(),
    Column("number", Integer, nullable=False),
    Column("phase", Integer, nullable=False),
    *_counts(),
    Column("backlog", BigInteger, nullable=False),  # due and not started at its end
    Column("running", BigInteger, nullable=False),  # in the DBMS at its end
    *_quick("response"),
    *_quick("service"),
    Column("own_cpu_ns", BigInteger, nullable=False),
    Index("oltp_second_of_run", "oltp_run_id"),
)

oltp_measure = Table(
    "oltp_measure",
    metadata,
    _of_run(),
    Column("second", Integer, nullable=False),
    Column("name", Text, nullable=False),
    Column("value", Double, nullable=False),
    Column("unit", Text, nullable=False),
    Index("oltp_measure_of_run", "oltp_run_id"),
)

oltp_check = Table(
    "oltp_check",
    metadata,
    _of_run(),
    Column("moment", Text, nullable=False),  # "before" or "after" the run
    Column("number", Integer, nullable=False),  # in the order they were held against the data
    Column("name", Text, nullable=False),
    Column("says", Text, nullable=False),
    Column("failing", BigInteger, nullable=False),
    Column("columns", JSON, nullable=False),
    Column("rows", JSON, nullable=False),  # the first failing ones, as text
    Column("took_ns", BigInteger, nullable=False),
    Index("oltp_check_of_run", "oltp_run_id"),
)

BELOW = (oltp_type, oltp_second, oltp_measure, oltp_check)
