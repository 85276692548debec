"""What the page and the Markdown show: the document's numbers as text, laid out as tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tare.report.numbers import fixed
from tare.report.safe import short
from tare.report.wisconsin.document import PaperTable, Query, SpeedUp, Timed, WisconsinReport
from tare.report.wisconsin.labels import operation
from tare.report.wisconsin.labels import organisation as organisation_name
from tare.report.wisconsin.words import factor, ms, power
from tare.report.words import NOTHING
from tare.workload.wisconsin.kinds import Generation, Organisation

ROWS_1983 = 10_000

MOST_WHY = 90  # characters of a reason in a cell; the table of what is missing has all of it


@dataclass(frozen=True, slots=True)
class Cell:
    """A number with its uncertainty, or why there is none."""

    value: str
    interval: str = ""
    n: str = ""
    why: str = ""

    @property
    def text(self) -> str:
        """On one line."""
        return " ".join(
            part for part in (self.value, self.interval, self.n and f"n {self.n}", self.why) if part
        )


class Sheet:
    """Finds what a table asks for in a report."""

    def __init__(self, report: WisconsinReport):
        self.report = report
        self.queries = {(one.generation, one.name): one for one in report.queries}
        self._times = {(one.system, one.generation, one.query, one.size): one for one in report.times}
        self._runs = {(system.label, run): run for system in report.systems for run in system.runs}
        self._whys = {(one.run, one.query, one.cardinality): one.why for one in report.missing}

    def time(self, system: str, generation: str, query: str, size: int) -> Timed | None:
        return self._times.get((system, generation, query, size))

    def why(self, system: str, query: str, size: int) -> str:
        """Why it has no time; empty where its run did not ask for it."""
        for label, run in self._runs:
            if label == system:
                found = self._whys.get((run, query, None)) or self._whys.get((run, query, size))
                if found:
                    return short(found, MOST_WHY)
        return ""

    def elapsed(self, system: str, generation: str, query: str, size: int) -> Cell:
        timed = self.time(system, generation, query, size)
        if timed is None:
            return Cell(NOTHING, why=self.why(system, query, size))
        value, interval = ms(timed.elapsed)
        why = f"{timed.timeouts} of {timed.elapsed.n} timed out" if timed.timeouts else ""
        return Cell(value, interval, str(timed.elapsed.n), why)

    def exact(self, system: str, generation: str, query: str, size: int) -> Cell:
        timed = self.time(system, generation, query, size)
        if timed is None:
            return Cell(NOTHING)
        if timed.exact is None:
            return Cell(NOTHING, why="" if self.report.exact.stopped else timed.exact_why or "")
        value, interval = ms(timed.exact)
        return Cell(value, interval, str(timed.exact.n))


# The paper's tables ---------------------------------------------------------------------
def tables_of_1983(report: WisconsinReport) -> list[PaperTable]:
    """None where no system ran that generation."""
    return report.tables if sizes(report, Generation.Y1983) else []


def paper_table(sheet: Sheet, table: PaperTable) -> dict[str, Any]:
    """`head`: groups over columns; a row of 1983 or of today for each system; how today's come at it."""
    report, year = sheet.report, Generation.Y1983.value
    systems = [
        one.label
        for one in report.systems
        if any(c.query and sheet.time(one.label, year, c.query, ROWS_1983) for c in table.columns)
        or any(c.query and sheet.why(one.label, c.query, ROWS_1983) for c in table.columns)
    ]
    return {
        "number": table.number,
        "title": table.title,
        "note": table.note,
        "groups": _groups(table),
        "columns": [column.heading for column in table.columns],
        "published": [{"system": system, "cells": printed} for system, printed in table.published_s.items()],
        "today": [
            {
                "system": system,
                "cells": [
                    (
                        sheet.elapsed(system, year, column.query, ROWS_1983),
                        sheet.exact(system, year, column.query, ROWS_1983),
                    )
                    if column.query
                    else (Cell(NOTHING), Cell(NOTHING))
                    for column in table.columns
                ],
                "access": [
                    timed.access
                    if column.query and (timed := sheet.time(system, year, column.query, ROWS_1983))
                    else ""
                    for column in table.columns
                ],
            }
            for system in systems
        ],
    }


def _groups(table: PaperTable) -> list[tuple[str, int]]:
    """Headings with how many columns each is over; empty where the table has none."""
    if not any(column.group for column in table.columns):
        return []
    found: list[tuple[str, int]] = []
    for column in table.columns:
        if found and found[-1][0] == column.group:
            found[-1] = (column.group, found[-1][1] + 1)
        else:
            found.append((column.group, 1))
    return found


# Every query ------------------------------------------------------------------------------
def sizes(report: WisconsinReport, generation: Generation) -> list[int]:
    return sorted({one.size for one in report.times if one.generation == generation.value})


def every_query(sheet: Sheet, most_sizes: int | None = None) -> Iterator[dict[str, Any]]:
    """A table for each generation and size: rows are queries, columns systems. `most_sizes`: the largest."""
    report = sheet.report
    for generation in Generation:
        found = sizes(report, generation)
        for size in found[-most_sizes:] if most_sizes else found:
            systems = [
                one.label
                for one in report.systems
                if any(
                    (t.system, t.generation, t.size) == (one.label, generation, size) for t in report.times
                )
            ]
            yield {
                "generation": generation.value,
                "size": fixed(size, 0),
                "last": size == found[-1],
                "systems": systems,
                "rows": [_query_row(sheet, query, systems, size) for query in _of(report, generation)],
            }


def _of(report: WisconsinReport, generation: Generation) -> list[Query]:
    return [one for one in report.queries if one.generation == generation.value]


def _query_row(sheet: Sheet, query: Query, systems: Sequence[str], size: int) -> dict[str, Any]:
    timed = [sheet.time(system, query.generation, query.name, size) for system in systems]
    return {
        "name": query.name,
        "kind": query.kind,
        "title": query.title,
        "organisation": organisation_name(Organisation(query.organisation)),
        "cells": [
            (
                sheet.elapsed(system, query.generation, query.name, size),
                sheet.exact(system, query.generation, query.name, size),
            )
            for system in systems
        ],
        "access": [one.access if one else "" for one in timed],
    }


# What follows from them ---------------------------------------------------------------------
def speed_ups(report: WisconsinReport) -> list[dict[str, Any]]:
    """A part for each generation and size; in it a row for each operation and organisation, a column a system."""
    parts: dict[tuple[str, int], dict[tuple[str, str], dict[str, SpeedUp]]] = {}
    for one in report.speed_ups:
        rows = parts.setdefault((one.generation, one.size), {})
        rows.setdefault((one.operation, one.organisation), {})[one.system] = one
    labels = [one.label for one in report.systems]
    return [
        {
            "generation": generation,
            "size": fixed(size, 0),
            "largest": size == max(other for of, other in parts if of == generation),
            "rows": [
                {
                    "operation": operation(name),
                    "organisation": organisation_name(Organisation(organisation)),
                    "cells": [_speed_up(of.get(label)) for label in labels],
                }
                for (name, organisation), of in rows.items()
            ],
        }
        for (generation, size), rows in sorted(parts.items())
    ]


def _speed_up(one: SpeedUp | None) -> dict[str, str]:
    if one is None:
        return {"value": NOTHING, "interval": "", "n": "", "kind": ""}
    value, _, interval = factor(one.ratio).partition(" ")
    kind = "" if not one.ratio.established else "gain" if one.ratio.estimate > 1 else "loss"
    return {"value": value, "interval": interval, "n": f"{one.ratio.n[0]} + {one.ratio.n[1]}", "kind": kind}


def slopes(report: WisconsinReport) -> list[dict[str, Any]]:
    """A row for each query; a column for each system."""
    queries = {(one.generation, one.name): one for one in report.queries}
    of: dict[tuple[str, str], dict[str, Any]] = {}
    for one in report.slopes:
        of.setdefault((one.generation, one.query), {})[one.system] = one
    labels = [one.label for one in report.systems if any(s.system == one.label for s in report.slopes)]
    return [
        {
            "query": name,
            "title": queries[generation, name].title,
            "organisation": organisation_name(Organisation(queries[generation, name].organisation)),
            "generation": generation,
            "cells": [_slope(found.get(label)) for label in labels],
        }
        for (generation, name), found in of.items()
    ]


def _slope(one: Any) -> dict[str, str]:
    if one is None:
        return {"value": NOTHING, "interval": "", "n": "", "name": "", "sizes": ""}
    value, _, interval = power(one).partition(" ")
    sizes = f"{fixed(min(one.sizes), 0)} to {fixed(max(one.sizes), 0)}"
    return {"value": value, "interval": interval, "n": str(one.n), "name": one.name, "sizes": sizes}


def slope_systems(report: WisconsinReport) -> list[str]:
    return [one.label for one in report.systems if any(s.system == one.label for s in report.slopes)]
