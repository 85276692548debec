"""Cells of the report's tables: the time of a query on a system, or why there is none."""

from __future__ import annotations

from tare.report.kit.blocks import Cell
from tare.report.safe import short
from tare.report.wisconsin.document import Query, Time, Timed, WisconsinReport
from tare.report.wisconsin.words import ms
from tare.report.words import NOTHING
from tare.workload.wisconsin.kinds import Generation

MOST_WHY = 90  # characters of a reason in a cell; the table of what is missing has all of it


class Sheet:
    """Finds the times of a report by system, generation, query and size."""

    def __init__(self, report: WisconsinReport) -> None:
        self.report = report
        self._times = {(one.system, one.generation, one.query, one.size): one for one in report.times}
        self._whys = {(one.run, one.query, one.cardinality): one.why for one in report.missing}

    def sizes(self, generation: Generation) -> list[int]:
        return sorted({one.size for one in self.report.times if one.generation == generation.value})

    def queries(self, generation: Generation) -> list[Query]:
        return [one for one in self.report.queries if one.generation == generation.value]

    def systems(self, generation: Generation, size: int) -> list[str]:
        """Labels of the systems with a time of this generation at this size, in the report's order."""
        timed = {
            one.system for one in self.report.times if (one.generation, one.size) == (generation.value, size)
        }
        return [one.label for one in self.report.systems if one.label in timed]

    def time(self, system: str, generation: str, query: str, size: int) -> Timed | None:
        return self._times.get((system, generation, query, size))

    def why(self, system: str, query: str, size: int) -> str:
        """Why the query has no time; empty if its run did not request it."""
        for run in (run for one in self.report.systems if one.label == system for run in one.runs):
            why = self._whys.get((run, query, None)) or self._whys.get((run, query, size))
            if why:
                return short(why, MOST_WHY)
        return ""

    def elapsed(self, system: str, generation: str, query: str, size: int, unit: str = "") -> Cell:
        timed = self.time(system, generation, query, size)
        if timed is None:
            return Cell(NOTHING, note=self.why(system, query, size))
        timeouts = f"{timed.timeouts} of {timed.elapsed.n} timed out" if timed.timeouts else ""
        return _cell(timed.elapsed, unit, timeouts)

    def exact(self, system: str, generation: str, query: str, size: int, unit: str = "") -> Cell:
        timed = self.time(system, generation, query, size)
        if timed is None:
            return Cell(NOTHING)
        if timed.exact is None:
            why = "" if self.report.exact.stopped else timed.exact_why or ""
            return Cell(NOTHING, note=short(why, MOST_WHY))
        return _cell(timed.exact, unit)

    def access(self, system: str, generation: str, query: str, size: int) -> str:
        """Access paths by the query's plan; a dash if there is none."""
        timed = self.time(system, generation, query, size)
        return (timed.access if timed else "") or NOTHING


def _cell(time: Time, unit: str, remark: str = "") -> Cell:
    value, interval = ms(time)
    return Cell(
        value,
        "" if value == NOTHING else unit,
        interval,
        "; ".join(part for part in (f"n {time.n}", remark) if part),
    )
