"""Arms of `tare compare`: two servers, or two values of settings, and the queries that run on both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tare.cli.values import pairs
from tare.cli.weighing import Target
from tare.errors import UsageError
from tare.measure.query import Query


def targets_of(
    target: Target,
    db: str | None,
    urls: tuple[str | None, str | None],
    settings: tuple[Sequence[str] | None, Sequence[str] | None],
) -> list[Target]:
    """Return one target, or one for each arm. `urls`, `settings`: of A and B, as given.

    Raises UsageError for arms that do not differ, or have no database."""
    if not (any(urls) or any(settings)):
        if db is None:
            raise UsageError("no database to weigh on", "give its URL with --db, or in TARE_DB")
        return [replace(target, url=db)]
    of_a, of_b = pairs(settings[0] or (), "--a-set"), pairs(settings[1] or (), "--b-set")
    a, b = urls[0] or db, urls[1] or db
    if a is None or b is None:
        raise UsageError(
            f"arm {'A' if a is None else 'B'} has no database",
            "give --a-db and --b-db, or --db for the arm that has none of its own",
        )
    if (a, of_a) == (b, of_b):
        raise UsageError(
            "the arms A and B are the same", "let them differ by --a-db and --b-db, or by --a-set and --b-set"
        )
    return [replace(target, url=a, settings=of_a), replace(target, url=b, settings=of_b)]


def on_both(queries: Sequence[Query]) -> list[Query]:
    """Return each query on A, then on B."""
    return [
        replace(query, name=f"{query.name} [{letter}]", arm=arm)
        for query in queries
        for arm, letter in enumerate("AB")
    ]
