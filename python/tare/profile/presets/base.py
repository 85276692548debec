"""Form of a preset: the functions that mark a transaction, how they are read, and where to look first."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Rules = dict[str, Any]
"""`tare_profile::rules::Rules` as JSON."""

Wait = str | tuple[str, ...]
"""A function in which threads wait; of several, the first that the binary has."""

SITE = "site"
LIBC = "@libc.so.6"
"""Behind a name: the function is this library's."""


@dataclass(frozen=True, slots=True)
class Marker:
    """A function that tells of transactions. Its probe stays on in every window."""

    names: tuple[str, ...]  # the first that the binary has; "Class::method" fits any arguments
    detail: str | Callable[[int], str] = SITE
    """Reading at its entry ("site", "word:0", "word:0,text:1", …), or that from the server's major version."""
    cpu: bool = False  # the thread's CPU time is read with it
    entry_only: bool = False
    optional: bool = False  # the rule holds without it


@dataclass(frozen=True, slots=True)
class Preset:
    """How one DBMS does what `--txn` names."""

    dbms: str
    txn: str
    says: str
    markers: Mapping[str, Marker]  # by the role that `rules` knows them under
    rules: Callable[[Mapping[str, int], int], Rules]  # from functions by role, and the server's major version
    tops: tuple[str, ...]  # functions whose static children are phases of a transaction
    seeds: tuple[str, ...]  # phases to begin with; those that a binary lacks are passed over
    waits: tuple[Wait, ...] = ()
    """Functions in which its threads wait; they come before the phases, since variance is most often there."""
    otherwise: Preset | None = None  # for a binary that has not all markers
