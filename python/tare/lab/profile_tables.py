"""A recording put together, as Parquet beside it: made when it is asked for, and anew when the recording or the rules
are others. Either whole or not there.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from tare.arrow import received
from tare.errors import ExportFailed, ProfileDamaged
from tare.files import synced
from tare.protocol.profile.measured import Window

FOLDER = "derived"
FACTS = "assembled.json"
TABLES = ("transactions", "paths", "cells")

_VERSION = 3  # of how recordings are put together: other figures, another number


class Assembled(Protocol):
    """`tare._probe.Assembled`."""

    @property
    def transactions(self) -> Any: ...
    @property
    def paths(self) -> Any: ...
    @property
    def cells(self) -> Any: ...
    @property
    def windows(self) -> str: ...
    @property
    def texts(self) -> Mapping[int, str]: ...
    @property
    def records(self) -> int: ...
    @property
    def lost(self) -> int: ...
    @property
    def unwound(self) -> int: ...
    @property
    def unrecorded(self) -> int: ...
    @property
    def cut_off(self) -> str | None: ...


Assemble = Callable[[str, str], Assembled]
"""`tare._probe.assemble`: a recording's path and its rules as JSON."""


@dataclass(frozen=True, eq=False)
class Tables:
    transactions: pa.Table
    paths: pa.Table
    cells: pa.Table
    windows: tuple[Window, ...]
    texts: Mapping[int, str]
    records: int
    lost: int
    unwound: int  # calls left without an exit: exception, longjmp, end of the thread
    unrecorded: int  # calls of signal handlers that are in no record
    cut_off: str | None  # where a recording that was not ended stops


def tables_of(
    folder: Path, recording: Path, rules: Mapping[str, Any], assemble: Assemble | None = None
) -> Tables:
    """Return the tables of a run's folder.

    Raises ProfileDamaged where there is no recording, ExportFailed where there is no room."""
    wanted = _made_from(recording, rules)
    found = _read(folder / FOLDER, wanted)
    if found is None:
        _make(folder, recording, rules, wanted, assemble or _assemble)
        found = _read(folder / FOLDER, wanted)
    if found is None:  # another Tare made it of other rules in between
        raise ProfileDamaged(f"{folder / FOLDER} changes while it is read", "try again")
    return found


def _assemble(path: str, rules: str) -> Assembled:
    from tare import _probe

    found: Assembled = _probe.assemble(path, rules)
    return found


def _made_from(recording: Path, rules: Mapping[str, Any]) -> dict[str, Any]:
    try:
        facts = recording.stat()
    except OSError as error:
        raise ProfileDamaged(
            f"the recording {recording} cannot be read: {error.strerror or error}",
            "copy the profile's folder anew, or record again",
        ) from error
    text = json.dumps(rules, sort_keys=True)
    return {
        "version": _VERSION,
        "bytes": facts.st_size,
        "changed_ns": facts.st_mtime_ns,
        "rules": hashlib.sha256(text.encode()).hexdigest(),
    }


def _read(place: Path, wanted: Mapping[str, Any]) -> Tables | None:
    """None: they are not there, damaged, or of something else."""
    try:
        said = json.loads((place / FACTS).read_text(encoding="utf-8"))
        if said["made_from"] != wanted:
            return None
        transactions, paths, cells = (pq.ParquetFile(place / f"{name}.parquet").read() for name in TABLES)
        return Tables(
            transactions,
            paths,
            cells,
            windows=tuple(Window.of(one) for one in said["windows"]),
            texts={int(key): str(text) for key, text in said["texts"].items()},
            records=int(said["records"]),
            lost=int(said["lost"]),
            unwound=int(said["unwound"]),
            unrecorded=int(said["unrecorded"]),
            cut_off=said["cut_off"],
        )
    except (OSError, ValueError, KeyError, TypeError, pa.ArrowException):
        return None


def _make(
    folder: Path, recording: Path, rules: Mapping[str, Any], wanted: Mapping[str, Any], assemble: Assemble
) -> None:
    made = assemble(str(recording), json.dumps(rules))
    try:
        temporary = Path(tempfile.mkdtemp(prefix=f".{FOLDER}.", suffix=".partial", dir=folder))
        try:
            for name in TABLES:
                file = temporary / f"{name}.parquet"
                pq.write_table(received(getattr(made, name)), file, compression="zstd")
                synced(file)
            facts = temporary / FACTS
            facts.write_text(
                json.dumps(
                    {
                        "made_from": wanted,
                        "windows": json.loads(made.windows),
                        "texts": dict(made.texts),
                        "records": made.records,
                        "lost": made.lost,
                        "unwound": made.unwound,
                        "unrecorded": made.unrecorded,
                        "cut_off": made.cut_off,
                    }
                ),
                encoding="utf-8",
            )
            synced(facts)
            temporary.chmod(0o777 & ~_umask())
            _put(temporary, folder / FOLDER)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    except OSError as error:
        raise ExportFailed(
            f"{folder / FOLDER} could not be written: {error.strerror or error}",
            "make room, or copy the profile's folder to where you may write",
        ) from error


def _put(made: Path, place: Path) -> None:
    """In the place of what is there. A folder cannot be renamed over another that holds files: that one is moved into
    the new one's old name first, and goes with it."""
    for _ in range(10):
        try:
            made.rename(place)
            return
        except OSError:
            if not place.exists():
                raise
        stale = Path(tempfile.mkdtemp(prefix=f".{FOLDER}.", suffix=".stale", dir=place.parent))
        try:
            place.rename(stale / FOLDER)
        except FileNotFoundError:
            pass  # another Tare was quicker
        finally:
            shutil.rmtree(stale, ignore_errors=True)
    made.rename(place)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
