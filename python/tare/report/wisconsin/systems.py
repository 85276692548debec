"""Runs that belong to the benchmark, and names of today's systems beside those of 1983."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tare.errors import UsageError
from tare.lab.ids import experiment_id
from tare.report.conditions.facts import Facts
from tare.report.wisconsin.document import System
from tare.report.wisconsin.stored import StoredQatC
from tare.report.words import dbms_name
from tare.workload.wisconsin.kinds import Generation


@dataclass(frozen=True)
class Named:
    """Generation, label and system of each run."""

    generations: Mapping[int, Generation]
    labels: Mapping[int, str]
    systems: Sequence[System]


def named(facts: Sequence[Facts], qatcs: Sequence[StoredQatC]) -> Named:
    """Runs of one DBMS and state of the caches are one system, unless they ran the same Q@Cs: then each is its own.

    Raises UsageError for a run of another experiment."""
    generations = {one.run["id"]: _generation(one) for one in facts}
    labels = {one.run["id"]: _label(one) for one in facts}
    done: dict[str, list[tuple[int, set[tuple[object, ...]]]]] = {}
    for one in facts:
        run = one.run["id"]
        own: set[tuple[object, ...]] = {(generations[run], q.query, q.size) for q in qatcs if q.run == run}
        done.setdefault(labels[run], []).append((run, own))
    for of_label in done.values():
        if any(a & b for place, (_, a) in enumerate(of_label) for _, b in of_label[:place]):
            labels.update({run: f"{labels[run]}, run {experiment_id(run)}" for run, _ in of_label})
    systems = []
    for label in dict.fromkeys(labels.values()):
        first, *more = [one for one in facts if labels[one.run["id"]] == label]
        systems.append(
            System(
                label=label,
                dbms=first.dbms["name"],
                version=first.dbms["version"],
                cache=first.run["cache"],
                runs=[one.run["id"] for one in (first, *more)],
            )
        )
    return Named(generations, labels, systems)


def _label(facts: Facts) -> str:
    cache = "" if facts.run["cache"] == "warm" else f", {facts.run['cache']}"
    numbers = re.match(r"[\d.]+", facts.dbms["version"])  # without what a distribution adds
    return f"{dbms_name(facts.dbms['name'])} {numbers[0] if numbers else facts.dbms['version']}{cache}"


def _generation(facts: Facts) -> Generation:
    try:
        written = tomllib.loads(facts.experiment["specification"])
        return Generation(str(written["wisconsin"]["generation"]))
    except (tomllib.TOMLDecodeError, KeyError, TypeError, ValueError):
        raise UsageError(
            f"run {experiment_id(facts.run['id'])} is of the experiment {facts.experiment['name']!r}, not of the "
            "Wisconsin benchmark",
            "give runs that `tare bench wisconsin` made, or report this one with `tare report`",
        ) from None
