"""From a transactional run to the rows of the lab's tables, and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from pydantic import TypeAdapter
from sqlalchemy import RowMapping

from tare.dbms.base import Server
from tare.dbms.url import redacted
from tare.lab import histogram
from tare.lab.rows import Row, clean
from tare.lab.schema_oltp import COUNTS, DISTRIBUTIONS, QUICK
from tare.measure.environment import MachineFacts
from tare.workload.oltp.distribution import Distribution
from tare.workload.oltp.run import Asked, CurveStep, Measure, OltpRun, Phase, Trouble
from tare.workload.oltp.told import Checked, Counts, Loaded, OfType, Outcome, Own, Quick, Second
from tare.workload.oltp.verdict import DERIVED, Fact, Neighbours, Sentence

ALL = "all"
"""The name of all types together."""


def run_row(run: OltpRun) -> Row:
    """All of `oltp_run` but its ids."""
    outcome = run.outcome
    return {
        "uuid": run.uuid,
        "url": redacted(run.url),
        "local": run.server.local,
        "started_at": run.started_at,
        "ended_at": run.ended_at,
        "workload": run.workload,
        "scale": run.loaded.scale,
        "data_seed": str(run.loaded.seed),
        "data_options": clean(run.loaded.options),
        "data_complete": run.loaded.complete,
        "asked": asdict(run.asked),
        "isolation": clean(run.isolation),
        "valid": run.is_valid,
        "invalid": [_fact(one) for one in run.invalid],
        "not_judged": [_fact(one) for one in run.not_judged],
        "freezes": None if outcome.freezes is None else [one.model_dump() for one in outcome.freezes],
        "restarted": run.restarted,
        **{name: getattr(outcome, name) for name in _OF_OUTCOME},
        "warmup": outcome.warmup.model_dump(),
        "own_cpu_ns": outcome.own.cpu_ns,
        "own_peak_rss_bytes": outcome.own.peak_rss_bytes,
        "mix": list(outcome.mix),
        "troubles": [{"at_s": one.at_s, "text": clean(one.text)} for one in run.troubles],
        "unmeasured": {name: clean(why) for name, why in (run.unmeasured or {}).items()},
        "deviations": [clean(one) for one in run.deviations],
    }


_OF_OUTCOME = (
    "started_ns", "took_ns", "intended_rate", "rate", "sustained_rate", "warmup_ns", "reconnects", "samples",
)  # fmt: skip


def type_rows(outcome: Outcome) -> list[Row]:
    return [
        {
            "number": number,
            "name": one.name,
            **_counts(one.counts),
            **{
                f"{name}_{key}": value
                for name in DISTRIBUTIONS
                for key, value in _distribution(getattr(one, name)).items()
            },
        }
        for number, one in enumerate((*outcome.types, outcome.all))
    ]


def second_rows(seconds: Sequence[Second]) -> list[Row]:
    return [
        {
            "number": one.number,
            "phase": one.phase,
            **_counts(one.counts),
            "backlog": one.backlog,
            "running": one.running,
            **_quick("response", one.response),
            **_quick("service", one.service),
            "own_cpu_ns": one.own_cpu_ns,
        }
        for one in seconds
    ]


def measure_rows(measures: Sequence[Measure]) -> list[Row]:
    return [asdict(one) for one in measures]


def check_rows(run: OltpRun) -> list[Row]:
    return [
        {
            "moment": moment,
            "number": number,
            "name": one.name,
            "says": one.says,
            "failing": one.failing,
            "columns": [clean(name) for name in one.columns],
            "rows": [[clean(cell) for cell in row] for row in one.rows],
            "took_ns": one.took_ns,
        }
        for moment, found in (("before", run.before), ("after", run.after))
        for number, one in enumerate(found)
    ]


def quantile(row: RowMapping, of: str, share: float) -> int | None:
    """Return a quantile of a row of `oltp_type`, or of a part of one that has the histogram."""
    buckets = histogram.decode(row[f"{of}_histogram"])
    if not buckets:
        return None
    return Distribution(
        count=row[f"{of}_count"], min=buckets[0][0], max=buckets[-1][0], histogram=buckets
    ).quantile(share)


# And back -----------------------------------------------------------------------------
def run_of(
    row: RowMapping,
    types: Sequence[RowMapping],
    seconds: Sequence[RowMapping],
    measures: Sequence[RowMapping],
    checks: Sequence[RowMapping],
) -> OltpRun:
    """`row`: of `oltp_run` with `dbms_name`, `dbms_version`, `dbms_settings` and the machine's `facts`."""
    asked = dict(row["asked"])
    asked["phases"] = tuple(Phase(**one) for one in asked["phases"])
    if asked.get("step") is not None:
        asked["step"] = CurveStep(**asked["step"])
    return OltpRun(
        uuid=row["uuid"],
        started_at=row["started_at"],
        ended_at=row["ended_at"],
        url=row["url"],
        server=Server(
            row["dbms_name"], row["dbms_version"], row["dbms_settings"], row["url"], bool(row["local"])
        ),
        machine=MachineFacts(**row["facts"]),
        workload=row["workload"],
        loaded=Loaded(
            workload=row["workload"],
            scale=row["scale"],
            seed=int(row["data_seed"]),
            options=row["data_options"],
            complete=row["data_complete"],
        ),
        asked=Asked(**asked),
        isolation=row["isolation"],
        outcome=_outcome(row, [_of_type(one) for one in types]),
        seconds=tuple(_second(one) for one in seconds),
        measures=tuple(
            Measure(one["second"], one["name"], one["value"], one["unit"])
            for one in sorted(measures, key=lambda one: (one["second"], one["name"]))
        ),
        before=tuple(_checked(one) for one in checks if one["moment"] == "before"),
        after=tuple(_checked(one) for one in checks if one["moment"] == "after"),
        troubles=tuple(Trouble(**one) for one in row["troubles"]),
        unmeasured=row["unmeasured"],
        deviations=tuple(row["deviations"]),
        restarted=row["restarted"],
        disturbed=next(
            map(_NEIGHBOURS.validate_python, filter(_is_of_neighbours, _not_judged_of(row))), None
        ),
    )


def _outcome(row: RowMapping, types: list[OfType]) -> Outcome:
    return Outcome.model_validate(
        {
            **{name: row[name] for name in _OF_OUTCOME},
            "invalid": [one for one in _facts_of(row["invalid"]) if one["kind"] not in DERIVED],
            "not_judged": [one for one in _not_judged_of(row) if not _is_of_neighbours(one)],
            "freezes": row["freezes"],
            "types": types[:-1],
            "all": types[-1],
            "warmup": row["warmup"],
            "own": Own(cpu_ns=row["own_cpu_ns"], peak_rss_bytes=row["own_peak_rss_bytes"]),
            "mix": row["mix"],
        }
    )


def _of_type(row: RowMapping) -> OfType:
    distributions = {name: _distribution_of(row, name) for name in DISTRIBUTIONS}
    return OfType.model_validate({"name": row["name"], "counts": _counts_of(row), **distributions})


def _second(row: RowMapping) -> Second:
    names = ("number", "phase", "backlog", "running", "own_cpu_ns")
    return Second.model_validate(
        {
            **{name: row[name] for name in names},
            "counts": _counts_of(row),
            "response": _quick_of(row, "response"),
            "service": _quick_of(row, "service"),
        }
    )


def _checked(row: RowMapping) -> Checked:
    names = ("name", "says", "failing", "columns", "rows", "took_ns")
    return Checked.model_validate({name: row[name] for name in names})


# Parts ----------------------------------------------------------------------------------
def _fact(fact: Fact) -> Row:
    return {
        name: clean(value) if isinstance(value, str) else value for name, value in fact.model_dump().items()
    }


def _facts_of(found: Sequence[Row | str]) -> list[Row]:
    """A sentence is of a schema before 0004."""
    return [Sentence(text=one).model_dump() if isinstance(one, str) else one for one in found]


def _not_judged_of(row: RowMapping) -> list[Row]:
    return _facts_of(row["not_judged"] or ())


_NEIGHBOURS: TypeAdapter[Neighbours] = TypeAdapter(Neighbours)


def _is_of_neighbours(fact: Row) -> bool:
    return fact["kind"] in ("disturbed", "unwatched")


def _counts(counts: Counts) -> Row:
    return {name: getattr(counts, name) for name in COUNTS}


def _counts_of(row: RowMapping) -> Counts:
    return Counts(**{name: row[name] for name in COUNTS})


_MOMENTS = ("count", "mean", "m2", "norm", "power_sum", "min", "max")


def _distribution(of: Distribution) -> Row:
    return {
        **{name: getattr(of, name) for name in _MOMENTS},
        "histogram": histogram.encode(of.histogram),
    }


def _distribution_of(row: RowMapping, name: str) -> Distribution:
    return Distribution(
        **{key: row[f"{name}_{key}"] for key in _MOMENTS},
        histogram=histogram.decode(row[f"{name}_histogram"]),
    )


def _quick(name: str, of: Quick | None) -> Row:
    return {f"{name}_{key}": None if of is None else getattr(of, key) for key in QUICK}


def _quick_of(row: RowMapping, name: str) -> Quick | None:
    found = {key: row[f"{name}_{key}"] for key in QUICK}
    return None if found["mean"] is None else Quick(**found)
