"""What every report ends with: what is missing, the runs' conditions, and how to do it again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from tare.report.conditions.document import Machine, Missing, Reproduction, Run


class Conditions(Protocol):
    """The part of a report's document that this needs."""

    @property
    def machines(self) -> Sequence[Machine]: ...
    @property
    def runs(self) -> Sequence[Run]: ...
    @property
    def missing(self) -> Sequence[Missing]: ...
    @property
    def reproduction(self) -> Sequence[Reproduction]: ...


class Cut(Protocol):
    """How much stands in the page."""

    @property
    def missing(self) -> int: ...
    @property
    def queries(self) -> int: ...
    @property
    def characters(self) -> int: ...


def context(report: Conditions, of_protocol: Sequence[str], cut: Cut) -> dict[str, Any]:
    """For conditions.html. `of_protocol`: its deviations."""
    return {
        "missing": {
            "rows": report.missing[: cut.missing],
            "left": max(0, len(report.missing) - cut.missing),
        },
        "machine_facts": list(dict.fromkeys(name for one in report.machines for name in one.facts)),
        "settings": _settings(report),
        "means": _means(report),
        "deviations": deviations(report, of_protocol),
        "versions": sorted({run.tare for run in report.runs}),
        "specifications": _specifications(report, cut),
    }


def deviations(report: Conditions, of_protocol: Sequence[str]) -> list[str]:
    """The protocol's, and those of single runs with which."""
    of_runs: dict[str, list[str]] = {}
    for run in report.runs:
        for one in run.deviations:
            of_runs.setdefault(one, []).append(str(run.id))
    return [
        *(one for one in of_protocol if one not in of_runs),
        *(f"{one} (run {', '.join(of)})" for one, of in of_runs.items()),
    ]


def _settings(report: Conditions) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for run in report.runs:
        one = {"name": f"{run.dbms} {run.version}", "settings": run.settings}
        if run.settings and one not in found:
            found.append(one)
    return found


def _means(report: Conditions) -> list[dict[str, str]]:
    runs: dict[tuple[str, str], list[str]] = {}
    for run in report.runs:
        for measure, why in run.means.items():
            runs.setdefault((measure, why), []).append(str(run.id))
    return [{"measure": m, "why": why, "runs": ", ".join(of)} for (m, why), of in runs.items()]


def _specifications(report: Conditions, cut: Cut) -> list[dict[str, Any]]:
    found = []
    for one in report.reproduction:
        queries, room = [], cut.characters
        for name, sql in one.queries[: cut.queries]:
            room -= len(sql)
            if room < 0:
                break
            queries.append((name, sql))
        found.append(
            {
                "name": one.experiment,
                "hash": one.hash,
                "toml": one.toml[: cut.characters],
                "cut": len(one.toml) > cut.characters,
                "queries": queries,
                "of": len(one.queries),
                "left": len(one.queries) - len(queries),
            }
        )
    return found
