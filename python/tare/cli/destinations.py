"""Files that a command writes: checked before the work, so that none fails for a typing error."""

from __future__ import annotations

import json
import os
import sys
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
                f"{file}: the folder {file.parent} does not exist", f"make it first: mkdir -p {file.parent}"
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


def write_json(document: object, target: str | None, *, indent: int | None = 2) -> bool:
    """Write a document: as `write_text`."""
    if target is None:
        return True
    return write_text(json.dumps(document, indent=indent, ensure_ascii=False, allow_nan=False) + "\n", target)


def write_text(text: str, target: str) -> bool:
    """Write to a file, or to standard output for "-". Return whether standard output is still free for other text.

    Raises ExportFailed."""
    from tare.files import write

    if target != "-":
        write(Path(target), text)
        return True
    sys.stdout.write(text)
    return False


def special(file: Path) -> bool:
    """A pipe or a device, written to as it is; files are replaced by a rename in their folder."""
    return file.exists() and not file.is_file() and not file.is_dir()
