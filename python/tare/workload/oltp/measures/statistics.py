"""The DBMS's own statistics: which views are asked, and what of them is kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from tare.dbms.base import Session
from tare.errors import BadStatement, StatementFailed

Rows = list[Sequence[object]]


@dataclass(frozen=True, slots=True)
class View:
    """Query, and how its answer is read."""

    name: str  # as the DBMS calls it
    sql: str
    read: Callable[[Rows], dict[str, float]]


class Statistics:
    """Asked through one session, each view prepared once. A view that is refused is left out from then on."""

    def __init__(self, session: Session, views: Sequence[View], timeout_s: float) -> None:
        self._timeout_s = timeout_s
        self.refused: dict[str, str] = {}
        self._asked = []
        for view in views:
            try:
                self._asked.append((view, session.prepare(view.sql)))
            except (StatementFailed, BadStatement) as error:
                self.refused[view.name] = error.what

    def read(self) -> dict[str, float]:
        """Raises ServerLost and QueryTimeout."""
        values: dict[str, float] = {}
        for view, prepared in tuple(self._asked):
            try:
                values |= view.read(list(prepared.execute(self._timeout_s).rows()))
            except StatementFailed as error:
                self.refused[view.name] = error.what
                self._asked.remove((view, prepared))
        return values


def named(*names: str) -> Callable[[Rows], dict[str, float]]:
    """Read a view with one row: its columns. NULL is left out."""

    def read(rows: Rows) -> dict[str, float]:
        return {
            name: float(str(value))
            for name, value in zip(names, rows[0] if rows else (), strict=False)
            if value is not None
        }

    return read


def keyed(names: dict[str, tuple[str, float]]) -> Callable[[Rows], dict[str, float]]:
    """Read a view with a row for each variable: by its name, what we call it and what it is multiplied by."""

    def read(rows: Rows) -> dict[str, float]:
        values: dict[str, float] = {}
        for key, value in rows:
            ours = names.get(str(key).lower())
            if ours is not None:
                with suppress(ValueError):
                    values[ours[0]] = float(str(value)) * ours[1]
        return values

    return read
