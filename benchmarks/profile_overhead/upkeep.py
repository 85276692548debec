"""A server's upkeep is done between rounds: within one it is noise. Autovacuum and checkpoints of either server take a
third of a window of one second under TPC-C, on whichever they fall; without them windows differ by 4 to 7% instead of
12 (25 windows each, data in memory)."""

from __future__ import annotations

from collections.abc import Iterable

import psycopg

SETTINGS = {
    "autovacuum": "off",
    "checkpoint_timeout": "1h",
    "max_wal_size": "4GB",  # some minutes of the load
    "full_page_writes": "off",  # after each checkpoint the first windows would write more
}
SAYS = "autovacuum and full-page writes off, VACUUM and CHECKPOINT between rounds"


def by_hand(url: str) -> None:
    _each(url, [*(f"ALTER SYSTEM SET {name} = '{value}'" for name, value in SETTINGS.items()),
                "SELECT pg_reload_conf()"])  # fmt: skip


def keep_up(urls: Iterable[str]) -> None:
    for url in urls:
        _each(url, ["VACUUM (ANALYZE)", "CHECKPOINT"])


def _each(url: str, statements: Iterable[str]) -> None:
    """Outside of transactions, as these statements have to be."""
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)  # type: ignore[arg-type]
