"""Adapters by a URL's scheme: entry points of `tare.dbms` over the four built in."""

from __future__ import annotations

from tare import entries
from tare.dbms.base import Adapter
from tare.dbms.url import scheme_of
from tare.errors import MissingDriver, UnknownScheme

GROUP = "tare.dbms"

_BUILT_IN = {
    "postgresql": "tare.dbms.postgresql:PostgreSQL",
    "mariadb": "tare.dbms.mariadb:MariaDB",
    "sqlite": "tare.dbms.sqlite:SQLite",
    "duckdb": "tare.dbms.duckdb:DuckDB",
}


def adapters() -> dict[str, Adapter]:
    """Every adapter that can be loaded, by its name."""
    return _loaded()[0]


def find(url: str) -> Adapter:
    """The adapter for this URL. Raises UnknownScheme (listing the known ones) or UsageError."""
    scheme = scheme_of(url)
    loaded, broken = _loaded()
    for adapter in loaded.values():
        if scheme in adapter.schemes:
            return adapter
    if scheme in broken:
        raise MissingDriver(
            f"the adapter {scheme} cannot be loaded: {broken[scheme]}",
            "install what it needs, or uninstall the package that brings it",
        )
    known = sorted(name for adapter in loaded.values() for name in adapter.schemes)
    raise UnknownScheme(
        f"no adapter answers to the scheme {scheme}://",
        f"use one of {', '.join(f'{name}://' for name in known)}, or install a package "
        f"with an entry point in the group {GROUP}",
    )


def _loaded() -> tuple[dict[str, Adapter], dict[str, str]]:
    """Adapters by name, and why the others (of other packages) could not be loaded."""
    return entries.loaded(GROUP, _BUILT_IN)
