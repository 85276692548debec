"""The lab's tables of transactional runs (`tare bench oltp`), in the same metadata as its experiments.

dbms, machine → oltp_run → oltp_type, oltp_second, oltp_measure, oltp_check. Times are ns, sizes bytes, rates
transactions a second; seconds are numbered from the start of the measured part, warm-up below 0. NULL: there is
no such value.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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
    text,
)
from sqlalchemy.types import TypeEngine

from tare.lab.schema import metadata
from tare.workload.oltp.counts import COUNTS
from tare.workload.oltp.distribution import Distribution
from tare.workload.oltp.events import Summary

_Id = BigInteger().with_variant(Integer, "sqlite")

COUNT_NAMES = tuple(count.name for count in COUNTS)

DISTRIBUTIONS = ("response", "service", "lag")
"""Distributions of each type: from the intended start to the end, from the real start, and between the two starts."""

_SQL_TYPES: Mapping[object, type[TypeEngine[Any]]] = {int: BigInteger, float: Double}


def _key() -> Column[int]:
    return Column("id", _Id, primary_key=True, autoincrement=True)


def _of_run() -> Column[int]:
    return Column("oltp_run_id", _Id, ForeignKey("oltp_run.id"), nullable=False)


def count_columns() -> list[Column[Any]]:
    """A column for each count. Runs that were recorded before there was such a count have 0."""
    return [Column(name, BigInteger, nullable=False, server_default=text("0")) for name in COUNT_NAMES]


def _distribution(name: str) -> list[Column[Any]]:
    """Exact moments and a histogram of three significant digits (lab.histogram); two can be merged."""
    return [
        Column(f"{name}_{field}", _SQL_TYPES.get(about.annotation, LargeBinary), nullable=False)
        for field, about in Distribution.model_fields.items()
    ]


def _summary(name: str) -> list[Column[Any]]:
    """Times of the transactions that ended in the second; NULL: none did."""
    fields = Summary.model_fields.items()
    return [Column(f"{name}_{field}", _SQL_TYPES[about.annotation]) for field, about in fields]


oltp_run = Table(
    "oltp_run",
    metadata,
    _key(),
    Column("dbms_id", _Id, ForeignKey("dbms.id"), nullable=False),
    Column("machine_id", _Id, ForeignKey("machine.id"), nullable=False),
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
    Column("invalid", JSON, nullable=False),  # sentences, by the driver; failing conditions are in oltp_check
    Column("started_ns", BigInteger, nullable=False),  # of CLOCK_MONOTONIC
    Column("took_ns", BigInteger, nullable=False),
    Column("intended_rate", Double),  # NULL: closed loop
    Column("rate", Double, nullable=False),  # of transactions that ended as the workload has it
    Column("warmup_ns", BigInteger, nullable=False),
    Column("warmup", JSON, nullable=False),  # its counts
    Column("reconnects", BigInteger, nullable=False),
    Column("own_cpu_ns", BigInteger, nullable=False),  # the driver's process
    Column("own_peak_rss_bytes", BigInteger, nullable=False),
    Column("mix", JSON, nullable=False),  # as used, in the order of the types
    Column("samples", BigInteger, nullable=False),  # rows of the file of samples; 0: none was kept
    Column("troubles", JSON, nullable=False),  # workload.oltp.run.Trouble
    Column("unmeasured", JSON, nullable=False),  # why a server measure is missing, by name
    Column("deviations", JSON, nullable=False),  # sentences
    Column(
        "stalls", JSON(none_as_null=True)
    ),  # workload.oltp.events.Stall; NULL: recorded before stalls were
    Column("round_trips", BigInteger),  # of all transactions of the measured part; NULL: not counted
)

oltp_type = Table(
    "oltp_type",
    metadata,
    _key(),
    _of_run(),
    Column("number", Integer, nullable=False),  # its place in the workload; all types together come last
    Column("name", Text, nullable=False),  # "all": all types together
    *count_columns(),
    *(column for name in DISTRIBUTIONS for column in _distribution(name)),
    UniqueConstraint("oltp_run_id", "number"),
)

oltp_second = Table(
    "oltp_second",
    metadata,
    _of_run(),
    Column("number", Integer, nullable=False),
    Column("phase", Integer, nullable=False),
    *count_columns(),
    Column("backlog", BigInteger, nullable=False),  # due and not started at its end
    Column("running", BigInteger, nullable=False),  # in the DBMS at its end
    *_summary("response"),
    *_summary("service"),
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

COUNTED = (oltp_type, oltp_second)
"""Tables with a column for each count."""
