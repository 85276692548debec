"""Work of a run: its queries, the tables that they see, and the statement of each QE.

An experiment has tables and queries of its own (`experiment.written`), or a whole workload brings
them (`tare.workload`). The executor knows them by this alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from tare.dbms.base import Session
from tare.experiment.scenario.base import Range
from tare.measure.query import Query

Told = Callable[[str, int, int], None]
"""table, rows loaded so far, rows in all"""


@dataclass(frozen=True, slots=True)
class Trial:
    """The statement of one QE, and what stands around it, outside every clock.

    In this order: `before`, `unchanged`, the QE, `answer`, `after`, `unchanged` again."""

    sql: str
    before: Sequence[str] = ()
    after: Sequence[str] = ()  # puts back what the statement changed, also where it was not run to its end
    answer: str | None = None  # a query for what the statement left behind; None: what it gave is its answer
    unchanged: str | None = None  # a query that must answer the same before, and once all is put back
    rows: int | None = None  # that the statement must give or change, by its definition
    defined: Sequence[Sequence[object]] | None = None  # the answer itself, where its definition tells it


class Tables(Protocol):
    """Tables of a run in a DBMS, through a session that may write."""

    def prepare(self) -> None:
        """Makes what is missing, unfinished or different; leaves alone what is there and verified.

        Raises ForeignTable before anything is touched, TableDiffers, StatementFailed or ServerLost."""

    def settle(self, cardinality: int, setting: str) -> None:
        """The tables are as the queries of this halt expect them; nothing is done where they are so already."""

    def facts(self) -> Sequence[str]:
        """Return facts about how they were made, for a reader: recorded with the run."""


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
        """In the order in which they are run and numbered."""

    @abstractmethod
    def to_load(self) -> Mapping[str, int]:
        """How many rows are loaded into each table."""

    @abstractmethod
    def tables(self, session: Session, told: Told | None = None) -> Tables:
        """`told` hears how loading goes."""

    def lacking(self, query: str, dbms: str) -> str | None:
        """Why the DBMS cannot run the query at all; None: it is tried."""
        return None

    def setting(self, query: str) -> str:
        """How the tables must be organised for it: queries of one setting are run together."""
        return ""

    @abstractmethod
    def trial(self, query: str, sql: str, dbms: str, cardinality: int, turn: int) -> Trial:
        """Return the trial for the query's QE of this `turn`, from 1; `sql` is the query's in the lab."""
