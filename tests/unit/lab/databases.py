"""Databases of a test's own, on a server that others use too."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import psycopg


@contextmanager
def own_database(url: str) -> Iterator[str]:
    name = f"lab_{uuid.uuid4().hex}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    try:
        # urlunsplit would drop the empty host of postgresql:///…
        parts = urlsplit(url)
        yield url.replace(f"{parts.netloc}{parts.path}", f"{parts.netloc}/{name}", 1)
    finally:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
