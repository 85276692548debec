"""TPC-H's 22 queries with the qualification's parameters (§2.4), in SQL that every supported DBMS takes.

Dates are literals, since date arithmetic differs among DBMSs; `{year:COLUMN}` is the year of a date, and `{fraction}`
in query 11 depends on the scale."""

from __future__ import annotations

import re
from importlib.resources import files

NUMBERS = tuple(range(1, 23))
_YEAR = re.compile(r"\{year:(\w+)\}")


def query(number: int, dbms: str, scale: float = 1.0) -> str:
    """SQL of the query for the DBMS ("sqlite", "postgresql", …)."""
    text = (files(__package__) / f"q{number:02}.sql").read_text()
    year = r"CAST(substr(\1, 1, 4) AS integer)" if dbms == "sqlite" else r"extract(year FROM \1)"
    return _YEAR.sub(year, text).replace("{fraction}", f"{0.0001 / scale:.10f}").strip()
