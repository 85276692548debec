"""Properties of SQL text that need no parsing: its first word, and its shape without literals."""

from __future__ import annotations

import re

# What may stand before the first word. An executable comment of MariaDB (`/*! … */`) is one too:
# what it hides is then "no statement", which is refused.
_BLANK = re.compile(r"(?:\s+|;|--[^\n]*(?:\n|$))+")

QUERIES = frozenset({"SELECT", "WITH", "VALUES", "TABLE", "SHOW", "EXPLAIN", "DESCRIBE", "DESC", "FROM"})
"""First words of statements that may be measured without leave to change data."""

# Kept: quoted identifiers. Replaced: string constants (with their prefix) and numbers that are
# not part of a name (`t1`), a parameter (`$1`) or a column number (`#1`).
_LITERAL = re.compile(
    r"""(?P<kept>"(?:[^"]|"")*"|`[^`]*`)"""
    r"""|(?P<text>\b[Ee]'(?:[^'\\]|''|\\.)*'|'(?:[^']|'')*')"""
    r"""|(?P<number>(?<![\w.$#])-?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?(?![\w.]))"""
)


# Between two words: white space, comments, and the marks of MariaDB's comments that are executed.
_APART = r"(?:\s|/\*!\d*|/\*.*?\*/|--[^\n]*\n|#[^\n]*\n)"

# EXPLAIN that executes what it explains: ANALYZE as a word, or among the options in brackets.
_EXPLAIN_ANALYZE = re.compile(
    rf"(?:EXPLAIN|DESCRIBE|DESC){_APART}*"
    rf"(?:ANALY[ZS]E\b(?:{_APART}+VERBOSE\b)?|\([^)]*\bANALY[ZS]E\b[^)]*\))",
    re.IGNORECASE | re.DOTALL,
)

# MariaDB's and MySQL's SELECT that writes a file: the one write a read-only transaction lets through.
_INTO_FILE = re.compile(rf"\bINTO{_APART}+(?:OUTFILE|DUMPFILE)\b", re.IGNORECASE | re.DOTALL)


def first_word(sql: str) -> str:
    """The first word in upper case, past comments, semicolons and brackets; empty for no statement."""
    rest = sql[_start(sql) :]
    word = re.match(r"\w+", rest)
    return word.group().upper() if word else rest[:1]


def _start(sql: str) -> int:
    rest = sql
    while True:
        before = rest
        blank = _BLANK.match(rest)
        if blank:
            rest = rest[blank.end() :]
        if rest.startswith("/*"):
            rest = _after_comment(rest)
        rest = rest.lstrip("(")
        if rest == before:
            break
    return len(sql) - len(rest)


def may_be_measured(sql: str) -> bool:
    """By its words alone, the statement asks for rows and no more. What it calls may still write: the
    DBMS is told to refuse that."""
    executed = _EXPLAIN_ANALYZE.match(sql[_start(sql) :])
    if executed:
        return first_word(sql[_start(sql) :][executed.end() :]) in QUERIES
    return first_word(sql) in QUERIES and not _INTO_FILE.search(without_literals(sql))


def without_literals(text: str) -> str:
    """Constants become `?`, so that plans differing only in them compare equal."""
    return _LITERAL.sub(lambda found: found.group("kept") or "?", text)


def _after_comment(text: str) -> str:
    """Past one comment, which may hold others (the SQL standard nests them)."""
    depth = 0
    for mark in re.finditer(r"/\*|\*/", text):
        depth += 1 if mark.group() == "/*" else -1
        if depth == 0:
            return text[mark.end() :]
    return ""
