"""Statements of a text with SQL, and what in it is no SQL: commands of client programs, and parameters without a value.

The text is not parsed: strings, quoted names, comments and dollar quotes are passed over. A DBMS still has the last
word; a text that holds one statement is sent to it as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

_TOKEN = re.compile(
    r"""(?P<comment>--[^\n]*|\#[^\n]*|/\*)"""
    r"""|(?P<dollar>\$(?:[^\W\d]\w*)?\$)"""
    r"""|(?P<text>\b[Ee]'(?:[^'\\]|''|\\.)*'|'(?:[^']|'')*')"""
    r"""|(?P<name>"(?:[^"]|"")*"|`[^`]*`)"""
    r"""|(?P<client>^[ \t]*\\[^\n]*|\\(?:g|gx|G|gset|watch|gexec|crosstabview)\b[^\n]*)"""
    r"""|(?P<dot>^\.[a-z][^\n]*)"""
    r"""|(?P<delimiter>^[ \t]*DELIMITER[ \t]+\S[^\n]*)"""
    r"""|(?P<end>;)""",
    re.DOTALL | re.MULTILINE | re.IGNORECASE,
)
_MYSQL_TOKEN = re.compile(_TOKEN.pattern.replace("'(?:[^']|'')*'", r"'(?:[^'\\]|''|\\.)*'"), _TOKEN.flags)

_LEAD = re.compile(r"(?:\s+|--[^\n]*(?:\n|$)|/\*(?!!).*?\*/)+", re.DOTALL)
_BODY = re.compile(r"\s*CREATE\b.*?\b(?:FUNCTION|PROCEDURE|TRIGGER|EVENT)\b", re.DOTALL | re.IGNORECASE)
_BEGIN = re.compile(r"\bBEGIN\b", re.IGNORECASE)
_END = re.compile(r"\bEND\s*$", re.IGNORECASE)

_PARAMETER = re.compile(
    r"""(?P<passed>/\*.*?\*/|--[^\n]*|'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|::)"""
    r"""|(?P<parameter>(?<![\w:\[\]]):(?:[^\W\d]\w*|'\w+')|\$\d+|(?<![\w)\]?@])\?(?![?|&]))""",
    re.DOTALL,
)


WITHOUT_VALUE = (
    "a parameter has no value here; write the value into the SQL, or {name} in its place and give "
    "-L name=V1,V2"
)


class Client(StrEnum):
    """Programs whose commands stand in files of SQL."""

    PSQL = "psql"
    MYSQL = "the mysql client"
    SQLITE = "the sqlite3 shell"


@dataclass(frozen=True, slots=True)
class Statement:
    """`line`: that of its first character, from 1."""

    sql: str
    line: int


@dataclass(frozen=True, slots=True)
class ClientCommand:
    """A command that a client program carries out, and no DBMS."""

    text: str
    client: Client
    line: int

    @property
    def next_step(self) -> str:
        word = self.text.lstrip("\\.").split()[0].lower() if self.text.strip("\\. ") else ""
        if self.client is Client.MYSQL and word == "delimiter":
            return "delete the line, and end each statement with a semicolon"
        return _STEPS.get(word, "delete it: Tare sends SQL only")


_STEPS = {
    "timing": "delete it: Tare measures the time itself",
    "timer": "delete it: Tare measures the time itself",
    "set": "write the value into the SQL, or {name} in its place and give -L name=VALUE",
    "i": "give the other file with -f, too",
    "read": "give the other file with -f, too",
    "c": "name the database in --db",
    "connect": "name the database in --db",
    "open": "name the database in --db",
    "g": "end the statement with a semicolon",
    "gx": "end the statement with a semicolon",
}


def split(text: str, *, mysql: bool = False) -> tuple[list[Statement], list[ClientCommand]]:
    """Statements of the text in order, and commands of client programs between them.

    `mysql`: the text is for MariaDB or MySQL, where a backslash in a string hides the quote after it and a comment
    may begin with #."""
    statements: list[Statement] = []
    commands: list[ClientCommand] = []
    start = 0
    for kind, begin, end in _marks(text, mysql):
        if kind == "end" and _within_body(text[start:begin]):
            continue
        if kind == "dot" and bare(text[start:begin]):
            continue  # within a statement it is part of a number or of a name
        if kind != "end":
            command = text[begin:end].strip()
            line = _line(text, text.index(command, begin))
            commands.append(ClientCommand(command, _client(kind, command), line))
        _take(text, start, begin, statements)
        start = end
    _take(text, start, len(text), statements)
    return statements, commands


def _client(kind: str, command: str) -> Client:
    if kind == "dot":
        return Client.SQLITE
    return Client.MYSQL if kind == "delimiter" or command == "\\G" else Client.PSQL


def parameters(sql: str) -> list[str]:
    """Parameters that have no value: `$1`, `?`, `:name`, in order, each once."""
    found = (mark.group("parameter") for mark in _PARAMETER.finditer(sql))
    return list(dict.fromkeys(one for one in found if one))


def _marks(text: str, mysql: bool) -> Iterator[tuple[str, int, int]]:
    token = _MYSQL_TOKEN if mysql else _TOKEN
    at = 0
    while mark := token.search(text, at):
        kind, at = str(mark.lastgroup), mark.end()
        if mark.group() == "/*":
            at = _after_comment(text, mark.start())
        elif kind == "comment" and mark.group().startswith("#") and not mysql:
            at = mark.start() + 1  # an operator, but for MariaDB and MySQL
        elif kind == "dollar":
            close = text.find(mark.group(), at)
            at = len(text) if close < 0 else close + len(mark.group())
        elif kind not in ("comment", "text", "name"):
            yield kind, mark.start(), mark.end()


def _after_comment(text: str, start: int) -> int:
    depth = 0
    for mark in re.compile(r"/\*|\*/").finditer(text, start):
        depth += 1 if mark.group() == "/*" else -1
        if depth == 0:
            return mark.end()
    return len(text)


def _within_body(sql: str) -> bool:
    """Whether a semicolon behind this text is one of a routine's body."""
    return bool(_BODY.match(sql) and _BEGIN.search(sql) and not _END.search(sql))


def _take(text: str, start: int, end: int, statements: list[Statement]) -> None:
    part = text[start:end]
    if bare(part):
        statements.append(Statement(part.strip(), _line(text, start + _before(part))))


def bare(text: str) -> str:
    """Text from its first word on; empty for one that holds no statement."""
    return text[_before(text) :].strip().strip(";").strip()


def _before(text: str) -> int:
    """Length of the white space and comments that stand first. MariaDB's /*! is none: it is executed."""
    lead = _LEAD.match(text)
    return lead.end() if lead else 0


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1
