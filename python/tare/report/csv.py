"""The raw samples as CSV: one row a QE, in run order, one column a measure. Empty means not measured."""

from __future__ import annotations

import csv
import io

from tare.report.result import MeasureResult, PhaseMeasures, QEResult, QueryResult, RunResult

HEAD = ("index", "query", "sample", "warmup", "outcome", "started_at")
TAIL = ("plan_fingerprint", "rows", "answer_hash", "error")


def render(result: RunResult) -> str:
    """RFC 4180. Columns of the resources view begin with `resources_`; units are in the names.

    `wall_ms` is there for every QE, the other measures for those that are summed up.
    """
    out = io.StringIO()
    writer = csv.writer(out)
    columns = [name for query in result.results[:1] for name in _measures(query)]
    writer.writerow([*HEAD, *columns, *TAIL])
    rows = [(qe, query) for query in result.results for qe in query.qes]
    for qe, query in sorted(rows, key=lambda row: row[0].index):
        writer.writerow(_row(qe, query))
    return out.getvalue()


def _measures(query: QueryResult) -> dict[str, MeasureResult | None]:
    elapsed = {name: getattr(query.measures, name) for name in type(query.measures).model_fields}
    resources = {
        f"resources_{name}": getattr(query.resources, name) for name in type(query.resources).model_fields
    }
    phases = {name: getattr(query.phases, name, None) for name in PhaseMeasures.model_fields}
    return {**elapsed, **resources, **phases}


def _row(qe: QEResult, query: QueryResult) -> list[object]:
    values: list[object] = []
    for name, measure in _measures(query).items():
        if name == "wall_ms":
            values.append(qe.wall_ms)
        else:
            values.append(None if qe.sample is None or measure is None else measure.samples[qe.sample])
    head = [qe.index, query.name, qe.sample, str(qe.warmup).lower(), qe.outcome, qe.started_at]
    return [*head, *values, qe.fingerprint, qe.rows, qe.answer, qe.error]
