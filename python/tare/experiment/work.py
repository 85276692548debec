"""Work of a run: its queries, the tables that they see, and the statement of each QE.

An experiment has tables and queries of its own (`experiment.specified_work`), or a whole workload brings
them (`tare.workload`). The executor knows them through `Work` alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from tare.dbms.base import Session
from tare.experiment.scenario.base import Range
from tare.measure.query import Query

RowsLoaded = Callable[[str, int, int], None]
"""Receives the table, its rows loaded so far, and its rows in all."""


@dataclass(frozen=True, slots=True)
class Trial:
    """Statement of a QE, and the statements around it, outside every clock.

    In this order: `before`, `unchanged`, the QE, `answer`, `after`, `unchanged` again."""

    sql: str
    before: Sequence[str] = ()
    after: Sequence[str] = ()  # puts back what the statement changed, also where it was not run to its end
    answer: str | None = None  # a query for the answer; None: the statement's own result
    unchanged: str | None = None  # a query that must answer the same before, and once all is put back
    rows: int | None = None  # that the statement must give or change, by its definition
    defined: Sequence[Sequence[object]] | None = None  # the answer itself, where its definition states it


class Tables(Protocol):
    """Tables of a run in one DBMS, through a session that may write."""

    def prepare(self) -> None:
        """Makes what is missing, unfinished or different; leaves alone what is there and verified.

        Raises ForeignTable before anything is touched, TableDiffers, StatementFailed or ServerLost."""

    def settle(self, cardinality: int, setting: str) -> None:
        """Brings the tables into the state that the queries of this halt expect, if they are not in it."""

    def facts(self) -> Sequence[str]:
        """Facts about how the tables were made that a reader needs; recorded with the run."""


class Work(ABC):
    sizes: Range
    """The cardinalities that a query's walk goes over."""

    writes: bool = False
    """Whether its statements change data: then the DBMS lets the measuring session write."""

    one_answer: bool = True
    """Whether every QE of a Q@C must give the same answer; else its trials say what each must give."""

    twins: Mapping[str, str] = {}
    """Relations that are alike, and what either is called in a plan: a query may go from one to the other."""

    @abstractmethod
    def queries(self) -> Sequence[Query]:
        """Return the queries in the order in which they are run and numbered."""

    @abstractmethod
    def to_load(self) -> Mapping[str, int]:
        """Return the number of rows to load into each table."""

    @abstractmethod
    def tables(self, session: Session, on_rows: RowsLoaded | None = None) -> Tables:
        """Return the tables; `on_rows` is called as rows are loaded."""

    def lacking(self, query: str, dbms: str) -> str | None:
        """Return why the DBMS cannot run the query at all; None: Tare tries it."""
        return None

    def setting(self, query: str) -> str:
        """Return how the tables must be organised for the query: queries of one setting are run together."""
        return ""

    @abstractmethod
    def trial(self, query: str, sql: str, dbms: str, cardinality: int, turn: int) -> Trial:
        """Trial for the query's QE of this `turn`, from 1; `sql` is the query's in the lab."""
