"""Imports go one way: ground, records, dbms, measure, lab, protocol, what fills a lab, report, command line."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import tare
from tests.unit.house.circles import circles

PACKAGE = Path(tare.__file__).parent
ROOT = Path(__file__).parents[3]

LAYERS: tuple[tuple[str, ...], ...] = (
    (
        "tare",
        "tare._probe",
        "tare.arrow",
        "tare.entries",
        "tare.errors",
        "tare.files",
        "tare.interruption",
        "tare.journals",
        "tare.meant",
        "tare.parallel",
        "tare.records",
        "tare.scratch",
        "tare.words",
    ),
    ("tare.dbms",),
    ("tare.measure",),
    (  # plain records that a lab stores
        "tare.experiment.scenario.base",
        "tare.experiment.specification",
        "tare.os.level",
        "tare.os.record",
        "tare.protocol.profile.measured",
        "tare.workload.oltp.distribution",
        "tare.workload.oltp.run",
        "tare.workload.oltp.told",
        "tare.workload.oltp.verdict",
        "tare.workload.wisconsin.kinds",
        "tare.workload.wisconsin.specification",
    ),
    ("tare.lab",),
    ("tare.protocol",),
    ("tare.experiment", "tare.workload", "tare.profile", "tare.cluster"),
    ("tare.os", "tare.tune"),
    ("tare.report",),
    ("tare.cli", "tare.__main__"),
)
"""Modules and packages, from the ground up. The longest name that fits a module decides."""

HEIGHTS = {name: height for height, names in enumerate(LAYERS) for name in names}


@dataclass(frozen=True, order=True)
class Import:
    importer: str
    imported: str
    line: int

    def __str__(self) -> str:
        return f"{self.importer}:{self.line} imports {self.imported}"


def modules() -> Mapping[str, Path]:
    found = {}
    for file in PACKAGE.rglob("*.py"):
        parts = file.relative_to(PACKAGE.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


def imports(known: Mapping[str, Path]) -> Iterator[Import]:
    """Every import that runs, also inside functions; those for the type checker alone move nothing."""
    for name, file in known.items():
        for node in _running(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "tare":
                for alias in node.names:
                    whole = f"{node.module}.{alias.name}"
                    yield Import(name, whole if whole in known else str(node.module), node.lineno)
            elif isinstance(node, ast.Import):
                yield from (
                    Import(name, alias.name, node.lineno)
                    for alias in node.names
                    if alias.name.partition(".")[0] == "tare"
                )


def _running(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if (
            isinstance(child, ast.If)
            and isinstance(child.test, ast.Name)
            and child.test.id == "TYPE_CHECKING"
        ):
            continue
        yield child
        yield from _running(child)


def height(module: str) -> int:
    parts = module.split(".")
    names = (".".join(parts[:n]) for n in range(len(parts), 0, -1))
    return HEIGHTS[next(name for name in names if name in HEIGHTS)]


def test_no_module_imports_one_that_is_above_it() -> None:
    wrong = [str(one) for one in sorted(imports(modules())) if height(one.imported) > height(one.importer)]
    assert wrong == []


def test_benchmarks_import_no_tests() -> None:
    wrong = [
        f"{file.relative_to(ROOT)}:{node.lineno}"
        for file in (ROOT / "benchmarks").rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for name in (getattr(node, "module", None), *(alias.name for alias in node.names))
        if name is not None and name.partition(".")[0] == "tests"
    ]
    assert wrong == []


def test_no_modules_import_each_other_in_a_circle() -> None:
    edges: dict[str, set[str]] = {}
    for one in imports(modules()):
        if one.importer != one.imported:
            edges.setdefault(one.importer, set()).add(one.imported)
    assert circles(edges) == []


def test_a_circle_is_found() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == [["a", "b", "c"]]


def test_every_room_has_its_layer() -> None:
    rooms = {name for name in modules() if name.count(".") == 1}
    assert rooms - HEIGHTS.keys() == set()


def test_every_layer_names_modules_that_there_are() -> None:
    known = modules().keys() | {"tare._probe"}
    assert HEIGHTS.keys() - known == set()
