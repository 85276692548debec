"""TPC-H's 22 queries with the parameters of the qualification database (specification 3.0.1, §2.4).

Their SQL is the same for every supported DBMS, except the year of a date: `{year:COLUMN}`. Dates are literals, since
date arithmetic differs among DBMSs. Query 15 uses WITH instead of a view. `{fraction}` in query 11 depends on the
scale (§2.4.11.3)."""

from __future__ import annotations

import re
from importlib.resources import files

NUMBERS = tuple(range(1, 23))
_YEAR = re.compile(r"\{year:(\w+)\}")


def query(number: int, dbms: str, scale: float = 1.0) -> str:
    """Return the SQL of the query for the DBMS ("sqlite", "postgresql", …)."""
    text = (files(__package__) / f"q{number:02}.sql").read_text()
    year = r"CAST(substr(\1, 1, 4) AS integer)" if dbms == "sqlite" else r"extract(year FROM \1)"
    return _YEAR.sub(year, text).replace("{fraction}", f"{0.0001 / scale:.10f}").strip()
