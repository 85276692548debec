"""DuckDB's failures by their exception: the next step for each, and the error that Tare raises."""

from __future__ import annotations

import re
from collections.abc import Mapping

import duckdb

from tare.errors import StatementFailed, TareError, WriteRefused

_STEPS: Mapping[type[duckdb.Error], str] = {
    duckdb.ParserException: "correct the SQL at that place",
    duckdb.SyntaxException: "correct the SQL at that place",
    duckdb.BinderException: "check the names and types; DESCRIBE TABLE lists the columns of a table",
    duckdb.CatalogException: "SHOW TABLES lists the tables; remove what a run makes with --conclude",
    duckdb.ConstraintException: "put the data back between runs: after each one with --conclude, or before it with "
    "--prepare",
    duckdb.ConversionException: "correct the expression, or the data that it meets (TRY_CAST gives NULL instead)",
    duckdb.OutOfRangeException: "correct the expression, or the data that it meets",
    duckdb.OutOfMemoryException: "raise memory_limit, or name a temp_directory with room, in --setup",
    duckdb.IOException: "check the file's path, permissions and disk",
    duckdb.HTTPException: "check the address and the network",
    duckdb.PermissionException: "permit it in --setup, or leave it out",
    duckdb.InterruptException: "run again: the statement was interrupted",
    duckdb.TransactionException: "run it while no other connection changes the same rows",
    duckdb.FatalException: "open the database again: DuckDB has closed it",
    duckdb.InternalException: "report it to DuckDB: this is a defect",
}
"""Next step by exception; the nearest class of one that is not named here."""

_ELSE = "correct the statement; SHOW TABLES lists the tables"
_FINAL = (
    duckdb.ParserException,
    duckdb.SyntaxException,
    duckdb.BinderException,
    duckdb.CatalogException,
    duckdb.ConstraintException,
    duckdb.ConversionException,
    duckdb.OutOfRangeException,
    duckdb.InvalidInputException,
    duckdb.NotImplementedException,
)
_SHOWN_PLACE = re.compile(r"\n*^LINE \d+: (?P<line>.*)\n(?P<blanks> *)\^.*\Z", re.MULTILINE | re.DOTALL)
_CUT = "..."  # what DuckDB puts for the parts of a long line that it leaves out


def failure(
    error: duckdb.Error, sql: str = "", *, is_read_only: bool = False, changes: bool = False
) -> TareError:
    """Return the error for a statement; `sql` is the user's, or empty.

    `is_read_only`: the database was opened so, and DuckDB refuses a change like any other invalid input. `changes`: the
    statement may change data."""
    text = str(error).strip()
    message = " ".join(_SHOWN_PLACE.sub("", text).split()) if sql else text
    code = type(error).__name__
    step = next((_STEPS[kind] for kind in type(error).__mro__ if kind in _STEPS), _ELSE)
    if is_read_only and isinstance(error, duckdb.InvalidInputException):
        step = "give --allow-writes if the statement is meant to change data, or correct it"
        if changes:
            return WriteRefused(
                f"DuckDB refused the statement in a database that is read-only: {message}", step, code=code
            )
    return StatementFailed(
        f"DuckDB refused the statement: {message}",
        step,
        code=code,
        offset=_offset(text, sql),
        may_pass=not isinstance(error, _FINAL),
    )


def _offset(text: str, sql: str) -> int | None:
    """Characters before the mistake: DuckDB shows the line, perhaps with the start of a statement of ours, and marks
    the place. None where what stands there is not in the user's text once."""
    found = _SHOWN_PLACE.search(text)
    if found is None or not sql:
        return None
    head = len(found.group().strip("\n").split(": ", 1)[0]) + 2
    rest = found["line"][len(found["blanks"]) - head :].removesuffix(_CUT)
    places = [place.start() for place in re.finditer(re.escape(rest), sql)] if rest.strip() else []
    return places[0] if len(places) == 1 else None
