"""Runs made by hand, as an executor would leave them."""

from __future__ import annotations

from typing import Any

from tare.dbms.base import Plan, PlanNode, Server
from tare.experiment.specification import Specification
from tare.lab.progress import progress
from tare.lab.recorder import Recorder
from tare.lab.states import RunState
from tare.lab.store import Lab
from tare.measure.environment import MachineFacts
from tare.measure.query import Query
from tests.unit.lab.raw import raw
from tests.unit.protocol.qe_records import TICK_NS, qe

TOML = 'name = "small"'
SERVER = Server("postgresql", "18.4", {"work_mem": "4MB"}, "postgresql://user@localhost/db", local=True)
MACHINE = MachineFacts("a CPU", 2, 2, 1 << 34, None, "6.1", "Debian", "3.11", "0.1.0")
SCAN = Plan(PlanNode("Seq Scan", {"relation": "t"}), "Seq Scan on t")
INDEX = Plan(PlanNode("Index Scan", {"relation": "t"}), "Index Scan on t")
QUERIES = (Query("first", "SELECT 1"), Query("second", "SELECT 2"))


def specification(**changes: Any) -> Specification:
    given: dict[str, Any] = {
        "name": "small",
        "dbms": [{"name": "pg", "url": "postgresql://x"}],
        "tables": [{"name": "t", "cardinality": 100, "step": 10}],
        "queries": [{"name": "first", "sql": "SELECT 1"}, {"name": "second", "sql": "SELECT 2"}],
        "qes": 3,
    }
    return Specification.model_validate(given | changes)


def begin(recorder: Recorder, *, server: Server = SERVER, run_uuid: str | None = None, **changes: Any) -> int:
    return recorder.begin(
        specification(**changes),
        TOML,
        server,
        MACHINE,
        tick_ns=TICK_NS,
        online_cpus=2,
        tier="bpf",
        means={"instructions": "no counter here"},
        deviations=["one thing is otherwise"],
        queries=QUERIES,
        run_uuid=run_uuid,
    )


def begun(lab: Lab, **changes: Any) -> tuple[Recorder, int, int]:
    """A recorder, a run, and a Q@C of its first query that is to be timed."""
    recorder = Recorder(lab)
    run_id = begin(recorder, **changes)
    first = progress(lab, run_id).queries[0].id
    return recorder, run_id, recorder.visit(first, 0, 100, SCAN, timed=True)


def whole_run(lab: Lab, qes: int = 3, **changes: Any) -> int:
    """Done: two queries with two cardinalities each, the lower one under the same plan."""
    recorder = Recorder(lab)
    run_id = begin(recorder, **changes)
    order = 0
    for query in progress(lab, run_id).queries:
        qatc_id = recorder.visit(query.id, 0, 100, SCAN, timed=True)
        for number in range(1, qes + 1):
            reading, record = raw(order)
            recorder.record(qatc_id, 1, number, qe(order, raw=reading, **record))
            order += 1
        recorder.timed(qatc_id)
        recorder.visit(query.id, 1, 90, SCAN, timed=False)
    recorder.state(run_id, RunState.DONE)
    return run_id
