"""The queries of a command line: statements and files in the order in which they are given, and their parameters."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from tare.errors import BadStatement, UsageError
from tare.measure.query import Query, expand, scan
from tare.measure.source import Source

STDIN = Path("-")

_CLIENT_COMMAND = re.compile(
    r"\\\w+|\.(?:timer|mode|headers?|read|open|import|output|once|echo|print|bail|nullvalue|separator|maxrows)\b"
    r"|DELIMITER\s+[^'\s]+\s*$",
    re.IGNORECASE,
)
"""Lines that psql, the shells of SQLite and DuckDB, or the mariadb client carry out themselves."""


def gather(
    words: Sequence[str],
    sql: Sequence[str] | None,
    files: Sequence[Path] | None,
    parameter_scan: tuple[str, str, str] | None,
    step: str,
    lists: Sequence[str] | None,
) -> list[Query]:
    """Return the statements from the command line and from files, expanded over the parameters. `words`: of the command
    line, which show the order. Raises UsageError and BadStatement."""
    given = [
        (text, path)
        for text, file in _in_order(words, list(sql or ()), list(files or ()))
        for path in ([None] if file is None else _files(file))
    ]
    stems = Counter(path.stem for _, path in given if path is not None)
    queries = [
        _of_text(text, number) if path is None else _of_file(path, whole_path=stems[path.stem] > 1)
        for number, (text, path) in enumerate(given, 1)
    ]
    if not queries:
        raise UsageError(
            "no query to weigh", 'give SQL in quotes, or files with -f: tare time "SELECT …" --db URL'
        )
    parameters = [_listed(text) for text in lists or ()]
    if parameter_scan:
        parameters.append(scan(*parameter_scan, step))
    return expand(queries, parameters) if parameters else queries


def _in_order(words: Sequence[str], sql: list[str], files: list[Path]) -> Iterator[tuple[str, Path | None]]:
    """Statements and files as they follow each other on the command line: the first of two that are compared is A."""
    following = iter(words)
    for word in following:
        if files and (word in ("-f", "--file") or word.startswith(("-f", "--file="))):
            yield "", files.pop(0)
            if word in ("-f", "--file"):
                next(following, None)
        elif sql and word == sql[0]:
            yield sql.pop(0), None
    yield from ((text, None) for text in sql)
    yield from (("", file) for file in files)


def _files(path: Path) -> list[Path]:
    """The file, or the files of a folder whose names end with .sql, in the order of their names and numbers."""
    if not path.is_dir():
        return [path]
    found = sorted(path.glob("*.sql"), key=lambda one: _by_numbers(one.name))
    if not found:
        raise UsageError(
            f"{path} is a folder without files *.sql", "give the path of a file, or of another folder"
        )
    return found


def _by_numbers(name: str) -> list[tuple[int, str]]:
    """Orders q2 before q10."""
    return [(int(part or 0), text) for text, part in re.findall(r"(\D*)(\d*)", name)]


def _of_text(text: str, number: int) -> Query:
    if re.fullmatch(r"\S+", text):
        _refuse_file(text)
    return Query(_label(text, number), _statement(text, "SQL"))


def _refuse_file(word: str) -> None:
    path = Path(word)
    if path.is_file() or path.is_dir():
        what = "file" if path.is_file() else "folder"
        raise UsageError(
            f"{word} is a {what}, and SQL is expected here",
            f"put -f before each: -f {word}; a folder stands for all its files *.sql: -f {path.parent}/",
        )
    if path.suffix.lower() == ".sql":
        raise UsageError(
            f"{word} is neither SQL nor a file that is there", f"give the path of a file: -f {word}"
        )


def _of_file(path: Path, *, whole_path: bool) -> Query:
    """`whole_path`: several files have this name, in different folders."""
    text = _read(path)
    where = "standard input" if path == STDIN else str(path)
    _refuse_client_commands(text, where)
    name = "stdin" if path == STDIN else str(path) if whole_path else path.stem
    return Query(name, _statement(text, where), source=Source(where, text))


def _refuse_client_commands(text: str, where: str) -> None:
    is_quoted = False
    for number, line in enumerate(text.splitlines(), 1):
        command = _CLIENT_COMMAND.match(line.strip())
        if command and not is_quoted:
            raise BadStatement(
                f"line {number} of {where} is a command of a client program, not SQL: {command.group()}",
                "remove it: Tare sends the statement itself; settings go into --setup, values into {NAME} and -L NAME=",
            )
        is_quoted ^= line.count("'") % 2 == 1


def _listed(text: str) -> tuple[str, list[str]]:
    name, sign, values = text.partition("=")
    if not sign or not name or not values:
        raise UsageError(
            f"--parameter-list {text!r} is not NAME=V1,V2", "write for example -L rows=10,100,1000"
        )
    return name, values.split(",")


def _read(path: Path) -> str:
    try:
        if path == STDIN:
            return sys.stdin.buffer.read().decode("utf-8-sig")
        return path.read_text(encoding="utf-8-sig")  # editors on Windows put a mark in front
    except OSError as error:
        raise UsageError(
            f"cannot read {path}: {error.strerror}", "give the path of a readable SQL file"
        ) from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 text: {error.reason}", "save the file as UTF-8") from error


def _statement(text: str, where: str) -> str:
    if not text.strip().strip(";").strip():
        raise BadStatement(f"{where} holds no statement", "give one SQL statement")
    if "\0" in text:  # most drivers would send what stands before it
        raise BadStatement(f"{where} holds a null character", "save it as plain text")
    return text


def _label(text: str, number: int) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= 40 else f"query {number}: {flat[:29]}…"
