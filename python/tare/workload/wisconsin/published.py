"""Measurements of the paper of 1983: its Tables 1 to 11, digit by digit, as elapsed seconds of four systems.

D. Bitton, D. J. DeWitt and C. Turbyfill, “Benchmarking Database Systems: A Systematic Approach”,
University of Wisconsin–Madison, 1983 (VLDB 1983). Each is a mean over ten queries that differ in their
constants; nothing of their spread is printed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

CITATION = (
    "D. Bitton, D. J. DeWitt, C. Turbyfill, “Benchmarking Database Systems: A Systematic Approach”, VLDB 1983"
)

SYSTEMS = ("U-INGRES", "C-INGRES", "IDMnodac", "IDMdac")

MACHINES: Mapping[str, str] = {
    "U-INGRES": "university INGRES, VAX 11/750, 2 MB, 4.1 BSD",
    "C-INGRES": "commercial INGRES 2.0, VAX 11/750, 6 MB, VMS 3",
    "IDMnodac": "Britton-Lee IDM 500 without its accelerator, 2 MB, host PDP 11/70",
    "IDMdac": "Britton-Lee IDM 500 with its accelerator, 2 MB, host PDP 11/70",
}
"""Section 2 of the paper."""

GIVEN_UP = "> 5 hours"
_GIVEN_UP_S = 5 * 3600.0


@dataclass(frozen=True, slots=True)
class Elapsed:
    printed: str  # "53.2" or "> 5 hours"

    @property
    def seconds(self) -> float:
        """Elapsed time; a lower bound where it was given up."""
        return _GIVEN_UP_S if self.given_up else float(self.printed)

    @property
    def given_up(self) -> bool:
        return self.printed == GIVEN_UP


@dataclass(frozen=True, slots=True)
class Column:
    key: str  # within its table
    heading: str
    group: str = ""  # a heading over several


@dataclass(frozen=True, slots=True)
class PublishedTable:
    number: int
    title: str
    note: str
    columns: tuple[Column, ...]
    elapsed: Mapping[str, tuple[Elapsed, ...]]  # by system, in the order of `columns`

    def of(self, system: str, key: str) -> Elapsed:
        """Raises KeyError."""
        for place, column in enumerate(self.columns):
            if column.key == key:
                return self.elapsed[system][place]
        raise KeyError(f"Table {self.number} has no column {key!r}")


def _table(number: int, title: str, note: str, columns: tuple[Column, ...], *rows: str) -> PublishedTable:
    """`rows`: of the systems in their order, the values with a comma between them."""
    elapsed = {
        system: tuple(Elapsed(value.strip()) for value in row.split(","))
        for system, row in zip(SYSTEMS, rows, strict=True)
    }
    return PublishedTable(number, title, note, columns, elapsed)


def _plain(*keys: str) -> tuple[Column, ...]:
    return tuple(Column(key, key) for key in keys)


_SELECTED = "tuples selected of 10 000; "
_CLUSTERED, _NONCLUSTERED = "clustered index", "non-clustered index"
_AGGREGATES = (
    Column("min scalar", "MIN scalar"),
    Column("min 100 partitions", "MIN, 100 partitions"),
    Column("sum 100 partitions", "SUM, 100 partitions"),
)
_APPEND, _DELETE = Column("append", "append 1 tuple"), Column("delete", "delete 1 tuple")
_MODIFY_KEY = Column("modify key", "modify 1 tuple, key attribute")
_MODIFY_NON_KEY = Column("modify non-key", "modify 1 tuple, non-key attribute")

TABLES: tuple[PublishedTable, ...] = (
    _table(
        1, "Selections without indices", _SELECTED + "result tuples inserted into a relation",
        (Column("100", "100 tuples"), Column("1000", "1000 tuples")),
        "53.2, 64.4",
        "38.4, 53.9",
        "31.7, 33.4",
        "21.6, 23.6",
    ),
    _table(
        2, "Selections with indices", _SELECTED + "result tuples inserted into a relation",
        (
            Column("clustered 100", "100 tuples", _CLUSTERED),
            Column("clustered 1000", "1000 tuples", _CLUSTERED),
            Column("nonclustered 100", "100 tuples", _NONCLUSTERED),
            Column("nonclustered 1000", "1000 tuples", _NONCLUSTERED),
        ),
        "7.7, 27.8, 59.2, 78.9",
        "3.9, 18.9, 51.2, 60.8",
        "2.0, 9.9, 3.8, 27.8",
        "1.5, 8.7, 3.3, 23.7",
    ),
    _table(
        3, "Selections with clustered indices, to the screen", _SELECTED + "result tuples sent to the client",
        (Column("1", "1 tuple"), Column("100", "100 tuples")),
        "3.8, 6.9",
        "0.9, 5.0",
        "0.8, 2.9",
        "0.7, 2.7",
    ),
    _table(
        4, "Joins without indices", "integer attributes",
        _plain("joinAselB", "joinABprime", "joinCselAselB"),
        "611, 581, 583",
        "109, 156, 127",
        "> 5 hours, > 5 hours, > 5 hours",
        "> 5 hours, > 5 hours, > 5 hours",
    ),
    _table(
        5, "Joins with a clustered index", "integer attributes; primary index on the join attribute",
        _plain("joinAselB", "joinABprime", "joinCselAselB"),
        "126.5, 99.5, 544.5",
        "54.0, 103.0, 84.0",
        "31.0, 35.5, 44.5",
        "23.5, 27.5, 35.0",
    ),
    _table(
        6, "Joins with a non-clustered index", "secondary index on the join attribute",
        _plain("sjoinAselB", "sjoinABprime", "sjoinCselAselB"),
        "269.5, 191.0, 633.0",
        "118.0, 108.0, 144.5",
        "84.5, 48.5, 108.5",
        "71.5, 35.5, 88.0",
    ),
    _table(
        7, "Projections", "duplicate tuples are removed",
        (Column("100/10,000", "100 of 10 000 kept"), Column("1000/1000", "1000 of 1000 kept")),
        "64.6, 236.8",
        "26.4, 132.0",
        "29.3, 122.2",
        "22.3, 68.1",
    ),
    _table(
        8, "Aggregates without indices", "10 000 tuples",
        _AGGREGATES,
        "40.2, 176.7, 174.2",
        "34.0, 496.0, 484.8",
        "32.0, 65.0, 67.5",
        "21.2, 38.2, 38.2",
    ),
    _table(
        9, "Aggregates with indices", "10 000 tuples",
        _AGGREGATES,
        "41.2, 186.5, 182.2",
        "37.2, 242.2, 254.0",
        "27.0, 65.0, 66.8",
        "21.2, 38.0, 38.0",
    ),
    _table(
        10, "Updates without indices", "10 000 tuples",
        (_APPEND, _DELETE, _MODIFY_KEY),
        "5.9, 37.6, 37.7",
        "1.4, 32.3, 32.8",
        "0.9, 22.8, 29.5",
        "0.7, 20.8, 20.9",
    ),
    _table(
        11, "Updates with indices", "10 000 tuples; one clustered and two non-clustered indices",
        (_APPEND, _DELETE, _MODIFY_KEY, _MODIFY_NON_KEY),
        "9.4, 6.8, 7.2, 9.1",
        "2.1, 0.5, 1.6, 1.6",
        "0.9, 0.4, 0.6, 0.5",
        "0.8, 0.4, 0.5, 0.5",
    ),
)  # fmt: skip


def table(number: int) -> PublishedTable:
    """Raises KeyError for a table that the paper has not."""
    for one in TABLES:
        if one.number == number:
            return one
    raise KeyError(f"the paper has no Table {number}")
