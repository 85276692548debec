"""Tables and indexes of a PostgreSQL by their files: segments of 1 GiB and forks, temporary ones too."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

RELATIONS = (
    "SELECT CASE WHEN o.oid IS NOT NULL THEN 'TOAST of ' ELSE '' END "
    "|| CASE WHEN n.nspname IN ('public', 'pg_catalog') THEN '' ELSE quote_ident(n.nspname) || '.' END "
    "|| quote_ident(coalesce(o.relname, c.relname)), pg_relation_filepath(c.oid) "
    "FROM pg_class c LEFT JOIN pg_class o ON o.reltoastrelid = c.oid "
    "JOIN pg_namespace n ON n.oid = coalesce(o.relnamespace, c.relnamespace) "
    "WHERE pg_relation_filepath(c.oid) IS NOT NULL"
)
"""Name and path below the data directory of each relation that has files."""

_FILE = re.compile(r"^(?P<relation>(t\d+_)?\d+)(_(?P<fork>fsm|vm|init))?(\.(?P<segment>\d+))?$")
_FORKS = {"fsm": "free space map", "vm": "visibility map", "init": "initial fork"}


def names(directory: Path, relations: Iterable[Sequence[object]]) -> dict[Path, str]:
    """Return the names of all files of the relations, and of the others in their folders (maps, caches of catalogues).
    A file of a relation that is not among them is left out. `relations`: rows of RELATIONS.

    Empty where this user may not look into the directory."""
    by_path = {directory / str(path): str(name) for name, path in relations}
    found: dict[Path, str] = {}
    for folder in dict.fromkeys(path.parent for path in by_path):
        with suppress(OSError):
            for file in folder.iterdir():
                parts = _FILE.match(file.name)
                if parts is None:
                    found[file] = file.name
                elif relation := by_path.get(folder / parts["relation"]):
                    found[file] = _described(relation, parts["fork"], parts["segment"])
    return found


def _described(relation: str, fork: str | None, segment: str | None) -> str:
    """Return the relation, with its fork and its segment where they are not the first ones."""
    details = [_FORKS[fork]] if fork else []
    details += [f"segment {segment}"] if segment else []
    return f"{relation} ({', '.join(details)})" if details else relation
