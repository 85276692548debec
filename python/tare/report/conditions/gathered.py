"""The conditions of the runs: machines, DBMSes and their settings, how the kernel was read, what is missing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tare.lab.answers import rows
from tare.lab.frames import Frames
from tare.lab.states import QatCState
from tare.report.conditions.document import Machine, Missing, Reproduction, Run
from tare.report.conditions.facts import Facts


def machines(facts: Sequence[Facts]) -> list[Machine]:
    """Each once, in the order of the runs."""
    found: list[Machine] = []
    for one in facts:
        machine = Machine(facts={str(key): _plain(value) for key, value in one.machine["facts"].items()})
        if machine not in found:
            found.append(machine)
    return found


def _plain(value: Any) -> str | int | float | bool | None:
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)


def runs(facts: Sequence[Facts], frames: Frames) -> list[Run]:
    of_qe = {row["run_id"]: row["n"] for row in rows(frames.qe.group_by("run_id").agg(n=frames.qe.count()))}
    of_query = {
        row["run_id"]: row["n"] for row in rows(frames.query.group_by("run_id").agg(n=frames.query.count()))
    }
    of_state = {
        (row["run_id"], row["state"]): row["n"]
        for row in rows(frames.qatc.group_by(["run_id", "state"]).agg(n=frames.qatc.count()))
    }
    known = [one.facts for one in machines(facts)]
    return [
        Run(
            id=run["id"],
            uuid=run["uuid"],
            experiment=one.experiment["name"],
            scenario=one.experiment["scenario"],
            dbms=one.dbms["name"],
            version=one.dbms["version"],
            settings={str(key): str(value) for key, value in (one.dbms["settings"] or {}).items()},
            machine=known.index({str(key): _plain(value) for key, value in one.machine["facts"].items()}),
            state=run["state"],
            said=run["said"],
            cache=run["cache"],
            qes_per_qatc=run["qes_per_qatc"],
            timeout_ms=run["timeout_ns"] / 1e6 if run["timeout_ns"] else None,
            started_at=run["started_at"],
            ended_at=run["ended_at"],
            tier=run["tier"],
            tick_ms=run["tick_ns"] / 1e6,
            online_cpus=run["online_cpus"],
            tare=run["tare"],
            means={str(key): str(value) for key, value in (run["means"] or {}).items()},
            deviations=[str(deviation) for deviation in run["deviations"] or []],
            queries=of_query.get(run["id"], 0),
            qatcs=of_state.get((run["id"], QatCState.TIMED), 0),
            same_plan=of_state.get((run["id"], QatCState.SAME_PLAN), 0),
            failed_qatcs=of_state.get((run["id"], QatCState.FAILED), 0),
            qes=of_qe.get(run["id"], 0),
        )
        for one in facts
        for run in (one.run,)
    ]


def missing(frames: Frames) -> list[Missing]:
    """Queries that could not be run, then Q@Cs that failed."""
    dbms_of = {row["id"]: row["dbms"] for row in rows(frames.run.select("id", "dbms"))}
    queries = frames.query.filter(frames.query.error.notnull()).order_by(["run_id", "number"])
    qatcs = frames.qatc.filter(frames.qatc.state == QatCState.FAILED.value)
    qatcs = qatcs.order_by(["run_id", "query_number", "visit"])
    return [
        *(
            Missing(
                run=row["run_id"], dbms=dbms_of[row["run_id"]], query=row["name"], cardinality=None, why=row["error"]
            )
            for row in rows(queries.select("run_id", "name", "error"))
        ),
        *(
            Missing(
                run=row["run_id"],
                dbms=dbms_of[row["run_id"]],
                query=row["query"],
                cardinality=row["cardinality"],
                why=row["said"] or "the lab does not say why",
            )
            for row in rows(qatcs.select("run_id", "query", "cardinality", "said"))
        ),
    ]  # fmt: skip


def reproduction(facts: Sequence[Facts], frames: Frames) -> list[Reproduction]:
    """Each experiment once, with its queries as they were run first."""
    queries = rows(frames.query.order_by(["run_id", "number"]).select("run_id", "name", "sql"))
    found: dict[str, Reproduction] = {}
    for one in facts:
        key = one.experiment["specification_hash"]
        if key not in found:
            found[key] = Reproduction(
                experiment=one.experiment["name"],
                hash=key,
                toml=one.experiment["specification"],
                queries=[(row["name"], row["sql"]) for row in queries if row["run_id"] == one.run["id"]],
            )
    return list(found.values())
