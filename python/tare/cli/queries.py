"""The queries of a command line: statements and files in the order in which they are given, and their parameters."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from tare.cli.sql_files import SqlFiles, checked
from tare.dbms.registry import find
from tare.errors import UsageError
from tare.measure.query import Query, expand, scan
from tare.words import as_text


def gather(
    words: Sequence[str],
    sql: Sequence[str] | None,
    files: Sequence[Path] | None,
    url: str,
    *,
    each: bool = False,
    parameter_scan: tuple[str, str, str] | None = None,
    step: str = "1",
    lists: Sequence[str] | None = None,
) -> list[Query]:
    """Return the statements from the command line and from files, expanded over the parameters. `words`: of the command
    line, which show the order. `url`: of the DBMS, by whose rules files are split. `each`: a file stands for all its
    statements. Raises UsageError and BadStatement."""
    adapter = find(url)
    of_files = SqlFiles(files or (), adapter.statements, each=each)
    queries: list[Query] = []
    for number, (text, file) in enumerate(_in_order(words, list(sql or ()), list(files or ())), 1):
        queries += [_of_text(as_text(text), number)] if file is None else of_files.queries(file)
    if not queries:
        raise UsageError(
            "no query to weigh", 'give SQL in quotes, or files with -f: tare time "SELECT …" --db URL'
        )
    parameters = [_listed(as_text(text)) for text in lists or ()]
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


def _of_text(text: str, number: int) -> Query:
    if re.fullmatch(r"\S+", text):
        _refuse_file(text)
    return Query(_label(text, number), checked(text, "SQL"))


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


def _listed(text: str) -> tuple[str, list[str]]:
    name, sign, values = text.partition("=")
    if not sign or not name or not values:
        raise UsageError(
            f"--parameter-list {text!r} is not NAME=V1,V2", "write for example -L rows=10,100,1000"
        )
    return name, values.split(",")


def _label(text: str, number: int) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= 40 else f"query {number}: {flat[:29]}…"
