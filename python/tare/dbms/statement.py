"""What can be said of SQL text without parsing it: its first word, and its shape without literals."""

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


def first_word(sql: str) -> str:
    """The first word in upper case, past comments, semicolons and brackets; empty for no statement."""
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
    word = re.match(r"\w+", rest)
    return word.group().upper() if word else rest[:1]


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
