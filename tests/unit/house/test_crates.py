"""No two Rust files of a crate use each other."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.unit.house.circles import circles

CRATES = Path(__file__).parents[3] / "crates"

USE = re.compile(r"\buse\s+((?:crate|super|self)\b[^;]*);")
PATH = re.compile(r"\bcrate((?:::[a-z_0-9]+)+)")


def circles_of(crate: Path) -> list[list[str]]:
    files = {module(crate / "src", file): file for file in (crate / "src").rglob("*.rs")}
    return circles({name: used(name, file.read_text(), files) for name, file in files.items()})


def module(source: Path, file: Path) -> str:
    parts = file.relative_to(source).with_suffix("").parts
    return "::".join(parts[:-1] if parts[-1] in ("mod", "lib", "main") else parts)


def used(own: str, text: str, known: Mapping[str, Path]) -> set[str]:
    """Files that a file uses, its tests apart."""
    text = re.split(r"#\[cfg\(test\)\]\s*mod ", re.sub(r"//[^\n]*", "", text))[0]
    paths = [path for tree in USE.findall(text) for path in flat([], tree)]
    paths += [["crate", *path.split("::")[1:]] for path in PATH.findall(text)]
    found = {file_of(absolute(own.split("::") if own else [], path), known) for path in paths}
    return {name for name in found if name is not None and name != own}


def flat(before: list[str], tree: str) -> Iterator[list[str]]:
    """Paths of a tree of uses: `a::{b, c::{d, e}}`."""
    head, brace, rest = tree.strip().partition("{")
    names = [*before, *(part.strip() for part in re.split(r"::| as ", head) if part.strip())]
    if not brace:
        yield names
        return
    depth, start, body = 0, 0, rest[: rest.rindex("}")] + ","
    for place, character in enumerate(body):
        depth += {"{": 1, "}": -1}.get(character, 0)
        if character == "," and depth == 0:
            if body[start:place].strip():
                yield from flat(names, body[start:place])
            start = place + 1


def absolute(own: list[str], path: list[str]) -> list[str]:
    if path[0] == "crate":
        return path[1:]
    base = list(own)
    while path and path[0] in ("self", "super"):
        base = base[:-1] if path[0] == "super" else base
        path = path[1:]
    return base + path


def file_of(path: list[str], known: Mapping[str, Path]) -> str | None:
    names = ("::".join(path[:length]) for length in range(len(path), 0, -1))
    return next((name for name in names if name in known), None)


def test_no_two_files_of_a_crate_use_each_other() -> None:
    found = {(crate.name, *circle) for crate in sorted(CRATES.iterdir()) for circle in circles_of(crate)}
    assert found == set(), "give what both need a file of its own"


@pytest.mark.parametrize(
    "use", ["use super::b::B;", "use crate::{b::{B, C}, lib};", "fn f(_: crate::b::B) {}"]
)
def test_a_circle_of_two_files_is_found(use: str, tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/a.rs").write_text(use)
    (tmp_path / "src/b.rs").write_text("use crate::a::A as First;")
    assert circles_of(tmp_path) == [["a", "b"]]
