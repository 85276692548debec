"""Files of SQL on a command line: one statement, one of several (`queries.sql:7`), or each of them."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from tare.errors import BadStatement, UsageError
from tare.measure.query import Query
from tare.measure.source import Source, line_and_column

STDIN = Path("-")

Splitter = Callable[[str], list[str]]
"""Splits a script into its statements by the rules of the DBMS; comments stay with the statement that they precede."""

_NUMBERED = re.compile(r"(.+):(\d+)", re.DOTALL)
_NAMED = re.compile(r"--\s*name:\s*(.+?)(?:\s+:\w+)?\s*")
"""Comment that names the next statement, as aiosql and sqlc read it: `-- name: top_customers :many`."""

_CLIENT_COMMAND = re.compile(
    r"\\\w+|\.(?:timer|mode|headers?|read|open|import|output|once|echo|print|bail|nullvalue|separator|maxrows)\b"
    r"|DELIMITER\s+[^'\s]+\s*$",
    re.IGNORECASE,
)
"""Lines that psql, the shells of SQLite and DuckDB, or the mariadb client carry out themselves."""


class SqlFiles:
    """Files given with -f, in any order. Standard input is read once, however often it is named."""

    def __init__(self, given: Sequence[Path], split: Splitter, *, each: bool) -> None:
        """`each`: a file stands for all its statements."""
        self._split = split
        self._each = each
        self._texts: dict[Path, str] = {}
        files = {file for one in given for file in _files(_place(one)[0])}
        self._stems = Counter(file.stem for file in files)

    def queries(self, given: Path) -> list[Query]:
        """Return the queries of a file, of a folder, or of one statement in a file. Raises UsageError and
        BadStatement."""
        path, number = _place(given)
        if number is not None:
            return [self._numbered(path, number)]
        return [query for file in _files(path) for query in self._of_file(file)]

    def _of_file(self, path: Path) -> list[Query]:
        text, where = self._read(path), _where(path)
        statements = self._split(text) if self._each else [text]
        if len(statements) < 2:
            statement = checked(statements[0] if statements else "", where)
            return [Query(self._name(path), statement, source=_sources(where, text, [statement])[0])]
        return [
            Query(name, checked(statement, where), source=source)
            for name, statement, source in zip(
                self._names(path, statements), statements, _sources(where, text, statements), strict=True
            )
        ]

    def _numbered(self, path: Path, number: int) -> Query:
        text, where = self._read(path), _where(path)
        statements = self._split(text)
        if not 1 <= number <= len(statements):
            count = f"{len(statements)} statement{'' if len(statements) == 1 else 's'}"
            raise UsageError(
                f"{where} holds {count}, and number {number} is requested",
                f"give a number from 1 to {len(statements)}: -f {path}:{max(1, len(statements))}",
            )
        at = number - 1
        source = _sources(where, text, statements)[at]
        return Query(self._names(path, statements)[at], checked(statements[at], where), source=source)

    def _names(self, path: Path, statements: Sequence[str]) -> list[str]:
        """The name in the comment before a statement if no other has it, else the file's with its number."""
        named = [_name_in_comment(statement) for statement in statements]
        counts = Counter(named)
        stem = self._name(path)
        return [
            name if name and counts[name] == 1 else f"{stem}:{number}" for number, name in enumerate(named, 1)
        ]

    def _name(self, path: Path) -> str:
        """The file's own name, or its whole path where files in several folders have that name."""
        if path == STDIN:
            return "stdin"
        return str(path) if self._stems[path.stem] > 1 else path.stem

    def _read(self, path: Path) -> str:
        if path not in self._texts:
            text = _text_of(path)
            _refuse_client_commands(text, _where(path))
            self._texts[path] = text
        return self._texts[path]


def checked(text: str, where: str) -> str:
    """The text of a statement. Raises BadStatement if it is empty, or drivers would send a part of it."""
    if not text.strip().strip(";").strip():
        raise BadStatement(f"{where} holds no statement", "give one SQL statement")
    if "\0" in text:  # most drivers would send what stands before it
        raise BadStatement(f"{where} holds a null character", "save it as plain text")
    return text


def _sources(where: str, text: str, statements: Sequence[str]) -> list[Source | None]:
    """The place of each statement in its file; None for one whose text is not there as it is."""
    sources: list[Source | None] = []
    after = 0
    for statement in statements:
        begin = text.find(statement, after)
        if begin < 0:
            sources.append(None)
            continue
        sources.append(Source(where, statement, *line_and_column(text, begin)))
        after = begin + len(statement)
    return sources


def _place(given: Path) -> tuple[Path, int | None]:
    """The file, and the number of a statement in it. A file that is there under the whole name wins."""
    numbered = _NUMBERED.fullmatch(str(given))
    if numbered is None or given.exists():
        return given, None
    return Path(numbered[1]), int(numbered[2])


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


def _where(path: Path) -> str:
    return "standard input" if path == STDIN else str(path)


def _name_in_comment(statement: str) -> str | None:
    for line in statement.splitlines():
        if line.strip() and not line.lstrip().startswith("--"):
            break
        if named := _NAMED.fullmatch(line.strip()):
            return named[1]
    return None


def _text_of(path: Path) -> str:
    try:
        if path == STDIN:
            return sys.stdin.buffer.read().decode("utf-8-sig")
        return path.read_text(encoding="utf-8-sig")  # editors on Windows put a mark in front
    except OSError as error:
        raise UsageError(
            f"cannot read {path}: {error.strerror}", "give the path of a readable SQL file"
        ) from error
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{_where(path)} is not UTF-8 text: {error.reason}", "save the file as UTF-8"
        ) from error


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
