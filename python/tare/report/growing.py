"""The warning about a query that changes what its next run meets."""

from __future__ import annotations

from dataclasses import dataclass

from tare.protocol.growth import Growth
from tare.report.asked import Asked
from tare.report.numbers import bytes_text, percent
from tare.report.warnings import Caution

_TIMES = {"cpu": "CPU time", "wall": "wall time"}


@dataclass(frozen=True, slots=True)
class GrowsFromRunToRun(Caution):
    growth: Growth
    drift: str  # evidence that the runs differ, where no cost rises steadily

    @property
    def cause(self) -> str:
        if self.growth.cost:
            return "the database grows from run to run, and later runs cost more"
        return "the database grows from run to run, so the runs are not alike"

    @property
    def evidence(self) -> str:
        grown = self.growth
        new = [bytes_text(grown.size_bytes)] if grown.size_bytes else []
        new += [
            f"{count:,.0f} {kind} in {grown.table}"
            for count, kind in ((grown.live_rows, "rows"), (grown.dead_rows, "dead rows"))
            if count
        ]
        differ = f"{_TIMES[grown.cost]} +{percent(grown.cost_ratio)} a run" if grown.cost else self.drift
        return f"each of {grown.runs} runs met {' and '.join(new)} more than the one before; {differ}"

    def next_step(self, asked: Asked) -> str:
        return "put back what a run changes with --prepare or --conclude (DELETE, TRUNCATE, VACUUM FULL)"
