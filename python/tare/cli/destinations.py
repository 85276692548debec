"""Files that a command was asked to write: looked at before the work, so that none fails for a typing error."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from tare.errors import UsageError


def check(given: Mapping[str, str | None]) -> None:
    """`given`: a path, "-" for standard output, or None, by the name of its option without the dashes.

    Raises UsageError for two results in one place, and for a place that cannot be written.
    """
    targets = [target for target in given.values() if target]
    if targets.count("-") > 1:
        named = ", ".join(f"--{name}" for name in given)
        raise UsageError(f"only one of {named} can go to standard output", "give files for the rest")
    files = [Path(target) for target in targets if target != "-"]
    for file in files:
        if not file.parent.is_dir():
            raise UsageError(
                f"{file}: the folder {file.parent} is not there", f"make it first: mkdir -p {file.parent}"
            )
        if file.is_dir():
            raise UsageError(f"{file} is a folder", "name a file")
        folder = file.resolve().parent
        if not special(file) and not os.access(folder, os.W_OK):
            raise UsageError(
                f"{file}: the folder {folder} cannot be written to", "name a file in another folder"
            )
    replaced = [file.resolve() for file in files if not special(file)]
    if len(set(replaced)) < len(replaced):
        raise UsageError("two results cannot go to one file", "give each a file of its own")


def special(file: Path) -> bool:
    """A pipe or a device, written to as it is; files are replaced by a rename in their folder."""
    return file.exists() and not file.is_file() and not file.is_dir()
