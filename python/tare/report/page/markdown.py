"""Markdown of the parts that reports of a lab share: what is missing, the conditions, and how to do it again."""

from __future__ import annotations

from collections.abc import Sequence

from tare.report.conditions.document import Reproduction
from tare.report.kit.markdown import fenced, plain, table
from tare.report.numbers import thousands
from tare.report.page import filters
from tare.report.page.conditions import Conditions, deviations
from tare.report.safe import short

MOST_MISSING = 500  # rows


def missing(report: Conditions) -> list[str]:
    if not report.missing:
        return ["## Missing queries and failed Q@Cs", "None."]
    rows = (
        [str(one.run), one.dbms, short(one.query),
         "all" if one.cardinality is None else thousands(one.cardinality), short(one.why, 400)]
        for one in report.missing[:MOST_MISSING]
    )  # fmt: skip
    return [
        "## Missing queries and failed Q@Cs",
        table(("run", "DBMS", "query", "cardinality", "why"), rows),
    ]


def conditions(report: Conditions, of_protocol: Sequence[str]) -> list[str]:
    names = list(dict.fromkeys(name for one in report.machines for name in one.facts))
    machines = (
        [name.replace("_", " "), *(filters.fact(one.facts.get(name), name) for one in report.machines)]
        for name in names
    )
    runs = (
        [f"{run.id} ({run.uuid[:8]})", f"{run.dbms} {run.version}", str(run.machine + 1), str(run.online_cpus),
         run.cache, str(run.qes_per_qatc), thousands(run.qes), run.tier, filters.instant(run.started_at),
         run.state]
        for run in report.runs
    )  # fmt: skip
    head = (
        "run",
        "DBMS",
        "machine",
        "CPUs",
        "caches",
        "QEs a Q@C",
        "QEs",
        "kernel read by",
        "begun",
        "state",
    )
    found = deviations(report, of_protocol)
    return [
        "## Conditions",
        table(head, runs),
        table(("fact", *(f"machine {place}" for place in range(1, len(report.machines) + 1))), machines),
        "\n".join(f"- deviation: {plain(one)}" for one in found) if found else "No deviation was recorded.",
    ]


def reproduce(commands: Sequence[str], reproduction: Sequence[Reproduction]) -> list[str]:
    blocks = ["## How to do it again", fenced("\n".join(commands))]
    for one in reproduction:
        blocks += [
            f"Specification of {plain(one.experiment)}, SHA-256 `{one.hash}`:",
            fenced(one.toml, "toml"),
        ]
    return blocks
