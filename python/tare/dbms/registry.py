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
    entries = {name: EntryPoint(name, target, GROUP) for name, target in _BUILT_IN.items()}
    entries.update({entry.name: entry for entry in entry_points(group=GROUP)})
    loaded: dict[str, Adapter] = {}
    broken: dict[str, str] = {}
    for name, entry in entries.items():
        try:
            loaded[name] = getattr(import_module(entry.module), entry.attr)()
        except (ImportError, AttributeError) as error:
            broken[name] = f"{entry.value}: {error}"
    return loaded, broken
