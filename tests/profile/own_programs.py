"""Programs of the tests' own that are compiled, run and watched by `tare profile attach`."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import Running, Said, start, tare

SOURCES = Path(__file__).parent / "programs"
COMPILERS = {".c": "gcc", ".cpp": "g++"}


def built(source: str, folder: Path, *flags: str, name: str = "") -> Path:
    """Compile a source of `programs` into `folder`. Skip the test where there is no compiler."""
    file = SOURCES / source
    compiler = COMPILERS[file.suffix]
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    program = folder / (name or file.stem)
    command = [compiler, "-O2", "-g", "-pthread", "-o", program, file, *flags]
    subprocess.run(command, check=True, timeout=60)
    return program


@contextmanager
def running(*command: str | Path, **more: Any) -> Iterator[subprocess.Popen[bytes]]:
    """Run a program until the end of the block."""
    with subprocess.Popen([str(word) for word in command], **more) as process:
        try:
            time.sleep(0.5)
            yield process
        finally:
            process.kill()


def words(pid: int, out: Path, *more: str, root: str = "txn") -> tuple[str, ...]:
    """Return the command that profiles the process, with its report as JSON."""
    asked = ("--pid", str(pid), "--txn", f"function:{root}", "--profiles", str(out), "--json", "-")
    return ("profile", "attach", *asked, *more)


def attach(pid: int, out: Path, *more: str, root: str = "txn", duration: str = "14s") -> Said:
    return tare(*words(pid, out, *more, "--duration", duration, root=root))


def attaching(pid: int, out: Path, *more: str, root: str = "txn") -> Running:
    return start(*words(pid, out, *more, root=root))


def path_to(report: Any, function: str) -> list[str]:
    """Names from the transaction down to the path of this function with the largest share."""
    nodes = [node for node in report["nodes"] if node["name"] == function]
    return names_of(report, max(nodes, key=lambda node: node["covariance"])["path"])


def names_of(report: Any, path: int) -> list[str]:
    """Names from the transaction down to this path."""
    nodes = {node["path"]: node for node in report["nodes"]}
    names, at = [], path
    while at is not None:
        names.append(nodes[at]["name"])
        at = nodes[at]["parent"]
    return names[::-1]
