"""Selection of a partial run: `--only PATTERN…` narrows stages to the tests whose path matches.

A pattern is the path of a file or a folder from the project's root, or a glob of such paths. `FILE::TEST` narrows a
file to one test. The crates' tests are selected by the crate's folder: `crates/tare-rings`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

from tests.ci.classes import class_of
from tests.ci.stages import ALONE, EXACT, PAIRED, ROOT, RUST, SERVERS, Stage, rust_stage

CLASSES = {EXACT.name: "exact", SERVERS.name: "server", PAIRED.name: "paired", ALONE.name: "alone"}
"""Class of the tests that a stage of pytest runs. The stages `lint` and `small` cannot be narrowed."""


class NothingSelected(Exception):
    """A pattern selects no test of the stages that were requested."""


def narrowed(stages: Sequence[Stage], patterns: Sequence[str]) -> list[Stage]:
    """Return the stages that have tests of a matching path, each with these tests only.

    Raises NothingSelected for a pattern that matches no test of any of the stages: a misspelt one is not a pass.
    """
    selected: dict[str, list[str]] = {stage.name: [] for stage in stages}
    for pattern in patterns:
        matches = [(stage, test) for stage, test in _matching(pattern) if stage in selected]
        if not matches:
            names = ", ".join(selected)
            raise NothingSelected(
                f"--only {pattern}: no test of the stages {names} has such a path. "
                "Name a file, a folder or a glob from the project's root; lint and small run only whole"
            )
        for name, test in matches:
            if test not in selected[name]:
                selected[name].append(test)
    return [_with(stage, selected[stage.name]) for stage in stages if selected[stage.name]]


def _with(stage: Stage, tests: Sequence[str]) -> Stage:
    if stage is RUST:
        return rust_stage(*tests)
    return replace(stage, command=(*stage.command, *tests))


def _matching(pattern: str) -> Iterator[tuple[str, str]]:
    """Yield stage and test: a crate's name, or a file with what the pattern has behind it."""
    place, sign, test = pattern.partition("::")
    if not place or place.startswith("/"):  # no glob of pathlib's
        return
    for path in sorted(ROOT.glob(place)):
        if (path / "Cargo.toml").is_file():
            yield RUST.name, path.name
        for file in sorted(path.rglob("test_*.py")) if path.is_dir() else [path]:
            name = PurePosixPath(file.relative_to(ROOT).as_posix())
            if _is_test(file):
                stage = next(stage for stage, of_class in CLASSES.items() if of_class == class_of(name))
                yield stage, f"{name}{sign}{test}"


def _is_test(file: Path) -> bool:
    return file.is_relative_to(ROOT / "tests") and file.match("test_*.py")
