"""SQLite, in a host process of its own."""

from tare.dbms.sqlite.adapter import SQLite

__all__ = ["SQLite"]
