"""Origin of a report: the runs that it is computed from, when it is written, and by which Tare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version

from tare.lab.ids import experiment_id
from tare.report.safe import lab_name


@dataclass(frozen=True, slots=True)
class Origin:
    """Runs and lab as the user named them, when the report was written (ISO 8601, UTC), and by which Tare."""

    runs: Sequence[str]
    lab: str
    written_at: str
    written_by: str

    @property
    def line(self) -> str:
        """The line below a report's title."""
        runs = f"run{'' if len(self.runs) == 1 else 's'} {', '.join(self.runs)} of {lab_name(self.lab)}"
        return f"{runs} · written {self.written_at[:10]} by Tare {self.written_by}"


def origin(runs: Sequence[str], lab: str) -> Origin:
    """Return the origin of a report that is written now."""
    named = [experiment_id(int(one)) if one.isdigit() else one for one in runs]
    return Origin(named, lab, written_at(), written_by())


def written_at() -> str:
    """Return the time of a report that is written now: ISO 8601, UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def written_by() -> str:
    """Return the version of Tare."""
    return version("tare-db")
