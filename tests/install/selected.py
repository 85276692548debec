"""Tare with some of its extras only: links to the packages that `pyproject.toml` requires for them, and nothing else.

It is what `pip install 'tare-db[…]'` brings, made of the packages that this environment has.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.packages import packages

import tare


def environment(folder: Path, extras: Sequence[str]) -> dict[str, str]:
    """Environment variables under which `command` finds only these packages."""
    for package in packages(extras).values():
        for file in package.files or ():
            top = file.parts[0]
            if top != ".." and not (folder / top).exists():
                (folder / top).symlink_to(Path(str(package.locate_file(top))))
    where = (folder, Path(tare.__file__).parents[1])
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "TARE"))},
        "PYTHONPATH": os.pathsep.join(map(str, where)),
        "COLUMNS": "200",
    }


def command(
    words: Sequence[str], variables: dict[str, str], folder: Path
) -> subprocess.CompletedProcess[str]:
    """What `tare` does in that environment: without the site's packages, in this folder."""
    return subprocess.run(
        [sys.executable, "-S", "-P", "-m", "tare", *words],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=variables,
        cwd=folder,
    )
