"""Commands and their output as they may be shown and kept: without the passwords that are written into them.

Passwords are hidden in URLs with a user, in connection strings, in `NAME=VALUE` with a password's name (a variable,
an option, a parameter), behind such an option, in `-pVALUE` of MariaDB's and MySQL's clients, and in SQL that sets one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from tare.dbms.conninfo import is_conninfo, url_of
from tare.dbms.url import DATABASE_OPTIONS, HIDDEN, redacted
from tare.errors import UsageError

_QUOTED = r"'(?:[^'\\]|\\.|'')*'|\"(?:[^\"\\]|\\.)*\""
_NAME = r"[\w-]*(?:password|passwd|pwd|secret|token)[\w-]*"
_URL = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_ENDS = {"'": "'", '"': '"'}
_NAMED = re.compile(rf"(?<![\w-])({_NAME}=)({_QUOTED}|[^\s'\";&|]+)", re.IGNORECASE)
_OPTION = re.compile(rf"(?<!\S)--(?!no-){_NAME}", re.IGNORECASE)
_BEHIND_OPTION = re.compile(rf"({_OPTION.pattern}\s+)({_QUOTED}|[^\s'\";&|-]\S*)", re.IGNORECASE)
_IN_SQL = re.compile(rf"(\b(?:password|identified\s+by(?:\s+password)?)\s+)({_QUOTED})", re.IGNORECASE)
_CLIENT = re.compile(r"\b(?:mysql|mariadb)", re.IGNORECASE)
_SHORT = re.compile(rf"(?<!\S)-p({_QUOTED}|[^\s'\"]+)")


@lru_cache(maxsize=4096)  # command lines of processes come again with each reading
def redacted_text(text: str) -> str:
    """Return a command, its output or a statement without passwords."""
    text = _without_urls(text)
    for pattern in (_NAMED, _BEHIND_OPTION, _IN_SQL):
        text = pattern.sub(rf"\g<1>{HIDDEN}", text)
    return _SHORT.sub(f"-p{HIDDEN}", text) if _CLIENT.search(text) else text


def redacted_command(words: Sequence[str]) -> list[str]:
    """Return the words of a command without passwords, also those of the databases of `--db=URL`."""
    shown: list[str] = []
    option = ""
    for word in words:
        name, sign, value = word.partition("=") if word.startswith("--") else ("", "", word)
        if (name if sign else option) in DATABASE_OPTIONS:
            shown.append(f"{name}{sign}{redacted(value)}")
        elif not sign and option and _OPTION.fullmatch(option):
            shown.append(HIDDEN)
        elif is_conninfo(value):
            shown.append(f"{name}{sign}{_without_conninfo(value)}")
        else:
            shown.append(redacted_text(word))
        option = word
    if any(map(_CLIENT.search, words)):
        shown = [_SHORT.sub(f"-p{HIDDEN}", word) for word in shown]
    return shown


def _without_urls(text: str) -> str:
    """With each URL as `redacted` shows it. It ends with the quote before it, else at white space."""
    shown, rest = "", text
    while found := _URL.search(rest):
        before = rest[: found.start()]
        end = _ENDS.get(before[-1:])
        url = rest[found.start() :]
        url = url.partition(end)[0] if end else re.split(r"[\s'\"]", url, maxsplit=1)[0]
        shown += before + redacted(url)
        rest = rest[found.start() + len(url) :]
    return shown + rest


def _without_conninfo(word: str) -> str:
    """A word that may be SQL: shown as it is unless it is a connection string."""
    try:
        return redacted(url_of(word))
    except UsageError:
        return redacted_text(word)
