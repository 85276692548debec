"""Warnings about a specification without mistakes: it can be run, and is probably not as intended."""

from __future__ import annotations

from tare.experiment.explain import Finding
from tare.experiment.specification import Specification

FEWEST_QES = 6  # TTPv2 Step 3(iv); fewer carry no interval of a median


def warnings_of(specification: Specification) -> list[Finding]:
    """Return warnings about a specification without mistakes."""
    findings = _table_warnings(specification) if specification.tables else []
    if specification.qes < FEWEST_QES:
        findings.append(
            (
                ("qes",),
                f"TTPv2 drops a Q@C with fewer than {FEWEST_QES} QEs: {specification.qes} leave it none",
            )
        )
    return findings


def _table_warnings(specification: Specification) -> list[Finding]:
    findings: list[Finding] = []
    known = {table.name.lower() for table in specification.tables}
    number, variable = next((n, table) for n, table in enumerate(specification.tables) if table.variable)
    for place, query in enumerate(specification.queries):
        named = tables_named(query.sql)
        if named is None:
            continue
        for name in sorted(named - known):
            findings.append(
                (
                    ("queries", place, "sql"),
                    f'query "{query.name}" names the table {name}, which is not among [[tables]]',
                )
            )
        if variable.name.lower() not in named:
            findings.append(
                (
                    ("queries", place, "sql"),
                    f'query "{query.name}" does not use the variable table {variable.name}: it does not change '
                    "with the cardinality",
                )
            )
    least = variable.range.cardinalities[-1]
    if variable.minimum is not None and least != variable.minimum:
        findings.append(
            (
                ("tables", number, "minimum"),
                f"steps of {variable.step:,} from {variable.cardinality:,} end at {least:,}, "
                f"not at the minimum of {variable.minimum:,}",
            )
        )
    return findings


def tables_named(sql: str) -> set[str] | None:
    """Tables that a query names, by DuckDB's parser, in lower case and without their schema.

    None where the text is another dialect's."""
    import duckdb

    with duckdb.connect() as connection:
        try:
            return {name.lower() for name in connection.get_table_names(sql)}
        except duckdb.Error:
            return None
