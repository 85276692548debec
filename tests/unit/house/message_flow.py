"""Finds code that decides by the words of a message.

A message is a string that Tare itself writes for a reader. The search follows such strings, by name, from where they
are written into fields, local variables and results of functions, and reports each place that compares them, cuts
them up, or looks for words in them. Text of others (files of the kernel, answers of a DBMS, arguments) is no message.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TypeAlias, TypeVar

_WORD = re.compile(r"[A-Za-z]{2,}|\ba\b")
_SQL = re.compile(
    r"\s*(SELECT|INSERT|CREATE|DROP|ALTER|UPDATE|DELETE|SET|SHOW|WITH|ANALYZE|COPY|LOAD|PRAGMA)\b"
)
_SEARCHES = {
    "contains", "count", "endswith", "find", "index", "like", "partition", "re_extract", "re_search", "removeprefix",
    "removesuffix", "replace", "rfind", "rlike", "rpartition", "rsplit", "split", "startswith",
}  # fmt: skip
_CUTS = {"partition", "rpartition", "rsplit", "split"}
_PATTERNS = {"findall", "finditer", "fullmatch", "match", "search", "split", "sub"}
_CHANGES = {
    "capitalize",
    "format",
    "get",
    "lower",
    "lstrip",
    "replace",
    "rstrip",
    "strip",
    "upper",
    "values",
} | _CUTS
_WRAPPERS = {"str", "list", "tuple", "sorted", "dict", "next", "clean", "printable", "coalesce", "fill_null"}

_PARTS = (ast.AnnAssign, ast.Assign, ast.Call, ast.Compare, ast.Dict, ast.Match, ast.Return, ast.Yield)

Key = TypeVar("Key", str, tuple[str, str])


@dataclass(frozen=True, order=True)
class Place:
    """A place that decides by the words of a message."""

    file: str
    line: int
    source: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.source}"


@dataclass(frozen=True)
class _Own:
    """A field of the class that the code is in."""

    owner: str
    name: str


@dataclass(frozen=True)
class _Source:
    """A name that a value comes from. It is a message if the name holds one."""

    kind: str  # "field", "function", "parameter"
    name: str | tuple[str, str]


@dataclass(frozen=True)
class _Each:
    """A dictionary: a collection of messages if each of its values is one."""

    values: tuple[_Sources, ...]


_Sources: TypeAlias = "frozenset[_Source | _Own | _Each | None]"
"""Sources of a value, which is a message if any of these is. None: a sentence, so that it is one in any case."""

_NEVER: _Sources = frozenset()
_ALWAYS: _Sources = frozenset([None])


@dataclass
class _Facts:
    """Names that hold messages, package-wide."""

    fields: set[str] = field(default_factory=set)  # `name` of whatever class, and `Class.name`
    written: set[str] = field(default_factory=set)  # `Class.name` that anything was seen to be given to
    functions: set[str] = field(default_factory=set)
    parameters: set[tuple[str, str]] = field(default_factory=set)  # of a function
    errors: set[str] = field(default_factory=lambda: {"TareError"})

    @property
    def size(self) -> int:
        return len(self.fields) + len(self.functions) + len(self.parameters)

    def holds_message(self, sources: _Sources) -> bool:
        """Whether what comes from these is a message, as far as is known."""
        return any(map(self._is_message, sources))

    def _is_message(self, source: _Source | _Own | _Each | None) -> bool:
        if source is None:
            return True
        if isinstance(source, _Each):
            return all(map(self.holds_message, source.values))
        if isinstance(source, _Own):
            own = f"{source.owner}.{source.name}"
            return own in self.fields if own in self.written else self.holds_message(_field(source.name))
        if source.kind == "field":
            return source.name in self.fields
        return source.name in (self.functions if source.kind == "function" else self.parameters)


@dataclass
class _Scope:
    """Values of local names; a name that is not here is looked up further out."""

    values: dict[str, list[ast.expr]] = field(default_factory=lambda: defaultdict(list))
    parameters: set[str] = field(default_factory=set)
    function: str = ""
    owner: str = ""  # class
    outer: _Scope | None = None
    node: ast.AST = field(default_factory=ast.Pass)
    parts: list[ast.AST] = field(default_factory=list)  # nodes that pass on or read a value


def places(package: Path) -> list[Place]:
    """Places of a package that decide by the words of a message."""
    trees = {file: ast.parse(file.read_text(), str(file)) for file in sorted(package.rglob("*.py"))}
    scopes = {file: _scopes(tree) for file, tree in trees.items()}
    every = list(chain.from_iterable(scopes.values()))
    facts = _Facts()
    _errors(every, facts)
    values, uses = _Values(), _Uses(_orders(every))
    _Collect(values, uses).run(every)
    while _grew(uses, facts):
        pass
    found = set()
    for file, of_file in scopes.items():
        source = file.read_text().splitlines()
        for node in _Search(values, facts).run(of_file):
            line = node.lineno
            found.add(Place(str(file.relative_to(package)), line, source[line - 1].strip()))
    return sorted(found)


def _errors(scopes: Iterable[_Scope], facts: _Facts) -> None:
    """Classes of the error tree: text of one of these is a message."""
    classes = [scope.node for scope in scopes if isinstance(scope.node, ast.ClassDef)]
    size = 0
    while size < len(facts.errors):
        size = len(facts.errors)
        facts.errors |= {c.name for c in classes if any(_name(base) in facts.errors for base in c.bases)}
    facts.fields.add("what")


def _grew(uses: _Uses, facts: _Facts) -> bool:
    """Take a step along the way of messages. Return false once nothing new holds one."""
    before = facts.size
    fields, functions, parameters = (
        uses.mostly(uses.fields, facts),
        uses.mostly(uses.functions, facts),
        uses.mostly(uses.parameters, facts),
    )
    facts.fields |= fields
    facts.written |= {name for name in uses.fields if "." in name}
    facts.functions |= functions
    facts.parameters |= parameters
    return facts.size > before


def _orders(scopes: Iterable[_Scope]) -> dict[str, list[str]]:
    """Names of the fields of each class and the parameters of each function, in their order."""
    found: dict[str, list[str]] = {}
    for node in (scope.node for scope in scopes):
        if isinstance(node, ast.ClassDef):
            parts = [part for part in node.body if isinstance(part, ast.AnnAssign)]
            found[node.name] = [part.target.id for part in parts if isinstance(part.target, ast.Name)]
        elif isinstance(node, ast.FunctionDef):
            names = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)]
            found.setdefault(node.name, names[1:] if names[:1] in (["self"], ["cls"]) else names)
    return found


@dataclass
class _Uses:
    """Sources of all values that each name is given."""

    orders: Mapping[str, list[str]]
    fields: dict[str, list[_Sources]] = field(default_factory=lambda: defaultdict(list))
    functions: dict[str, list[_Sources]] = field(default_factory=lambda: defaultdict(list))
    parameters: dict[tuple[str, str], list[_Sources]] = field(default_factory=lambda: defaultdict(list))

    @staticmethod
    def mostly(uses: Mapping[Key, Sequence[_Sources]], facts: _Facts) -> set[Key]:
        """Names that are given a message at least half as often as something else."""
        found = set()
        for key, given in uses.items():
            count = sum(facts.holds_message(sources) for sources in given if sources)
            if count and 2 * count >= len(given) - count:
                found.add(key)
        return found


def is_sentence(node: ast.expr) -> bool:
    """Three words of prose, or two around a value."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return _words(node.value) >= 3
    if isinstance(node, ast.JoinedStr):
        text = "\0".join(
            p.value for p in node.values if isinstance(p, ast.Constant) and isinstance(p.value, str)
        )
        return " " in text and _words(text) >= 2
    return False


def _words(text: str) -> int:
    if _SQL.match(text) or re.search(r"[<>=\\^$]|\(\?", text) or " " not in text.strip():
        return 0
    return len(_WORD.findall(text))


class _Values:
    """Finds where values come from, by following names through the scopes of their module.

    This is the same whatever is known to be a message, so each name is followed once."""

    def __init__(self) -> None:
        self._names: dict[tuple[int, str, int], _Sources] = {}  # by scope, name and depth

    def sources(self, node: ast.AST | None, scope: _Scope, depth: int = 0) -> _Sources:
        """Sources that make the value a message, or a collection of messages."""
        if node is None or depth > 12:
            return _NEVER
        any_of = lambda parts: self._any_of(parts, scope, depth + 1)  # noqa: E731
        match node:
            case ast.Constant():
                return _ALWAYS if is_sentence(node) else _NEVER
            case ast.JoinedStr():
                if is_sentence(node):
                    return _ALWAYS
                return any_of(p.value for p in node.values if isinstance(p, ast.FormattedValue))
            case ast.IfExp():
                return any_of((node.body, node.orelse))
            case ast.BoolOp():
                return any_of(node.values)
            case ast.BinOp():
                return any_of((node.left, node.right))
            case ast.NamedExpr() | ast.Starred() | ast.Await():
                return any_of((node.value,))
            case ast.Subscript():
                return any_of((node.value,))
            case ast.Tuple() | ast.List() | ast.Set():
                return any_of(node.elts)
            case ast.Dict():
                return _each([self.sources(value, scope, depth + 1) for value in node.values])
            case ast.DictComp():
                return any_of((node.value,))
            case ast.ListComp() | ast.GeneratorExp() | ast.SetComp():
                return any_of((node.elt,))
            case ast.Attribute(value=ast.Name(id="self")):
                return frozenset([_Own(scope.owner, node.attr)])
            case ast.Attribute():
                return _field(node.attr)
            case ast.Name():
                return self._named(node.id, scope, depth)
            case ast.Call():
                return self._call(node, scope, depth)
        return _NEVER

    def _any_of(self, parts: Iterable[ast.AST], scope: _Scope, depth: int) -> _Sources:
        found: set[_Source | _Own | _Each | None] = set()
        for part in parts:
            sources = self.sources(part, scope, depth)
            if sources is _ALWAYS:
                return _ALWAYS
            found |= sources
        return frozenset(found) if found else _NEVER

    def _named(self, name: str, scope: _Scope, depth: int) -> _Sources:
        at: _Scope | None = scope
        while at is not None:
            if name in at.values:
                key = (id(at), name, depth)
                if key not in self._names:
                    self._names[key] = self._any_of(at.values[name], at, depth + 1)
                return self._names[key]
            if name in at.parameters:
                return frozenset([_Source("parameter", (at.function, name))])
            at = at.outer
        return _NEVER

    def _call(self, node: ast.Call, scope: _Scope, depth: int) -> _Sources:
        name = _name(node.func)
        if isinstance(node.func, ast.Attribute) and name in _CHANGES | _WRAPPERS | {
            "contains",
            "re_extract",
            "cast",
        }:
            given = node.args[1:] if name == "get" else []
            return self._any_of((node.func.value, *given), scope, depth + 1)
        if name in _WRAPPERS | {"cases", "ifelse"}:
            return self._any_of(node.args, scope, depth + 1)
        if name is None or name.startswith("__"):
            return _NEVER
        return frozenset([_Source("function", name)])


def _field(name: str) -> _Sources:
    """A column is a field behind the name of its holder: `leader_why`."""
    last = name.rpartition("_")[2]
    is_column = last != name and last in ("why", "reason", "said", "text")
    return frozenset(_Source("field", one) for one in ((name, last) if is_column else (name,)))


def _each(values: Sequence[_Sources]) -> _Sources:
    if not values or _NEVER in values:
        return _NEVER
    unsure = tuple(sources for sources in values if sources is not _ALWAYS)
    return frozenset([_Each(unsure)]) if unsure else _ALWAYS


class _Walk:
    """Goes through all that passes on or reads a value."""

    def __init__(self, values: _Values) -> None:
        self.values = values
        self.found: list[ast.expr] = []

    def run(self, scopes: Iterable[_Scope]) -> list[ast.expr]:
        for scope in scopes:
            for part in scope.parts:
                self.see(part, scope, scope.node)
        return self.found

    def see(self, node: ast.AST, scope: _Scope, owner: ast.AST) -> None:
        raise NotImplementedError


class _Collect(_Walk):
    """Notes what fields and parameters are given and what functions return."""

    def __init__(self, values: _Values, uses: _Uses) -> None:
        super().__init__(values)
        self.uses = uses

    def see(self, node: ast.AST, scope: _Scope, owner: ast.AST) -> None:
        if isinstance(node, ast.Call):
            called = _name(node.func) or ""
            given = [(keyword.arg, keyword.value) for keyword in node.keywords if keyword.arg]
            given += zip(self.uses.orders.get(called, ()), node.args, strict=False)
            for name, value in given:
                if called.lstrip("_")[:1].isupper() or called in ("replace", "_replace"):
                    self._give(self.uses.fields[name], value, scope)
                    self._give(self.uses.fields[f"{called}.{name}"], value, scope)
                self._give(self.uses.parameters[called, name], value, scope)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target, value in _pairs(targets, node.value):
                if isinstance(target, ast.Subscript):
                    target = target.value
                if isinstance(target, ast.Attribute):
                    self._give(self.uses.fields[target.attr], value, scope)
                    self._give(self.uses.fields[f"{scope.owner}.{target.attr}"], value, scope)
        elif isinstance(node, ast.Return | ast.Yield) and node.value and isinstance(owner, ast.FunctionDef):
            self._give(self.uses.functions[owner.name], node.value, scope)

    def _give(self, uses: list[_Sources], value: ast.expr, scope: _Scope) -> None:
        if not _is_nothing(value):
            uses.append(self.values.sources(value, scope))


class _Search(_Walk):
    """Reports expressions that decide by the words of a message."""

    def __init__(self, values: _Values, facts: _Facts) -> None:
        super().__init__(values)
        self.facts = facts

    def message(self, node: ast.expr, scope: _Scope) -> bool:
        return self.facts.holds_message(self.values.sources(node, scope))

    def see(self, node: ast.AST, scope: _Scope, owner: ast.AST) -> None:
        match node:
            case ast.Compare():
                sides = [node.left, *node.comparators]
                for left, right, operator in zip(sides, sides[1:], node.ops, strict=False):
                    if self._compares(left, right, operator, scope):
                        self.found.append(node)
            case ast.Call():
                if self._searches(node, scope):
                    self.found.append(node)
            case ast.Match():
                if self.message(node.subject, scope) and any(_literals(case.pattern) for case in node.cases):
                    self.found.append(node.subject)
            case ast.Dict():
                keys = [key for key in node.keys if key is not None]
                if any(isinstance(key, ast.Constant) and is_sentence(key) for key in keys):
                    self.found.append(node)

    def _compares(self, left: ast.expr, right: ast.expr, operator: ast.cmpop, scope: _Scope) -> bool:
        if isinstance(operator, ast.Eq | ast.NotEq):
            return (_is_phrase(left) and self.message(right, scope)) or (
                _is_phrase(right) and self.message(left, scope)
            )
        if not isinstance(operator, ast.In | ast.NotIn):
            return False
        if isinstance(right, ast.Tuple | ast.List | ast.Set):
            return any(map(_is_phrase, right.elts)) and self.message(left, scope)
        if isinstance(right, ast.JoinedStr):
            return self.message(right, scope)
        return _is_text(left) and self.message(right, scope)

    def _searches(self, node: ast.Call, scope: _Scope) -> bool:
        if not isinstance(node.func, ast.Attribute):
            return False
        name, holder = node.func.attr, node.func.value
        if name in _PATTERNS and isinstance(holder, ast.Name) and (holder.id == "re" or holder.id.isupper()):
            return any(self.message(part, scope) for part in node.args)
        if name not in _SEARCHES or not node.args or not self.message(holder, scope):
            return False
        return any(_is_text(part) or (name in _CUTS and _is_separator(part)) for part in _flat(node.args[0]))


def _flat(node: ast.expr) -> list[ast.expr]:
    return list(node.elts) if isinstance(node, ast.Tuple) else [node]


def _is_text(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and bool(re.search("[A-Za-z]", node.value))
    )


def _is_phrase(node: ast.expr) -> bool:
    """Whether it is a text of several words; a single word may be a key."""
    return _is_text(node) and " " in ast.literal_eval(node)


def _is_separator(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and bool(node.value.strip())


def _is_nothing(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value in (None, "")


def _literals(pattern: ast.pattern) -> bool:
    return any(isinstance(part, ast.MatchValue) and _is_phrase(part.value) for part in ast.walk(pattern))


def _name(node: ast.expr) -> str | None:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else None


def _scopes(tree: ast.Module) -> list[_Scope]:
    """Scopes of a module from the outside in, with the values of their names."""
    found = []
    waiting = deque([_Scope(node=tree)])
    while waiting:
        scope = waiting.popleft()
        found.append(scope)
        inner: list[ast.AST] = []
        for part in _own(scope.node, inner):
            _bind(part, scope)
            if isinstance(part, _PARTS):
                scope.parts.append(part)
        waiting += (_nested(part, scope) for part in inner)
    return found


def _nested(node: ast.AST, outer: _Scope) -> _Scope:
    scope = _Scope(outer=outer, owner=outer.owner, node=node)
    if isinstance(node, ast.ClassDef):
        scope.owner = node.name
    else:
        arguments = node.args  # type: ignore[attr-defined]
        every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
        scope.parameters = {argument.arg for argument in every}
        scope.function = getattr(node, "name", "")
    return scope


def _own(node: ast.AST, inner: list[ast.AST]) -> Iterator[ast.AST]:
    """Nodes of a scope; those that open a scope of their own are put into `inner`."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            inner.append(child)
            for part in getattr(child, "decorator_list", []):
                yield from _own(part, inner)
        else:
            yield child
            yield from _own(child, inner)


def _bind(node: ast.AST, scope: _Scope) -> None:
    """Values of the names that a node binds."""
    match node:
        case ast.Assign():
            for target in node.targets:
                _bind_to(target, node.value, scope)
        case ast.AnnAssign() | ast.AugAssign() | ast.NamedExpr():
            if node.value is not None:
                _bind_to(node.target, node.value, scope)
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append" | "extend"), args=[value]):
            scope.values[name].append(value)
        case ast.For() | ast.comprehension():
            _bind_to(node.target, node.iter, scope)
        case ast.ExceptHandler():
            if node.name:
                scope.values[node.name].append(ast.Constant(None))


def _bind_to(target: ast.expr, value: ast.expr, scope: _Scope) -> None:
    for part, given in _pairs([target], value):
        if isinstance(part, ast.Name):
            scope.values[part.id].append(given)


def _pairs(targets: Iterable[ast.expr], value: ast.expr | None) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Each single target with its value; a part of a value that is not spelled out is nothing."""
    for target in targets:
        if value is None:
            continue
        if not isinstance(target, ast.Tuple | ast.List):
            yield target, value
            continue
        values = value.elts if isinstance(value, ast.Tuple | ast.List) else []
        whole = len(values) == len(target.elts)
        for place, part in enumerate(target.elts):
            yield from _pairs([part], values[place] if whole else ast.Constant(None))


def main(package: str) -> None:
    for place in places(Path(package)):
        print(place)


if __name__ == "__main__":
    import sys

    main(sys.argv[1])
