"""Arms of `tare compare`: two servers, or two values of settings, and the queries that run on both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tare.cli.server import pairs
from tare.cli.weighing import Target
from tare.errors import UsageError
from tare.measure.query import Query


def targets_of(
    target: Target,
    db: str | None,
    a_db: str | None,
    b_db: str | None,
    a_set: Sequence[str] | None,
    b_set: Sequence[str] | None,
) -> list[Target]:
    """Build one target, or one for each arm. Raises UsageError for arms that do not differ, or have no database."""
    if not (a_db or b_db or a_set or b_set):
        if db is None:
            raise UsageError("no database is given", "give --db URL, or two results: OLD.json NEW.json")
        return [replace(target, url=db)]
    urls = a_db or db, b_db or db
    settings = pairs(a_set or (), "--a-set"), pairs(b_set or (), "--b-set")
    if urls[0] is None or urls[1] is None:
        missing = "A" if urls[0] is None else "B"
        raise UsageError(
            f"arm {missing} has no database",
            "give --a-db and --b-db, or --db for the arm that has none of its own",
        )
    if urls[0] == urls[1] and settings[0] == settings[1]:
        raise UsageError(
            "the arms A and B are the same", "let them differ by --a-db and --b-db, or by --a-set and --b-set"
        )
    return [
        replace(target, url=url, settings=values) for url, values in zip(urls, settings, strict=True) if url
    ]


def on_both(queries: Sequence[Query]) -> list[Query]:
    """Repeat each query on A, then on B."""
    return [
        replace(query, name=f"{query.name} [{letter}]", arm=arm)
        for query in queries
        for arm, letter in enumerate("AB")
    ]


def files_in(paths: Sequence[Path] | None) -> list[Path]:
    """List files, and for a folder its *.sql files by name. Raises UsageError for a folder without any."""
    found = []
    for path in paths or ():
        if not path.is_dir():
            found.append(path)
            continue
        inside = sorted(path.glob("*.sql"))
        if not inside:
            raise UsageError(f"{path} holds no *.sql files", "name a folder of queries, or files")
        found += inside
    return found
