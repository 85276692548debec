"""An experiment as it is written down: the TOML that `tare experiment run` takes (TTPv2 §8.1, steps 4 and 9)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from tare.measure.records import CacheState

Name = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]{0,59}$")]


class Part(BaseModel):
    """Unknown keys are mistakes."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ColumnSpec(Part):
    """One integer column, uniformly drawn from `low` … `high`; a primary key is 1, 2, 3, … instead."""

    name: Name
    low: int = 0
    high: int | None = None  # None: the table's largest cardinality


class TableSpec(Part):
    """A table of integers. Exactly one table of an experiment is variable."""

    name: Name
    columns: tuple[ColumnSpec, ...] = Field(
        default=tuple(ColumnSpec(name=f"id{i}") for i in (1, 2, 3, 4)), min_length=1
    )
    primary_key: Name | None = None
    cardinality: int = Field(gt=0, description="rows; of the variable table: the largest")
    minimum: int | None = Field(
        default=None, gt=0, description="the variable table's least cardinality, rows"
    )
    step: int | None = Field(default=None, gt=0, description="rows; a table with a step is the variable one")
    seed: int = 0

    @property
    def variable(self) -> bool:
        return self.step is not None


class QuerySpec(Part):
    name: str = Field(min_length=1)
    sql: str = Field(min_length=1)


class GenerateSpec(Part):
    """Queries to generate: select-project-join with aggregates over the experiment's tables."""

    count: int = Field(gt=0, le=10_000)
    seed: int = 0
    correlation_names: int = Field(default=4, ge=1, le=4, description="at most so many in a FROM clause")
    aggregates: bool = True


class DbmsSpec(Part):
    """A DBMS to run on: a URL, or the name of one that Tare starts and stops itself ("postgresql", "mariadb")."""

    name: Name
    url: str | None = None
    start: Literal["postgresql", "mariadb", "sqlite", "duckdb"] | None = None


class WatchSpec(Part):
    """Who is told when an executor goes silent."""

    silent_after_s: float = Field(default=300.0, gt=0)
    command: str | None = None
    webhook: str | None = None


class Specification(Part):
    name: Name
    description: str = ""
    scenario: str = "onepass"
    qes: int = Field(default=10, ge=1, le=10_000, description="QEs per Q@C")
    cache: CacheState = CacheState.WARM
    timeout_s: float | None = Field(default=None, gt=0)
    dbms: tuple[DbmsSpec, ...] = Field(min_length=1)
    tables: tuple[TableSpec, ...] = Field(min_length=1)
    queries: tuple[QuerySpec, ...] = ()
    generate: GenerateSpec | None = None
    watch: WatchSpec | None = None
