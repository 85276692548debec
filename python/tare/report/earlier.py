"""Two earlier results of `tare time`, compared query by query."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import ValidationError

from tare.errors import UsageError
from tare.measure.choices import CacheState
from tare.protocol.compare import compare
from tare.protocol.measures import WALL
from tare.report import result as document
from tare.report import warnings
from tare.report.asked import Asked
from tare.report.comparison import COMPARED, TOTAL_CPU, measure_comparison
from tare.report.words import dbms_name


def read_result(path: Path) -> document.RunResult:
    """Raises UsageError."""
    try:
        return document.RunResult.model_validate_json(path.read_bytes())
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}", "give a file that --json wrote") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise UsageError(
            f"{path} is not a result of `tare time`: {where or 'the file'}: {first['msg']}",
            "give two files that `tare time --json FILE` wrote",
        ) from None


def compare_earlier(
    old: document.RunResult, new: document.RunResult, labels: tuple[str, str], about: str | None, command: str
) -> list[document.RunResult]:
    """Results, one for each query that both have, with the comparison of the two. Raises UsageError."""
    return [
        _compared(old, new, a, b, labels, about, command) for a, b in _pairs(old.results, new.results, labels)
    ]


def _pairs(
    old: Sequence[document.QueryResult], new: Sequence[document.QueryResult], labels: tuple[str, str]
) -> list[tuple[document.QueryResult, document.QueryResult]]:
    """Queries of one name, or the only one of each."""
    if len(old) == len(new) == 1:
        return [(old[0], new[0])]
    by_name = {one.name: one for one in new}
    pairs = [(one, by_name[one.name]) for one in old if one.name in by_name]
    if not pairs:
        raise UsageError(
            f"{labels[0]} and {labels[1]} have no query of one name",
            "weigh the same files in both sessions; of one query each, the names may differ",
        )
    return pairs


def _compared(
    old: document.RunResult,
    new: document.RunResult,
    a: document.QueryResult,
    b: document.QueryResult,
    labels: tuple[str, str],
    about: str | None,
    command: str,
) -> document.RunResult:
    warm = a.cache.asked == b.cache.asked == CacheState.WARM.value
    primary = about or (TOTAL_CPU if warm else WALL.name)
    found = {
        name: compare(one, other)
        for name in COMPARED
        if (one := _samples(a, name)) and (other := _samples(b, name))
    }
    if primary not in found:
        raise UsageError(
            f"{a.name}: {primary} is not in both results", f"give --measure: {', '.join(found) or 'none is'}"
        )
    chosen = found[primary]
    named = (
        a.model_copy(update={"name": f"{labels[0]}: {a.name}"}),
        b.model_copy(update={"name": f"{labels[1]}: {b.name}"}),
    )
    agree = _answers_agree(a.answer, b.answer)
    cautions: list[warnings.Caution] = [
        warnings.NotInterleaved(None, (old.started_at, new.started_at), tuple(_changes(old, new, a, b)))
    ]
    if agree is False:
        cautions.insert(
            0, warnings.AnswersDiffer(None, f"{named[0].name} and {named[1].name} return different rows")
        )
    asked = Asked(runs=len(b.qes), compare=primary)
    return document.RunResult(
        command=command,
        started_at=new.started_at,
        interrupted=False,
        error=None,
        environment=new.environment,
        results=list(named),
        comparison=document.ComparisonResult(
            a=named[0].name,
            b=named[1].name,
            primary=primary,
            verdict=chosen.verdict,
            greater=chosen.greater,
            answers_agree=agree,
            measures={name: measure_comparison(one, COMPARED[name].unit) for name, one in found.items()},
            stop=document.StopResult(rule=None, reached=None, half_width=None),
            interleaved=False,
        ),
        warnings=[
            document.WarningResult(
                type=warnings.type_name(type(one)),
                query=None,
                cause=one.cause,
                evidence=one.evidence,
                next_step=one.next_step(asked),
            )
            for one in cautions
        ],
    )


def _samples(query: document.QueryResult, name: str) -> list[float]:
    measures = query.resources if name == TOTAL_CPU else query.measures
    measure: document.MeasureResult = getattr(measures, name.rpartition(".")[2])
    return [sample for sample in measure.samples if sample is not None]


def _answers_agree(a: document.AnswerResult, b: document.AnswerResult) -> bool | None:
    """None where doubles may be on either side of a rounding: a result has their hash only."""
    if a.hash is None or b.hash is None:
        return None
    if (a.rows, a.hash) == (b.rows, b.hash):
        return True
    return None if a.rows == b.rows and (a.difference is not None or b.difference is not None) else False


def _changes(
    old: document.RunResult, new: document.RunResult, a: document.QueryResult, b: document.QueryResult
) -> Iterator[str]:
    """Conditions that are not the same in both."""
    before, after = old.environment, new.environment
    pairs = [
        ("server", *(f"{dbms_name(one.server.dbms)} {one.server.version}" for one in (before, after))),
        ("machine", before.machine.cpu_model, after.machine.cpu_model),
        ("CPUs", str(before.machine.usable_cpus), str(after.machine.usable_cpus)),
        ("kernel", before.kernel, after.kernel),
        ("probe", before.probe.tier, after.probe.tier),
        ("Tare", before.tare.version, after.tare.version),
        ("cache", a.cache.asked, b.cache.asked),
        ("plan", str(a.plan.fingerprint), str(b.plan.fingerprint)),
    ]
    yield from (f"{name} {one} before, {other} now" for name, one, other in pairs if one != other)
    names = sorted(before.server.settings.keys() | after.server.settings.keys())
    for name in names:
        one, other = before.server.settings.get(name), after.server.settings.get(name)
        if one != other:
            yield f"{name} {one} before, {other} now"
