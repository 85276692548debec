"""From experiment down to Q@C."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from benchmarks.synthetic.shape import CARDINALITY_STEP, MAX_ROWS, QES, TICK_NS, TIMEOUT_NS
from tare.lab.rows import digest
from tare.lab.states import QatCState, RunState

Rows = list[dict[str, Any]]

DBMSES = (("postgresql", "18.0"), ("mariadb", "10.11.6"), ("sqlite", "3.46.0"), ("duckdb", "1.4.0"))
RUNS = 36  # nine experiments on each of the four
ONE_PASS = 3  # of the nine
QATCS_PER_QUERY = 55_585 / 4_800  # TTPv2 Table XVI

_FIRST_DAY = "2026-01-01T00:00:00.000Z"
_MACHINE = {
    "cpu_model": "Synthetic CPU", "online_cpus": 1, "usable_cpus": 1, "memory_bytes": 8 << 30,
    "hypervisor": None, "kernel": "6.12.0", "operating_system": "Synthetic Linux", "python": "3.11.0",
    "tare": "0.1.0",
}  # fmt: skip


@dataclass(frozen=True)
class TimedQatcs:
    """Timed Q@Cs of one run, as arrays of one length, in the order of the run."""

    run: int
    dbms: str
    id: NDArray[np.int64]
    query: NDArray[np.int64]
    cardinality: NDArray[np.int64]
    smallest: NDArray[np.bool_]  # at its query's lowest cardinality
    largest: NDArray[np.bool_]
    plan: list[str]  # fingerprints


def top() -> dict[str, Rows]:
    """Rows of the tables above the runs."""
    return {
        "experiment": [
            {
                "id": number + 1,
                "name": f"synthetic-{number}",
                "scenario": "onepass" if number < ONE_PASS else "exhaustive",
                "description": "Invented; nothing in it was measured.",
                "specification": "",
                "specification_hash": _hash("experiment", number),
                "created_at": _FIRST_DAY,
            }
            for number in range(RUNS // len(DBMSES))
        ],
        "dbms": [
            {
                "id": place + 1, "name": name, "version": version, "settings": "{}",
                "digest": digest({"name": name, "version": version, "settings": {}}),
            }
            for place, (name, version) in enumerate(DBMSES)
        ],
        "machine": [{"id": 1, "facts": json.dumps(_MACHINE), "digest": digest(_MACHINE)}],
    }  # fmt: skip


def sizes(random: Generator, qatcs: int) -> list[NDArray[np.int64]]:
    """For each run, the number of timed Q@Cs of each of its queries; `qatcs` in all, each query with one."""
    queries = max(1, round(qatcs / QATCS_PER_QUERY))
    weights = random.uniform(0.2, 1.8, queries)
    extra = random.multinomial(qatcs - queries, weights / weights.sum())
    return [each + 1 for each in np.array_split(extra, min(RUNS, queries))]


def run_row(run: int) -> dict[str, Any]:
    place = run - 1
    return {
        "id": run,
        "experiment_id": place // len(DBMSES) + 1,
        "dbms_id": place % len(DBMSES) + 1,
        "machine_id": 1,
        "uuid": f"{_hash('run', run)[:8]}-0000-4000-8000-{run:012d}",
        "state": RunState.DONE.value,
        "url": f"{DBMSES[place % len(DBMSES)][0]}://synthetic",
        "started_at": _FIRST_DAY,
        "ended_at": _FIRST_DAY,
        "cache": "cold",
        "qes_per_qatc": QES,
        "timeout_ns": TIMEOUT_NS,
        "tick_ns": TICK_NS,
        "online_cpus": 1,
        "tier": "bpf",
        "tare": "0.1.0",
        "means": "{}",
        "deviations": "[]",
    }


def queries_and_qatcs(
    random: Generator, run: int, counts: NDArray[np.int64], first_query: int, first_qatc: int
) -> tuple[Rows, Rows, TimedQatcs]:
    """Queries of one run, all its Q@Cs that were visited, and those of them that were timed."""
    one_pass = run_row(run)["experiment_id"] <= ONE_PASS
    queries: Rows = []
    visited: Rows = []
    for number, count in enumerate(counts.tolist()):
        query = first_query + number
        queries.append(
            {"id": query, "run_id": run, "number": number, "name": f"q{number:03d}", "sql": _sql(random)}
        )
        for visit, (cardinality, plan, timed) in enumerate(_walk(random, count, one_pass)):
            fingerprint = _hash("plan", run, query, plan)[:16]
            visited.append(
                {
                    "id": first_qatc + len(visited),
                    "query_id": query,
                    "run_id": run,
                    "visit": visit,
                    "cardinality": cardinality,
                    "state": (QatCState.TIMED if timed else QatCState.SAME_PLAN).value,
                    "attempt": 1,
                    "plan_fingerprint": fingerprint,
                    "plan": json.dumps({"operator": f"Plan {plan}", "detail": {}, "children": []}),
                }
            )
    timed_rows = [row for row in visited if row["state"] == QatCState.TIMED]
    query_of = np.array([row["query_id"] for row in timed_rows], dtype=np.int64)
    changes = np.diff(query_of) != 0
    return queries, visited, TimedQatcs(
        run=run,
        dbms=DBMSES[(run - 1) % len(DBMSES)][0],
        id=np.array([row["id"] for row in timed_rows], dtype=np.int64),
        query=query_of,
        cardinality=np.array([row["cardinality"] for row in timed_rows], dtype=np.int64),
        smallest=np.append(changes, True),
        largest=np.append(True, changes),
        plan=[row["plan_fingerprint"] for row in timed_rows],
    )  # fmt: skip


def _walk(random: Generator, count: int, one_pass: bool) -> Iterator[tuple[int, int, bool]]:
    """Cardinality, plan and whether it is timed, from the largest down. *OnePass* meets each plan twice
    and times it once; *Exhaustive* times every cardinality, under one to four plans in turn."""
    visits = count * 2 if one_pass else count
    plans = int(random.integers(1, 5))
    for visit in range(visits):
        share = (visits - visit) / visits
        cardinality = max(1, round(MAX_ROWS * share / CARDINALITY_STEP)) * CARDINALITY_STEP
        if one_pass:
            yield cardinality, visit // 2 % (plans + 1), visit % 2 == 0
        else:
            yield cardinality, visit * plans // visits, True


def _sql(random: Generator) -> str:
    tables = int(random.integers(1, 5))
    names = [f"ft_HT{place + 1} t{place}" for place in range(tables)]
    joins = [f"t{place}.id{random.integers(1, 5)} = t{place + 1}.id1" for place in range(tables - 1)]
    where = f" WHERE {' AND '.join(joins)}" if joins else ""
    return f"SELECT t0.id1, SUM(t{tables - 1}.id4) FROM {', '.join(names)}{where} GROUP BY t0.id1"


def _hash(*parts: object) -> str:
    return hashlib.sha256("/".join(map(str, parts)).encode()).hexdigest()
