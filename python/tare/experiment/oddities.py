"""Oddities of a specification without mistakes: worth a warning, though it can be run."""

from __future__ import annotations

from tare.experiment.explain import Finding
from tare.experiment.specification import Specification

FEWEST_QES = 6  # TTPv2 Step 3(iv); fewer carry no interval of a median


def warnings_of(specification: Specification) -> list[Finding]:
    """Return the oddities of a specification without mistakes."""
    found = _of_tables(specification) if specification.tables else []
    if specification.qes < FEWEST_QES:
        found.append(
            (
                ("qes",),
                f"TTPv2 drops a Q@C with fewer than {FEWEST_QES} QEs: {specification.qes} leave it none",
            )
        )
    return found


def _of_tables(specification: Specification) -> list[Finding]:
    found: list[Finding] = []
    known = {table.name.lower() for table in specification.tables}
    number, variable = next((n, table) for n, table in enumerate(specification.tables) if table.variable)
    for place, query in enumerate(specification.queries):
        named = tables_named(query.sql)
        if named is None:
            continue
        for name in sorted(named - known):
            found.append(
                (
                    ("queries", place, "sql"),
                    f'query "{query.name}" names the table {name}, which is not among [[tables]]',
                )
            )
        if variable.name.lower() not in named:
            found.append(
                (
                    ("queries", place, "sql"),
                    f'query "{query.name}" does not use the variable table {variable.name}: it does not change '
                    "with the cardinality",
                )
            )
    least = variable.range.cardinalities[-1]
    if variable.minimum is not None and least != variable.minimum:
        found.append(
            (
                ("tables", number, "minimum"),
                f"steps of {variable.step:,} from {variable.cardinality:,} end at {least:,}, "
                f"not at the minimum of {variable.minimum:,}",
            )
        )
    return found


def tables_named(sql: str) -> set[str] | None:
    """In lower case, without their schema; None where the text is another dialect's."""
    import duckdb

    with duckdb.connect() as connection:
        try:
            return {name.lower() for name in connection.get_table_names(sql)}
        except duckdb.Error:
            return None
