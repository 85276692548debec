"""Size of Tare once installed: the core, and what each extra adds to it.

Packages are those of this environment (`make build` pins them); each file is counted once, with its bytecode. The
compiled core is counted as it is here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.metadata import Distribution, PackageNotFoundError
from pathlib import Path

import tare
from benchmarks.common import Figure, arguments, report
from benchmarks.packages import packages
from tare.extras import EXTRAS

CORE_MB = 134.0
"""Core when it was measured last. It may grow by a tenth."""

BAR_MB = min(1.1 * CORE_MB, 150.0)
MB = 1e6
NO_BAR = float("inf")


def files_of(package: Distribution) -> Iterator[Path]:
    for file in package.files or ():
        if file.suffix != ".pyc":
            yield Path(str(package.locate_file(file)))


def own_files() -> Iterator[Path]:
    """Files of Tare that a wheel has."""
    for file in Path(tare.__file__).parent.rglob("*"):
        if file.is_file() and "__pycache__" not in file.parts:
            yield file


def size(file: Path) -> int:
    """Bytes of the file and of its bytecode, which is about as large where it has not been written yet."""
    if not file.is_file():
        return 0
    own = file.stat().st_size
    if file.suffix != ".py":
        return own
    compiled = next((file.parent / "__pycache__").glob(f"{file.stem}.cpython-*.pyc"), file)
    return own + compiled.stat().st_size


def installed_mb(extras: Sequence[str]) -> float:
    brought = [file for package in packages(extras).values() for file in files_of(package)]
    return sum(size(file) for file in {*brought, *own_files()}) / MB


def main() -> int:
    asked = arguments("Installed size of the core and of each extra")
    core = installed_mb([])
    figures = [Figure("core", core, "MB", BAR_MB, spread=f"{len(packages([]))} packages")]
    for name in (*EXTRAS, "all"):
        try:
            added = installed_mb([name]) - core
        except PackageNotFoundError as error:
            print(f"{name}: not measured: {error} is not installed")
            continue
        figures.append(
            Figure(f"{name} adds", added, "MB", NO_BAR, spread=f"{len(packages([name]))} packages in all")
        )
    report(figures, asked.json)
    return 0 if figures[0].met else 1


if __name__ == "__main__":
    raise SystemExit(main())
