"""Data of a profile's analysis: valid transactions in order of begin, the time of each call path in each, and the
names behind the numbers. Whole ns throughout.

The columns are those of `tare_profile::profile` (transactions, paths, cells); here are only the transactions that
count, of the windows that were asked for, numbered anew. `invalid` says how many of those windows do not count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tare.arrow import numbers, words

Ints = NDArray[np.int64]
Small = NDArray[np.integer[Any]]
"""Integers of 32 bits where there may be many."""

Floats = NDArray[np.float64]

ROOT = 0
"""The path that is the transaction."""

WAITING = 1
"""The path that is waiting between its intervals."""

FOR_THE_CLIENT = "[waiting for the client]"

VALID = "valid"
UNREAD = -1
"""CPU time where it was not read."""


@dataclass(frozen=True, slots=True)
class Function:
    """A function that had a probe on, or that calls one that had."""

    id: int
    name: str
    inferred: bool = False  # the name is inferred, not a symbol's
    height: int | None = None  # in the static call graph; None: it is not in it
    object: str = ""
    address: int = 0  # in the object's own terms
    size: int = 0  # bytes; 0: not known


@dataclass(frozen=True, slots=True)
class Path:
    """A function as called from another path, at one call site."""

    parent: int | None
    function: int | None
    site: int = 0
    recursion: int = 1  # calls of the function within each other, at most (`recursion.folded`)


PROBED, MARKERS, BARE, COUNTING = "probed", "markers", "bare", "counting"
"""Purposes of windows: all probes are on, the transactions' markers alone, none, or those that count calls."""


class Measure(StrEnum):
    """Ways in which overhead is measured."""

    LATENCY = "latency"
    THROUGHPUT = "throughput"


@dataclass(frozen=True, slots=True)
class Window:
    """A time with one set of probes (`tare_profile::profile::Window`)."""

    number: int
    begin_ns: int
    end_ns: int
    purpose: str  # "probed", "markers", "counting", …
    round: int
    functions: tuple[int, ...] = ()
    lost: int = 0

    @classmethod
    def of(cls, said: Mapping[str, Any]) -> Window:
        return cls(
            int(said["number"]),
            int(said["begin_ns"]),
            int(said["end_ns"]),
            str(said["purpose"]),
            int(said["round"]),
            tuple(int(one) for one in said.get("functions", ())),
            int(said.get("lost", 0)),
        )


@dataclass(frozen=True, eq=False)
class Measured:
    """Transactions t = 0 … n-1; the cells of one follow each other, and a path that it did not go has none."""

    begin_ns: Ints
    duration_ns: Ints
    waited_ns: Ints
    cpu_ns: Ints  # UNREAD where it was not read
    label: Ints  # the hash of a text; 0: none
    window: Ints
    cell_transaction: Small  # ascending
    cell_path: Small
    calls: Small
    inclusive_ns: Ints
    own_ns: Ints
    paths: tuple[Path, ...]  # the root first, waiting second
    functions: Mapping[int, Function]
    windows: tuple[Window, ...] = ()
    texts: Mapping[int, str] = field(default_factory=dict)
    invalid: Mapping[str, int] = field(default_factory=dict)  # by why; of the same windows
    records: int = 0
    lost: int = 0
    unwound: int = 0  # calls left without an exit, of all windows
    unrecorded: int = 0  # calls of signal handlers that are in no record, of all windows
    call_graph_height: int = 0
    waiting_name: str = FOR_THE_CLIENT
    server_time: bool = False  # durations are `service_ns`: see `without_waiting`

    @property
    def transactions(self) -> int:
        return len(self.duration_ns)

    @property
    def service_ns(self) -> Ints:
        return self.duration_ns - self.waited_ns

    def name(self, path: int) -> str:
        if path == ROOT:
            return "transaction"
        return self.waiting_name if path == WAITING else self.function(path).name

    def function(self, path: int) -> Function:
        """Return the function that a path calls. An unknown one is named by its number."""
        number = self.paths[path].function
        assert number is not None, path
        return self.functions.get(number) or Function(number, f"function {number}")

    def inferred(self, function: int | None) -> bool:
        """Whether its name is; False for the transaction and for waiting."""
        return function is not None and function in self.functions and self.functions[function].inferred

    def only(self, chosen: NDArray[np.bool_]) -> Measured:
        """These transactions; paths, names and counts of invalid ones stay."""
        number = np.cumsum(chosen, dtype=np.int32) - 1
        kept = chosen[self.cell_transaction]
        return replace(
            self,
            begin_ns=self.begin_ns[chosen],
            duration_ns=self.duration_ns[chosen],
            waited_ns=self.waited_ns[chosen],
            cpu_ns=self.cpu_ns[chosen],
            label=self.label[chosen],
            window=self.window[chosen],
            cell_transaction=number[self.cell_transaction[kept]],
            cell_path=self.cell_path[kept],
            calls=self.calls[kept],
            inclusive_ns=self.inclusive_ns[kept],
            own_ns=self.own_ns[kept],
        )

    def without_waiting(self) -> Measured:
        """The same transactions with the time between their intervals taken out: a duration is the server's own.

        What is beneath the transaction stays as it is, so equation 1 holds of these durations as of the whole ones."""
        kept = self.cell_path != WAITING
        path, owner = self.cell_path[kept], self.cell_transaction[kept]
        waited = np.where(path == ROOT, self.waited_ns[owner], 0)
        return replace(
            self,
            duration_ns=self.service_ns,
            waited_ns=np.zeros_like(self.waited_ns),
            cell_transaction=owner,
            cell_path=path,
            calls=self.calls[kept],
            inclusive_ns=self.inclusive_ns[kept] - waited,
            own_ns=self.own_ns[kept],
            server_time=True,
        )


def from_tables(
    transactions: pa.Table,
    paths: pa.Table,
    cells: pa.Table,
    *,
    windows: Sequence[Window],
    functions: Iterable[Function],
    texts: Mapping[int, str] | None = None,
    records: int = 0,
    lost: int = 0,
    unwound: int = 0,
    unrecorded: int = 0,
    call_graph_height: int = 0,
    waiting_name: str = FOR_THE_CLIENT,
) -> Measured:
    """Return the data of the transactions that began in one of `windows` and are valid."""
    within = np.isin(_ints(transactions, "window"), [one.number for one in windows])
    why = reasons(transactions)
    valid = why == VALID
    chosen = np.flatnonzero(within & valid)
    begins = _ints(transactions, "begin_ns")
    chosen = chosen[np.argsort(begins[chosen], kind="stable")]
    number = np.full(transactions.num_rows, -1, dtype=np.int32)
    number[chosen] = np.arange(len(chosen), dtype=np.int32)

    owner = number[_small(cells, "transaction")]
    kept = np.flatnonzero(owner >= 0)
    owner = owner[kept]
    if len(owner) and (np.diff(owner) < 0).any():
        order = np.argsort(owner, kind="stable")
        kept, owner = kept[order], owner[order]
    return Measured(
        begin_ns=begins[chosen],
        duration_ns=_ints(transactions, "duration_ns")[chosen],
        waited_ns=_ints(transactions, "waited_ns")[chosen],
        cpu_ns=_ints(transactions, "cpu_ns", UNREAD)[chosen],
        label=_ints(transactions, "label")[chosen],
        window=_ints(transactions, "window")[chosen],
        cell_transaction=owner,
        cell_path=_small(cells, "path")[kept],
        calls=_small(cells, "calls")[kept],
        inclusive_ns=_ints(cells, "inclusive_ns")[kept],
        own_ns=_ints(cells, "own_ns")[kept],
        paths=tuple(
            Path(parent, function, site)
            for parent, function, site in zip(
                *(paths[name].to_pylist() for name in ("parent", "function", "site")), strict=True
            )
        ),
        functions={one.id: one for one in functions},
        windows=tuple(windows),
        texts=texts or {},
        invalid=dict(Counter(why[within & ~valid].tolist())),
        records=records,
        lost=lost,
        unwound=unwound,
        unrecorded=unrecorded,
        call_graph_height=call_graph_height,
        waiting_name=waiting_name,
    )


def reasons(transactions: pa.Table) -> NDArray[np.object_]:
    """Return why each transaction does not count; VALID: it does."""
    return words(transactions["why"])


def _ints(table: pa.Table, name: str, absent: int = 0) -> Ints:
    return numbers(table[name], absent)


def _small(table: pa.Table, name: str) -> Small:
    return numbers(table[name])
