"""Interface of an embedded engine inside its host process. Kept free of imports: the host is lean."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tare.dbms.extent import Extent
from tare.dbms.planned import Planned
from tare.errors import StatementFailed

Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Facts:
    version: str
    settings: dict[str, str]


@dataclass(frozen=True, slots=True)
class Explained:
    """(operator, detail, children) all the way down, and the engine's own text."""

    tree: tuple[str, dict[str, str], list[Any]]
    text: str


@dataclass(slots=True)
class Result:
    row_count: int
    rows: list[Row]  # empty until `part` is called if the result is held in another form
    planned: Planned | None = None  # as `Fetched.planned`
    single_precision: frozenset[int] = frozenset()  # as `Fetched.single_precision`
    late: Callable[[], list[Row]] | None = (
        None  # makes `rows` of a result that is held in another form; called once
    )

    def part(self, start: int, count: int) -> list[Row]:
        if self.late is not None:
            self.rows, self.late = self.late(), None
        return self.rows[start : start + count]


class Engine(ABC):
    """Errors are those of tare.errors: they travel to the client as they are."""

    @abstractmethod
    def open(self, path: str, allow_writes: bool, timeout_s: float) -> Facts: ...

    @abstractmethod
    def close(self) -> None: ...

    @abstractmethod
    def prepare(self, number: int, sql: str) -> str:
        """Returns the reason for which planning is inside execution, as `Prepared.planning_inside`."""

    @abstractmethod
    def execute(self, number: int) -> Result:
        """Runs the statement and materialises its whole result, as Python values where these can hold it."""

    @abstractmethod
    def plan_and_execute(self, number: int) -> Result:
        """Plans the statement's text, runs it and materialises its whole result."""

    @abstractmethod
    def release(self, number: int) -> None: ...

    @abstractmethod
    def explain(self, sql: str) -> Explained: ...

    @abstractmethod
    def run(self, sql: str) -> None: ...

    @abstractmethod
    def repeat(self, sql: str) -> None:
        """Run statements like `Session.repeat`."""

    @abstractmethod
    def settings(self) -> dict[str, str]:
        """Return settings like `Session.settings`."""

    @abstractmethod
    def extent(self) -> Extent:
        """Return the extent like `Session.extent`: the pages of the database, without its log."""

    @abstractmethod
    def load(self, table: str, file: str) -> int:
        """Load rows like `Session.load`."""

    @abstractmethod
    def flush(self) -> None: ...

    @abstractmethod
    def interrupt(self) -> None:
        """Called from another thread. Harmless while nothing runs."""

    def held_bytes(self) -> int | None:
        """Table data in the engine's own cache; None where it does not tell."""
        return None


def forgotten(number: int) -> StatementFailed:
    return StatementFailed(
        f"statement {number} is not prepared any more", "prepare it again after the caches were cleared"
    )
