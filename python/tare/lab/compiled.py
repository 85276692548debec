"""SQL of expressions, compiled once for each shape.

The shape of an expression is its graph of operations, apart from the generated names of the tables that it reads.
Analyses of different labs, or of one lab by the same protocol, ask for the same shapes: Ibis takes half of their time
to compile them, and this module a twentieth of that to recognize one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any, Final

import ibis.expr.operations as ops
import ibis.expr.types as ir
from ibis.backends import BaseBackend
from ibis.common.graph import Node
from ibis.expr.datatypes import DataType
from ibis.expr.schema import Schema

LIMIT: Final = 512
"""Number of shapes that are kept; a protocol has 33 or 34, with its rows."""

_GENERATED: Final = re.compile(r"ibis_\w+_[a-z2-7]{26}")
"""Names made by `ibis.util.gen_name`, out of 128 random bits: no other word of a query looks like one."""

_templates: dict[tuple[str, bytes], tuple[str | int, ...]] = {}
_types: dict[DataType | Schema, int] = {}


class Query:
    """Expression with the engine that holds its tables."""

    def __init__(self, table: ir.Table) -> None:
        self.table = table
        self.shape = _Shape(table.op())
        self.backend: BaseBackend = self.shape.backend or table.get_backend()

    @property
    def runs_in_duckdb(self) -> bool:
        """Whether the SQL is all that DuckDB needs: no rows come out of Python's memory."""
        return self.backend.name == "duckdb" and not self.shape.holds_rows

    def sql(self) -> str:
        """SQL in the dialect of the engine."""
        names = self.shape.names
        if self.shape.holds_rows:
            return str(self.backend.compile(self.table))
        key = (self.backend.name, self.shape.digest())
        if key not in _templates:
            if len(_templates) >= LIMIT:
                _templates.clear()
            _templates[key] = _template(str(self.backend.compile(self.table)), names)
        return "".join(part if isinstance(part, str) else names[part] for part in _templates[key])


def _template(sql: str, names: Mapping[int, str]) -> tuple[str | int, ...]:
    """Text, and the numbers of the tables whose names stand between."""
    if not names:
        return (sql,)
    numbers = {name: number for number, name in names.items()}
    return tuple(numbers.get(part, part) for part in re.split(f"({'|'.join(numbers)})", sql))


class _Shape:
    """Operations of an expression in a fixed order, each with the numbers of those that it is made of."""

    def __init__(self, root: ops.Node) -> None:
        self.names: dict[int, str] = {}  # generated names of tables, by number
        self.holds_rows = False  # out of Python's memory
        self.backend: BaseBackend | None = None
        self._numbers: dict[tuple[Any, ...], int] = {}
        self._seen: dict[int, int] = {}  # by identity; the root keeps all of them
        self._tables: dict[str, int] = {}
        self._references: dict[Any, int] = {}
        self._number(root)

    def digest(self) -> bytes:
        return blake2b(repr(list(self._numbers)).encode(), digest_size=32).digest()

    def _number(self, node: Node) -> int:
        """Number of an operation; equal operations have the same."""
        known = self._seen.get(id(node))
        if known is not None:
            return known
        self.holds_rows |= isinstance(node, ops.InMemoryTable)
        parts: tuple[Any, ...]
        if isinstance(node, ops.DatabaseTable):
            self.backend = node.source
            parts = (self._name(node.name), _type(node.schema), repr(node.namespace))
        elif isinstance(node, ops.Reference):
            place = self._references.setdefault(node.identifier, len(self._references))
            parts = (self._number(node.parent), place)
        else:
            parts = tuple(map(self._part, node.__args__))
        number = self._numbers.setdefault((type(node).__name__, *parts), len(self._numbers))
        self._seen[id(node)] = number
        return number

    def _name(self, name: str) -> int | str:
        if not _GENERATED.fullmatch(name):
            return name
        number = self._tables.setdefault(name, len(self._tables))
        self.names[number] = name
        return number

    def _part(self, value: Any) -> Any:
        if isinstance(value, Node):
            return self._number(value)
        if isinstance(value, str):
            return value
        if isinstance(value, DataType | Schema):
            return ("type", _type(value))
        if isinstance(value, tuple | list):
            return tuple(map(self._part, value))
        if isinstance(value, Mapping):
            return tuple((name, self._part(part)) for name, part in value.items())
        return (type(value).__name__, repr(value))


def _type(value: DataType | Schema) -> int:
    return _types.setdefault(value, len(_types))
