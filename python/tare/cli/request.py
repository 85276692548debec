"""From flags to a request: the queries, and the conditions that they are weighed under."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tare.errors import BadStatement, UsageError
from tare.measure.choices import CacheState, Clocked
from tare.measure.phases import Phases
from tare.measure.query import Query, expand, scan
from tare.measure.weigh import Conditions


def gather(
    sql: Sequence[str] | None,
    files: Sequence[Path] | None,
    parameter_scan: tuple[str, str, str] | None,
    step: str,
    lists: Sequence[str] | None,
) -> list[Query]:
    """Statements from the command line and from files, expanded over the parameters."""
    queries = [Query(_label(text, i), _not_empty(text, "SQL")) for i, text in enumerate(sql or (), 1)]
    queries += [Query(path.stem, _not_empty(_read(path), str(path))) for path in files or ()]
    if not queries:
        raise UsageError(
            "no query to weigh", 'give SQL in quotes, or files with -f: tare time "SELECT …" --db URL'
        )
    parameters = [_listed(text) for text in lists or ()]
    if parameter_scan:
        parameters.append(scan(*parameter_scan, step))
    return expand(queries, parameters) if parameters else queries


def conditions(
    *,
    runs: int,
    warmup: str,
    cache: CacheState,
    cold: bool,
    execution_only: bool,
    timeout: float | None,
    phases: Phases,
    seed: int = 0,
) -> Conditions:
    if cold and cache not in (CacheState.WARM, CacheState.COLD):
        raise UsageError(f"--cold and --cache {cache} contradict each other", "give one of them")
    return Conditions(
        runs=runs,
        cache=CacheState.COLD if cold else cache,
        timeout_s=timeout,
        phases=phases,
        warmup=_warmup(warmup),
        seed=seed,
        clocked=Clocked.EXECUTION if execution_only else Clocked.TOTAL,
    )


def _warmup(text: str) -> int | None:
    if text == "auto":
        return None
    if text.isascii() and text.isdigit():
        return int(text)
    raise UsageError(f"--warmup {text!r} is neither a number nor auto", "give a count such as 3, or auto")


def _listed(text: str) -> tuple[str, list[str]]:
    name, sign, values = text.partition("=")
    if not sign or not name or not values:
        raise UsageError(
            f"--parameter-list {text!r} is not NAME=V1,V2", "write for example -L rows=10,100,1000"
        )
    return name, values.split(",")


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")  # editors on Windows put a mark in front
    except OSError as error:
        raise UsageError(
            f"cannot read {path}: {error.strerror}", "give the path of a readable SQL file"
        ) from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 text: {error.reason}", "save the file as UTF-8") from error


def _not_empty(text: str, where: str) -> str:
    if not text.strip().strip(";").strip():
        raise BadStatement(f"{where} holds no statement", "give one SQL statement")
    if "\0" in text:  # most drivers would send what stands before it
        raise BadStatement(f"{where} holds a null character", "save it as plain text")
    return text


def _label(text: str, number: int) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= 40 else f"query {number}: {flat[:29]}…"
