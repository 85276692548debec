"""Form of a rule over named measures, of one case in plain numbers or of all cases as columns.

A rule is a function of a view: `lambda m: m.query_user_ticks > 0`. Over `Numbers` it gives a bool,
over `Columns` an Ibis expression. Only operators and the helpers here may be used in it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from string import Formatter
from typing import Any

Formula = Callable[[Any], Any]


class Numbers:
    """The measures of one case."""

    __slots__ = ("_values",)

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values

    def __getattr__(self, name: str) -> Any:
        try:
            return self._values[name]
        except KeyError:
            raise AttributeError(f"no measure {name!r}") from None

    def lacks(self, names: Iterable[str]) -> str | None:
        """The first of the measures that is not known here."""
        return next((name for name in names if self._values.get(name) is None), None)


class Columns:
    """The measures of all cases: the columns of an Ibis table, whatever methods the table has."""

    __slots__ = ("_table",)

    def __init__(self, table: Any) -> None:
        self._table = table

    def __getattr__(self, name: str) -> Any:
        return self._table[name]


@dataclass(frozen=True, slots=True)
class Defined:
    """A measure that is computed from others; unknown where one of them is."""

    name: str
    needs: tuple[str, ...]
    formula: Formula


def complete(values: Mapping[str, Any], definitions: Iterable[Defined]) -> dict[str, Any]:
    """The values with what is defined from them, in the order of the definitions."""
    made = dict(values)
    view = Numbers(made)
    for one in definitions:
        made[one.name] = None if view.lacks(one.needs) else one.formula(view)
    return made


def least(one: Any, two: Any) -> Any:
    if _plain(one, two):
        return min(one, two)
    import ibis

    return ibis.least(one, two)


def greatest(one: Any, two: Any) -> Any:
    if _plain(one, two):
        return max(one, two)
    import ibis

    return ibis.greatest(one, two)


def magnitude(value: Any) -> Any:
    return abs(value) if _plain(value) else value.abs()


def as_float(value: Any) -> Any:
    """For a whole number that meets a fraction: some engines would make a decimal of the two."""
    return float(value) if _plain(value) else value.cast("float64")


def deviation(n: Any, total: Any, squares: Any) -> Any:
    """Sample standard deviation (n - 1) from a count of two or more, a sum and a sum of squares.

    From whole numbers it is the same whatever their order was, on every engine.
    """
    n, total, squares = as_float(n), as_float(total), as_float(squares)
    spread = greatest((n * squares - total * total) / (n * (n - 1.0)), 0.0)
    return math.sqrt(spread) if _plain(spread) else spread.sqrt()


def say(template: str, view: Any) -> Any:
    """The template with the view's measures put in: a str, or a column of them.

    A field is `{measure}` for whole numbers and text, or `{measure:.1f}`; `.1%` writes a share, `.2ms`
    nanoseconds as milliseconds, and a leading + the sign.
    """
    parts: list[Any] = []
    for text, name, form, _ in Formatter().parse(template):
        parts.append(text)
        if name is not None:
            parts.append(_written(getattr(view, name), form or ""))
    if all(isinstance(part, str) for part in parts):
        return "".join(parts)
    import ibis

    joined: Any = ibis.literal("")
    for part in parts:
        if not (isinstance(part, str) and not part):
            joined = joined + part
    return joined


def _written(value: Any, form: str) -> Any:
    if not form:
        return format(value) if _plain(value) else value.cast("string")
    signed, places = form.startswith("+"), int(form.strip("+.f%ms"))
    scale, unit = (100.0, "%") if form.endswith("%") else (1e-6, " ms") if form.endswith("ms") else (1.0, "")
    if _plain(value):
        units = math.floor(abs(value * scale) * 10.0**places + 0.5)  # half away from zero, as engines round
        rounded = math.copysign(units / 10**places, value)
        return format(rounded, f"{'+' if signed else ''}.{places}f") + unit
    return _decimal(value * scale, places, signed) + unit


def _decimal(value: Any, places: int, signed: bool) -> Any:
    """Fixed decimals out of whole numbers, which every engine writes alike."""
    import ibis

    units = (value.abs() * 10.0**places).round().cast("int64")
    whole, rest = (units // 10**places).cast("int64"), units % 10**places
    sign = ibis.cases((value < 0, "-"), else_="+" if signed else "")
    text = sign + whole.cast("string")
    return text + "." + rest.cast("string").lpad(places, "0") if places else text


def _plain(*values: Any) -> bool:
    return all(isinstance(value, int | float | str | None) for value in values)
