"""Judging every case of a lab at once: checks as Ibis expressions over a table of measures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from operator import and_, or_
from typing import Any

import ibis
import ibis.expr.types as ir

from tare.lab.answers import row
from tare.protocol.check import Check, Ground
from tare.protocol.named import Columns, Defined, say
from tare.protocol.outcome import CheckCount


def violated(check: Check, table: ir.Table) -> ir.BooleanValue:
    """Never NULL: a ground that lacks a measure does not hold."""
    holds = [_holds(ground, table) for ground in check.grounds]
    found = reduce(or_, holds)
    return found & ~_holds(check.unless, table) if check.unless else found


def unjudged(check: Check, table: ir.Table, against: ir.BooleanValue | None = None) -> ir.BooleanValue:
    """Neither violated nor known to pass. Never NULL. `against`: `violated` of the same, where it is there already."""
    needs = [_known((name,), table) for name in check.needs]
    lacking = ~reduce(or_ if check.of_what_is_known else and_, needs)
    if check.unless:
        lacking = lacking | _holds(check.unless, table)
    return lacking & ~(violated(check, table) if against is None else against)


def evidence(check: Check, table: ir.Table) -> ir.StringValue:
    """Return the evidence of the violation: of the first ground that holds."""
    found = [(_holds(ground, table), _said(ground, table)) for ground in check.grounds]
    return ibis.cases(*found, else_=None).cast("string")


def reason(check: Check, table: ir.Table) -> ir.StringValue:
    """Why a case cannot be judged."""
    why: list[tuple[Any, Any]] = [(~_known((name,), table), check.lack(name)) for name in check.needs]
    if check.unless:
        why.insert(0, (_holds(check.unless, table), _said(check.unless, table)))
    return ibis.cases(*why, else_=None).cast("string")


def count(checks: Sequence[Check], table: ir.Table) -> tuple[CheckCount, ...]:
    """Count the findings of each check over the rows of the table: one query for all of them."""
    verdicts: dict[str, Any] = {}
    for i, check in enumerate(checks):
        against = violated(check, table)
        cannot = unjudged(check, table, against)
        verdicts[f"violated_{i}"] = against.cast("int64")
        verdicts[f"unjudged_{i}"] = cannot.cast("int64")
        verdicts[f"why_{i}"] = ibis.cases((cannot, reason(check, table)), else_=None)
    judged = table.select(**verdicts)
    asked = {
        name: judged[name].min() if name.startswith("why") else judged[name].sum().fill_null(0)
        for name in verdicts
    }
    found = row(judged.aggregate(cases=judged.count(), **asked))
    return tuple(
        CheckCount(
            number=check.number,
            name=check.name,
            source=check.source,
            level=check.level,
            judged=found["cases"] - found[f"unjudged_{i}"],
            violations=found[f"violated_{i}"],
            unjudged=found[f"why_{i}"],
        )
        for i, check in enumerate(checks)
    )


def define(table: ir.Table, definitions: Iterable[Defined]) -> ir.Table:
    """The table with what is defined from its columns."""
    for one in definitions:
        if all(name in table.columns for name in one.needs):
            table = table.mutate(**{one.name: one.formula(Columns(table))})
        else:
            table = table.mutate(**{one.name: ibis.null("float64")})
    return table


def _holds(ground: Ground, table: ir.Table) -> Any:
    if not all(name in table.columns for name in ground.needs):
        return ibis.literal(False)
    return (_known(ground.needs, table) & ground.holds(Columns(table))).fill_null(False)


def _said(ground: Ground, table: ir.Table) -> Any:
    if not all(name in table.columns for name in ground.needs):
        return ibis.null("string")
    return say(ground.evidence, Columns(table))


def _known(names: Sequence[str], table: ir.Table) -> Any:
    there = [table[name].notnull() if name in table.columns else ibis.literal(False) for name in names]
    return reduce(and_, there)
