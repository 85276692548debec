"""Recording of what `tare time` measured in a lab, for trends."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass

from tare import extras
from tare.errors import TareError, UsageError
from tare.report.comparison import COMPARED
from tare.report.result import QueryResult, RunResult

AUTO = "auto"
_GIT_S = 10


@dataclass(frozen=True, slots=True)
class Recording:
    """A lab, and the commit that is measured; None: not told."""

    lab: str
    code: str | None

    @classmethod
    def of(cls, lab: str | None, code: str | None) -> Recording | None:
        """Recording as it was asked for, with the lab made where there is none. Raises UsageError or LabError, so that
        nothing is measured in vain."""
        if lab is None:
            if code is not None:
                raise UsageError("--commit is recorded in a lab only", "add --lab lab.db")
            return None
        extras.need("recording in a lab", "report")
        from tare.lab.store import open_lab

        commit = _commit_here() if code == AUTO else code
        open_lab(lab, create=True).close()
        return cls(lab, commit)

    def keep(self, result: RunResult) -> bool:
        """Record the queries that were measured whole; whether they are recorded. Prints why not: the result is there
        all the same."""
        try:
            return self._keep(result)
        except TareError as error:
            print(f"tare: {error}", file=sys.stderr)
            return False

    def _keep(self, result: RunResult) -> bool:
        from tare.dbms.base import Server
        from tare.lab.measurements import Measured, record
        from tare.lab.store import open_lab
        from tare.measure.environment import machine_facts

        if result.interrupted or result.error:
            print("tare: the run was cut short, and is not recorded in the lab", file=sys.stderr)
            return False
        found = result.environment.server
        measured = [
            Measured(one.name, one.sql, _samples(one)) for one in result.results if one.outcome == "ok"
        ]
        with open_lab(self.lab) as opened:
            record(
                opened,
                measured,
                server=Server(found.dbms, found.version, found.settings, found.url, found.local),
                facts=machine_facts(),
                cache=result.results[0].cache.asked,
                started_at=result.started_at,
                code=self.code,
            )
        return True


def _samples(query: QueryResult) -> dict[str, list[float]]:
    """Samples of each measure that every run has."""
    found = {}
    for name, measure in COMPARED.items():
        values = getattr(
            query.resources if measure.view == "resources" else query.measures, measure.name
        ).samples
        known = [value for value in values if value is not None]
        if known and len(known) == len(values):
            found[name] = known
    return found


def _commit_here() -> str:
    try:
        done = subprocess.run(
            ["git", "rev-parse", "HEAD"], capture_output=True, text=True, timeout=_GIT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UsageError(
            f"--commit auto: git cannot be asked: {error}", "give the commit: --commit SHA"
        ) from error
    if done.returncode != 0:
        raise UsageError(
            f"--commit auto: {done.stderr.strip() or 'git knows no commit here'}",
            "run it in a working tree of git, or give the commit: --commit SHA",
        )
    return done.stdout.strip()
