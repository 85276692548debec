"""Roles of threads, by rules for each DBMS."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Protocol

from tare.dbms import local
from tare.dbms.base import Leader
from tare.errors import UsageError
from tare.experiment.places import Places
from tare.meant import meant

QUERY = "query"
_ANY = "any"
_KEYS = ("title", "thread", "role")
_FORM = "write [[postgresql]] with title = 'REGEX' or thread = 'REGEX', and role = \"NAME\""


class Named(Protocol):
    """A thread as a snapshot names it. `title`: command line of its process, empty while it lives."""

    @property
    def tid(self) -> int: ...
    @property
    def tgid(self) -> int: ...
    @property
    def comm(self) -> str: ...
    @property
    def title(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern to be searched in the title of a process, or else in the name of a thread."""

    is_title: bool
    pattern: re.Pattern[str]
    role: str


Rules = Mapping[str, tuple[Rule, ...]]
"""Rules in the order in which they are tried, by DBMS."""


@cache
def built_in() -> Rules:
    """The rules that come with Tare."""
    return _read("roles.toml", files("tare.os").joinpath("roles.toml").read_text(encoding="utf-8"))


def read_rules(path: Path) -> Rules:
    """Return the rules of a user's file. Raises UsageError that names the line and the key of a mistake."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise UsageError(f"--roles {path} cannot be read: {error.strerror}", "name a TOML file") from None
    except UnicodeDecodeError:
        raise UsageError(f"--roles {path} is not UTF-8 text", "save it in UTF-8") from None
    return _read(f"--roles {path}", text)


@dataclass(frozen=True, slots=True)
class Roles:
    """Roles of the threads of one subject."""

    rules: tuple[Rule, ...]
    leader: Leader | None = None

    @staticmethod
    def of(dbms: str | None, leader: Leader | None = None, more: Rules | None = None) -> Roles:
        """Return the rules that hold for a DBMS. Those of `more` come before the built-in ones.

        `dbms`: None where it is not known: then rules by title hold, of all DBMSs."""
        chosen: list[Rule] = []
        for rules in (more or {}, built_in()):
            if dbms is None:
                chosen += [rule for name in rules if name != _ANY for rule in rules[name] if rule.is_title]
            else:
                chosen += rules.get(dbms, ())
            chosen += rules.get(_ANY, ())
        return Roles(tuple(chosen), leader)

    def role(self, tid: int, tgid: int, comm: str, title: str) -> str:
        """Return the role of a thread; its name where no rule fits."""
        if self.leader is not None and (
            tid == self.leader.tid or (self.leader.whole_process and tgid == self.leader.pid)
        ):
            return QUERY
        for rule in self.rules:
            if rule.pattern.search(title if rule.is_title else comm):
                return rule.role
        return comm

    def naming(self) -> Callable[[Named], str]:
        """Return a function that names the threads of one snapshot. It reads each living process's title once."""
        titles: dict[int, str] = {}

        def name(thread: Named) -> str:
            title = thread.title
            if not title:
                if thread.tgid not in titles:
                    titles[thread.tgid] = title_of(thread.tgid)
                title = titles[thread.tgid]
            return self.role(thread.tid, thread.tgid, thread.comm, title)

        return name


def title_of(pid: int) -> str:
    """Command line of a process as one text; empty if it has ended."""
    return " ".join(local.command_line(pid)).strip()


def _read(name: str, text: str) -> Rules:
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{name} is not TOML: {error}", _FORM) from None
    places = Places(text)
    return {
        dbms: tuple(_rule(name, places, dbms, number, entry) for number, entry in enumerate(entries))
        for dbms, entries in document.items()
        if _is_list(name, places, dbms, entries)
    }


def _is_list(name: str, places: Places, dbms: str, entries: object) -> bool:
    if isinstance(entries, list) and all(isinstance(entry, dict) for entry in entries):
        return True
    raise _mistake(name, places, (dbms,), f"{dbms} is no list of rules")


def _rule(name: str, places: Places, dbms: str, number: int, entry: Mapping[str, Any]) -> Rule:
    here: tuple[str | int, ...] = (dbms, number)
    unknown = next((key for key in entry if key not in _KEYS), None)
    if unknown is not None:
        raise _mistake(name, places, (*here, unknown), f"unknown key {unknown}", meant(unknown, _KEYS, _FORM))
    for key, value in entry.items():
        if not isinstance(value, str) or not value:
            raise _mistake(name, places, (*here, key), f"{key} is no text")
    keys: Sequence[str] = [key for key in ("title", "thread") if key in entry]
    if len(keys) != 1:
        raise _mistake(name, places, here, f"a rule of {dbms} has {len(keys)} of the keys title and thread")
    if "role" not in entry:
        raise _mistake(name, places, here, f"a rule of {dbms} lacks the key role")
    key = keys[0]
    try:
        pattern = re.compile(entry[key])
    except re.error as error:
        raise _mistake(name, places, (*here, key), f"{key} is no regular expression: {error}") from None
    return Rule(key == "title", pattern, entry["role"])


def _mistake(
    name: str, places: Places, path: tuple[str | int, ...], what: str, next_step: str = _FORM
) -> UsageError:
    return UsageError(f"{name}, line {places.of(path).line}: {what}", next_step)
