"""The lab as a protocol sees it: five tables of Ibis expressions, whatever engine holds them.

The same expressions run on DuckDB over a lab or its Parquet export and, unchanged, on Spark (or
another Ibis engine) over the export. Columns are those of `tare.lab.columns`, which leaves out what no
protocol reads; what is added is said beside each table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import ibis
import ibis.expr.types as ir
import sqlalchemy as sa
from ibis.backends import BaseBackend
from ibis.util import gen_name

from tare.errors import NoSuchRun
from tare.lab.answers import kept
from tare.lab.columns import TABLES, columns, ibis_type
from tare.lab.copied import copied
from tare.lab.exported import exported, exported_runs, is_export
from tare.lab.schema import run as run_table
from tare.lab.store import Lab, find_runs, open_lab
from tare.lab.workspace import seldom_collected
from tare.measure.records import Outcome

__all__ = ["Frames", "frames_of", "is_export", "open_frames"]


@dataclass(frozen=True)
class Frames:
    """Restricted to the runs that were asked for.

    run      run.*, with `experiment`, `scenario` (names), `dbms`, `dbms_version`
    query    query.*
    qatc     qatc.*, with `query` (name), `query_number`, `dbms`
    qe       qe.* that count: the last attempt of their Q@C, no warm-up, outcome ok or timeout and
             `number` not NULL; with `query_id`, `cardinality`, `dbms`, `tick_ns`, `cache`
    process  process.* of those QEs, with `qatc_id`
    """

    run: ir.Table
    query: ir.Table
    qatc: ir.Table
    qe: ir.Table
    process: ir.Table


@seldom_collected()
def open_frames(where: str | Path, runs: Sequence[str] | None = None) -> Frames:
    """The runs asked for (numbers or beginnings of uuids; None: all) of a lab or of a folder of an export.

    Raises LabError, LabTooNew, ForeignFile and NoSuchRun.
    """
    if is_export(Path(where)):
        backend = exported(Path(where))
        return frames_of(backend, runs=exported_runs(backend, Path(where), runs))
    with open_lab(str(where)) as lab:
        asked = _all_runs(lab) if runs is None else find_runs(lab, runs)
        return frames_of(copied(lab, str(where), asked))


def frames_of(
    backend: BaseBackend, tables: Mapping[str, ir.Table] | None = None, runs: Sequence[int] | None = None
) -> Frames:
    """Frames over a lab's tables: `tables` by their names in the lab, or those that `backend` has by them.
    `runs`: ids to restrict to; None: all."""
    raw = {name: _typed(name, tables[name] if tables else backend.table(name)) for name in TABLES}

    def view(table: ir.Table) -> ir.Table:
        """By a name of its own: what is built on it need not spell out how it was made."""
        return backend.create_view(gen_name("tare_frame"), table)

    experiment = raw["experiment"].select(experiment_id="id", experiment="name", scenario="scenario")
    dbms = raw["dbms"].select(dbms_id="id", dbms="name", dbms_version="version")
    chosen = raw["run"] if runs is None else raw["run"].filter(raw["run"].id.isin(list(runs)))
    run = kept(chosen.inner_join(experiment, "experiment_id").inner_join(dbms, "dbms_id"))
    of_run = run.select(run_id="id", dbms="dbms", tick_ns="tick_ns", cache="cache")

    query = kept(raw["query"].semi_join(of_run, "run_id"))
    of_query = query.select(query_id="id", query="name", query_number="number")
    qatc = kept(
        raw["qatc"].inner_join(of_query, "query_id").inner_join(of_run.select("run_id", "dbms"), "run_id")
    )
    of_qatc = qatc.select(qatc_id="id", attempt="attempt", query_id="query_id", cardinality="cardinality")

    qe = raw["qe"]
    counting = qe.filter(
        ~qe.warmup, qe.number.notnull(), qe.outcome.isin([Outcome.OK.value, Outcome.TIMEOUT.value])
    )
    qe = view(counting.inner_join(of_qatc, ["qatc_id", "attempt"]).inner_join(of_run, "run_id"))
    process = view(raw["process"].inner_join(qe.select(qe_id="id", qatc_id="qatc_id"), "qe_id"))
    return Frames(run, query, qatc, qe, process)


def _all_runs(lab: Lab) -> list[int]:
    with lab.reading() as connection:
        found = list(connection.execute(sa.select(run_table.c.id).order_by(run_table.c.id)).scalars())
    if not found:
        raise NoSuchRun(f"the lab {lab.where} has no runs", "make one with `tare experiment run`")
    return found


def _typed(name: str, table: ir.Table) -> ir.Table:
    """With the analysis' columns, in its types: files and drivers have their own idea of a boolean."""
    wanted = columns(name)
    chosen = table.select(*(column.name for column in wanted))
    types = {column.name: ibis.dtype(ibis_type(column)) for column in wanted}
    return chosen.cast({n: t for n, t in types.items() if chosen.schema()[n].copy(nullable=True) != t})
