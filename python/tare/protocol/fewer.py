"""QEs that a protocol would have dropped, had each Q@C had fewer of them (TTPv2 Table II)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tare.lab.answers import value
from tare.lab.frames import Frames
from tare.protocol.dropping import remaining
from tare.protocol.run import Analysis, method_of


@dataclass(frozen=True, slots=True)
class Fewer:
    """Row of Table II."""

    original_qes: int  # of each Q@C, at most
    qatcs: int
    dropped_qatcs: int
    qes_per_retained_qatc: float | None

    @property
    def share(self) -> float | None:
        return self.dropped_qatcs / self.qatcs if self.qatcs else None


def fewer(
    frames: Frames, name: str, *, numbers: Sequence[int] | None = None, min_qes: int = 6,
    by_paper: bool = False,
) -> tuple[Fewer, ...]:  # fmt: skip
    """Steps 1 to 3 over the first QEs of each Q@C. The query process is the one that all its QEs showed.

    `numbers`: by default what the runs had, and up to three fewer, while Step 3 needs less than that.
    """
    if numbers is None:
        had = int(value(frames.run.qes_per_qatc.max()) or 0)
        numbers = range(had, max(had - 4, min_qes), -1)
    rows = []
    for number in numbers:
        analysis = Analysis(frames, method_of(name), min_qes, by_paper, number)
        left = remaining(analysis.judged, analysis.qatcs, analysis.method)
        start, end = left[0], left[-1]
        each = end.qes / end.qatcs if end.qatcs else None
        rows.append(Fewer(number, start.qatcs, start.qatcs - end.qatcs, each))
    return tuple(rows)
