"""From flags to a request: the queries, and the conditions that they are weighed under."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from tare.dbms.script import ClientCommand, Statement, split
from tare.errors import BadStatement, UsageError
from tare.measure.choices import AnswerRule, CacheState
from tare.measure.phases import Phases
from tare.measure.query import Query, expand, scan
from tare.measure.weigh import Conditions

STDIN = Path("-")
MOST_PLACES = 8  # statements of a file that a message lists


def gather(
    sql: Sequence[str] | None,
    files: Sequence[Path] | None,
    parameter_scan: tuple[str, str, str] | None,
    step: str,
    lists: Sequence[str] | None,
    *,
    db: str = "",
    each: bool = False,
) -> list[Query]:
    """Statements from the command line and from files, expanded over the parameters.

    `each`: all statements of each file, one query each. Raises UsageError and BadStatement."""
    mysql = db.partition(":")[0] in ("mariadb", "mysql")
    queries = []
    for number, text in enumerate(sql or (), 1):
        _refuse_commands("the SQL", split(_not_empty(text, "SQL"), mysql=mysql)[1])
        queries.append(Query(_label(text, number), text))
    for path in files or ():
        queries += _of_file(path, mysql, each)
    if not queries:
        raise UsageError(
            "no query to weigh", 'give SQL in quotes, or files with -f: tare time "SELECT …" --db URL'
        )
    parameters = [_listed(text) for text in lists or ()]
    if parameter_scan:
        parameters.append(scan(*parameter_scan, step))
    return expand(queries, parameters) if parameters else queries


def _of_file(given: Path, mysql: bool, each: bool) -> list[Query]:
    path, number = _place(given)
    where = "standard input" if path == STDIN else str(path)
    name = "stdin" if path == STDIN else path.stem
    text = _not_empty(_read(path), where)
    statements, commands = split(text, mysql=mysql)
    _refuse_commands(where, commands)
    if not statements:
        raise BadStatement(f"{where} holds no statement", "give one SQL statement")
    if number is not None:
        if not 1 <= number <= len(statements):
            raise UsageError(f"{where} has no statement {number}: {_places(statements)}", "give one of these")
        return [Query(f"{name}:{number}", statements[number - 1].sql)]
    if len(statements) == 1:
        return [Query(name, text)]
    if each:
        return [Query(f"{name}:{place}", one.sql) for place, one in enumerate(statements, 1)]
    raise BadStatement(
        f"{where} holds {_places(statements)}",
        f"weigh all of them with --each, or one of them: -f {path}:{min(2, len(statements))}; put set-up "
        "statements into --setup",
    )


def _place(given: Path) -> tuple[Path, int | None]:
    """The file, and the number of the statement in it where `FILE:N` is given."""
    path, colon, number = str(given).rpartition(":")
    if colon and path and number.isascii() and number.isdigit() and not given.exists():
        return Path(path), int(number)
    return given, None


def _places(statements: Sequence[Statement]) -> str:
    places = [f"{number} at line {one.line}" for number, one in enumerate(statements, 1)]
    shown = places if len(places) <= MOST_PLACES else [*places[: MOST_PLACES - 1], "…", places[-1]]
    return f"{len(places)} statement{'' if len(places) == 1 else 's'} ({', '.join(shown)})"


def _refuse_commands(where: str, commands: Sequence[ClientCommand]) -> None:
    if commands:
        first = commands[0]
        more = f", and {len(commands) - 1} more" if len(commands) > 1 else ""
        raise BadStatement(
            f"{where} holds a command of {first.client}, which is no SQL: {first.text} (line {first.line}{more})",
            first.next_step,
        )


def conditions(
    *,
    runs: int,
    warmup: str,
    cache: CacheState,
    cold: bool,
    timeout: float | None,
    phases: Phases,
    answer: AnswerRule = AnswerRule.CLOSE,
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
        answer=answer,
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
        data = sys.stdin.buffer.read() if path == STDIN else path.read_bytes()
        return data.decode("utf-8-sig")  # editors on Windows put a mark in front
    except OSError as error:
        raise UsageError(
            f"cannot read {path}: {error.strerror}", "give the path of a readable SQL file"
        ) from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 text: {error.reason}", "save the file as UTF-8") from error


def _not_empty(text: str, where: str) -> str:
    if not text.strip().strip(";").strip():
        raise BadStatement(f"{where} contains no statement", "give one SQL statement")
    if "\0" in text:  # most drivers would send what stands before it
        raise BadStatement(f"{where} contains a null character", "save it as plain text")
    return text


def _label(text: str, number: int) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= 40 else f"query {number}: {flat[:29]}…"
