"""The queries of a run, and their expansion over parameters."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation

from tare.errors import BadStatement, StatementFailed, UsageError
from tare.measure.source import Source, excerpt, line_and_column, offset_in_template

MOST_VALUES = 10_000
"""Largest number of values of a parameter: more is a mistake."""


@dataclass(frozen=True, slots=True)
class Query:
    """A statement to weigh; `parameters` filled its {placeholders}."""

    name: str
    sql: str
    parameters: Mapping[str, str] = field(default_factory=dict)
    source: Source | None = None  # None: given on the command line
    arm: int = 0  # place of the arm that it runs on

    def place(self, offset: int | None) -> str:
        """Return the statement's name for a message, with the place of its mistake if that is known."""
        if offset is None:
            return self.name
        if self.source is not None:
            where = self.source.place(offset_in_template(self.source.text, self.parameters, offset))
            filled = ", ".join(f"{name}={value}" for name, value in self.parameters.items())
            return f"{where} [{filled}]" if filled else where
        if "\n" not in self.sql.strip():
            return self.name
        line, column = line_and_column(self.sql, offset)
        return f"{self.name}, line {line}, column {column}"

    def failed(self, error: StatementFailed) -> StatementFailed:
        """The same error with the statement's name and place in front, and the line that it is about."""
        failure = StatementFailed(
            f"{self.place(error.offset)}: {error.what}",
            error.next_step,
            code=error.code,
            offset=error.offset,
            may_pass=error.may_pass,
        )
        failure.excerpt = "" if error.offset is None else excerpt(self.sql, error.offset)
        return failure

    def explained(self, error: StatementFailed, dbms: str) -> StatementFailed:
        """The same error, of preparing or planning, with what a client would have replaced in the statement."""
        from tare.dbms.unbound import unbound  # 0.1 s: not for statements that run

        found = unbound(self.sql, dbms)
        if found is None:
            return error
        what, next_step = found.explanation(error.what)
        return StatementFailed(what, next_step, code=error.code, offset=error.offset)

    def refused(self, error: StatementFailed, dbms: str) -> BadStatement:
        """The same error, of preparing or planning, explained, as the fault of the request."""
        failure = self.failed(self.explained(error, dbms))
        return BadStatement(failure.what, failure.next_step, code=failure.code, excerpt=failure.excerpt)


def scan(name: str, low: str, high: str, step: str = "1") -> tuple[str, list[str]]:
    """The values low, low + step, … up to high, in exact decimal arithmetic."""
    try:
        first, last, by = Decimal(low), Decimal(high), Decimal(step)
    except InvalidOperation:
        raise UsageError(
            f"--parameter-scan {name} {low} {high} {step}: not three numbers",
            "give LOW, HIGH and STEP as numbers",
        ) from None
    if not (first.is_finite() and last.is_finite() and by.is_finite()) or by <= 0 or last < first:
        raise UsageError(
            f"--parameter-scan {name} {low} {high} {step}: an empty range",
            "let HIGH be at least LOW, and STEP above zero",
        )
    count = int((last - first) / by) + 1
    if count > MOST_VALUES:
        raise UsageError(
            f"--parameter-scan {name} {low} {high} {step}: {count} values, and {MOST_VALUES} are the most",
            "take a larger --parameter-step-size",
        )
    return name, [str(first + by * i) for i in range(count)]


def expand(queries: Sequence[Query], parameters: Sequence[tuple[str, list[str]]]) -> list[Query]:
    """Every query under every combination of the parameters that it names. Raises UsageError."""
    names = [name for name, _ in parameters]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise UsageError(
            f"the parameter {twice} is given twice", f"give all its values at once: -L {twice}=V1,V2"
        )
    expanded = []
    for query in queries:
        used = [(name, values) for name, values in parameters if "{" + name + "}" in query.sql]
        for combination in itertools.product(*(values for _, values in used)):
            chosen = {name: value for (name, _), value in zip(used, combination, strict=True)}
            sql = query.sql
            for name, value in chosen.items():
                sql = sql.replace("{" + name + "}", value)
            label = ", ".join(f"{name}={value}" for name, value in chosen.items())
            expanded.append(
                Query(f"{query.name} [{label}]" if label else query.name, sql, chosen, query.source)
            )
    unused = [name for name, _ in parameters if not any("{" + name + "}" in query.sql for query in queries)]
    if unused:
        raise UsageError(
            f"no query has a placeholder {{{unused[0]}}}",
            f"write {{{unused[0]}}} in the SQL where its value belongs",
        )
    return expanded
