"""Which adapter answers to a URL's scheme: entry points of `tare.dbms` over the four built in."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import EntryPoint, entry_points

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
    """Every adapter by its name; one that cannot be imported raises MissingDriver with its name."""
    found = {name: EntryPoint(name, target, GROUP) for name, target in _BUILT_IN.items()}
    found.update({entry.name: entry for entry in entry_points(group=GROUP)})
    return {name: _load(entry) for name, entry in found.items()}


def find(url: str) -> Adapter:
    """The adapter for this URL. Raises UnknownScheme (listing the known ones) or UsageError."""
    scheme = scheme_of(url)
    known: list[str] = []
    for adapter in adapters().values():
        if scheme in adapter.schemes:
            return adapter
        known.extend(adapter.schemes)
    raise UnknownScheme(
        f"no adapter answers to the scheme {scheme}://",
        f"use one of {', '.join(f'{name}://' for name in sorted(known))}, or install a package "
        f"with an entry point in the group {GROUP}",
    )


def _load(entry: EntryPoint) -> Adapter:
    try:
        module = import_module(entry.module)
        adapter: Adapter = getattr(module, entry.attr)()
    except (ImportError, AttributeError) as error:
        raise MissingDriver(
            f"the adapter {entry.name} ({entry.value}) cannot be loaded: {error}",
            "install what it needs, or uninstall the package that brings it",
        ) from error
    return adapter
