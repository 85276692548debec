"""An experiment as it is written down: the TOML that `tare experiment run` takes (TTPv2 §8.1, steps 4 and 9)."""

from __future__ import annotations

import hashlib
import json
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from tare.dbms.conninfo import url_of
from tare.errors import UsageError
from tare.experiment.scenario.base import Range
from tare.measure.choices import CacheState
from tare.records import Record
from tare.workload.wisconsin.specification import WisconsinSpec

LEAST, MOST = -(2**31), 2**31 - 1  # of an SQL INTEGER

Name = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]{0,59}$")]


class ColumnSpec(Record):
    """Integer column, uniformly drawn from `low` … `high`; a primary key is 1, 2, 3, … instead."""

    name: Name
    low: int = 0
    high: int | None = None  # None: the table's largest cardinality


class TableSpec(Record):
    """A table of integers. Exactly one table of an experiment is variable."""

    name: Name
    columns: tuple[ColumnSpec, ...] = Field(
        default=tuple(ColumnSpec(name=f"id{i}") for i in (1, 2, 3, 4)), min_length=1
    )
    primary_key: Name | None = None
    cardinality: int = Field(gt=0, description="rows; of the variable table: the largest")
    minimum: int | None = Field(
        default=None, gt=0, description="the variable table's least cardinality, rows; by default one step"
    )
    step: int | None = Field(default=None, gt=0, description="rows; a table with a step is the variable one")
    seed: int = 0

    @property
    def variable(self) -> bool:
        return self.step is not None

    def domain(self, column: ColumnSpec) -> tuple[int, int]:
        """The least and the largest value that this column may hold."""
        if column.name == self.primary_key:
            return 1, self.cardinality
        return column.low, self.cardinality if column.high is None else column.high

    @property
    def range(self) -> Range:
        """The cardinalities that a scenario walks over; a fixed table has one."""
        step = self.step or self.cardinality
        return Range(maximum=self.cardinality, minimum=self.minimum or min(step, self.cardinality), step=step)


class QuerySpec(Record):
    name: str = Field(min_length=1)
    sql: str = Field(min_length=1)


class GenerateSpec(Record):
    """Queries to generate: select-project-join with aggregates over the experiment's tables."""

    count: int = Field(gt=0, le=10_000)
    seed: int = 0
    correlation_names: int = Field(default=4, ge=1, le=4, description="at most so many in a FROM clause")
    aggregates: bool = Field(default=True, description="also GROUP BY and sum, min, max; else joins alone")
    pairs: int = Field(
        default=100_000_000,
        gt=0,
        description="rows that a join without a primary key may compare, as a nested loop would; "
        "raise it where no DBMS is MariaDB",
    )


def _url_of(text: str | None) -> str | None:
    """Raises ValueError, without the text: it may hold a password."""
    try:
        return None if text is None else url_of(text)
    except UsageError as error:
        raise ValueError(error.what) from None


class DbmsSpec(Record):
    """A DBMS to run on: a URL, or the name of one that Tare starts and stops itself ("postgresql", "mariadb")."""

    name: Name
    url: Annotated[str | None, AfterValidator(_url_of)] = None
    start: Literal["postgresql", "mariadb", "sqlite", "duckdb"] | None = None


class WatchSpec(Record):
    """Who is told when an executor goes silent."""

    silent_after_s: float = Field(default=300.0, gt=0, allow_inf_nan=False)
    command: str | None = None
    webhook: str | None = None


class Specification(Record):
    name: Name
    description: str = ""
    scenario: str = "onepass"
    qes: int = Field(default=10, ge=1, le=10_000, description="QEs per Q@C")
    cache: CacheState = CacheState.WARM
    timeout_s: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    audit: tuple[Annotated[int, Field(ge=1)], ...] = Field(
        default=(), description="numbers of the QEs of each Q@C that a kernel trace audits"
    )
    dbms: tuple[DbmsSpec, ...] = Field(min_length=1)
    tables: tuple[TableSpec, ...] = ()
    queries: tuple[QuerySpec, ...] = ()
    generate: GenerateSpec | None = None
    wisconsin: WisconsinSpec | None = Field(
        default=None, description="the benchmark's tables and queries, in the place of one's own"
    )
    watch: WatchSpec | None = None

    @property
    def variable(self) -> TableSpec:
        """The one variable table; `read_specification` has made sure of it."""
        return next(table for table in self.tables if table.variable)

    @property
    def canonical_json(self) -> str:
        """The same text for specifications that mean the same: order of keys, blanks, comments and
        defaults written out are of no account."""
        return json.dumps(
            self.model_dump(mode="json"), sort_keys=True, separators=(",", ":"), ensure_ascii=False
        )

    @property
    def sha256(self) -> str:
        """64 hex digits, of the canonical JSON."""
        return hashlib.sha256(self.canonical_json.encode()).hexdigest()
