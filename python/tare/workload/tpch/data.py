"""TPC-H's rows as files, made by tpchgen-cli (the extra `tpch`), which writes what TPC's dbgen writes."""

from __future__ import annotations

import subprocess
import tempfile
from enum import StrEnum
from pathlib import Path

from tare import extras
from tare.errors import ServerFailed, UsageError
from tare.workload.tpch.schema import TABLES

PROGRAM = "tpchgen-cli"


class Format(StrEnum):
    TBL = "tbl"
    CSV = "csv"
    PARQUET = "parquet"


def write_files(folder: Path, scale: float, kind: Format) -> list[Path]:
    """Write one file for each table, all of them or none. Raises UsageError if one of them exists."""
    paths = [folder / f"{table.name}.{kind}" for table in TABLES]
    for path in paths:
        if path.exists():
            raise UsageError(f"{path} exists already", "remove it, or choose another --to")
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".tpch-") as unfinished:
        command = [_program(), str(kind), "-s", f"{scale:g}", "--output-dir", unfinished]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise ServerFailed(
                f"{PROGRAM} failed: {done.stderr.strip()}",
                "see whether the disk has space; choose another --to",
            )
        for path in paths:
            (Path(unfinished) / path.name).replace(path)
    return paths


def _program() -> str:
    extras.need("the generation of TPC-H's rows", "tpch")
    return extras.program_path(PROGRAM) or PROGRAM
