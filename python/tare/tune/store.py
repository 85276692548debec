"""The folder of tuning runs: a folder for each (t1, t2, …), with its record and every transaction."""

from __future__ import annotations

import re
from pathlib import Path

from pydantic import ValidationError

from tare import files
from tare.errors import TareError, UsageError
from tare.tune.record import Tuning

_RECORD = "tuning.json"
_ID = re.compile(r"t([1-9]\d{0,8})")


class TuningDamaged(TareError):
    """The folder of a tuning run cannot be read or written."""


def begin(folder: Path) -> int:
    """Make the folder of the next tuning run; its number."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        while True:
            number = max((found for found, _ in _folders(folder)), default=0) + 1
            try:
                (folder / f"t{number}").mkdir()
                return number
            except FileExistsError:
                continue
    except OSError as error:
        raise TuningDamaged(
            f"{folder} cannot be written: {error.strerror}", "name another folder: --tunings DIR"
        ) from error


def place(folder: Path, number: int) -> Path:
    return folder / f"t{number}"


def keep(folder: Path, tuning: Tuning) -> None:
    """Write the record, whole or not at all."""
    files.write(place(folder, tuning.number) / _RECORD, tuning.model_dump_json() + "\n")


def load(folder: Path, text: str) -> Tuning:
    """Raises UsageError for an id without a run, TuningDamaged for a record that cannot be read."""
    match = _ID.fullmatch(text.strip().lower())
    record = folder / text.strip().lower() / _RECORD
    if match is None or not record.is_file():
        there = ", ".join(f"t{number}" for number, path in _folders(folder) if (path / _RECORD).is_file())
        raise UsageError(
            f"{folder} holds no tuning run {text}",
            f"choose one of {there}" if there else "name its folder: --tunings DIR",
        )
    try:
        return Tuning.model_validate_json(record.read_text(encoding="utf-8"))
    except (OSError, ValidationError) as error:
        raise TuningDamaged(
            f"{record} cannot be read: {error}", "see whether a newer Tare wrote it"
        ) from error


def _folders(folder: Path) -> list[tuple[int, Path]]:
    found = []
    for path in folder.glob("t*") if folder.is_dir() else ():
        if match := _ID.fullmatch(path.name):
            found.append((int(match[1]), path))
    return sorted(found)
