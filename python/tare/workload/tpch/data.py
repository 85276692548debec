"""TPC-H's rows as files, made by tpchgen-cli (the extra `tpch`), whose rows are those of TPC's dbgen."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from enum import StrEnum
from pathlib import Path

from tare.errors import ExportFailed, MissingProgram, UsageError
from tare.files import synced
from tare.workload.tpch.schema import TABLES

PROGRAM = "tpchgen-cli"


class Format(StrEnum):
    """Formats of files. CSV files begin with the names of the columns."""

    TBL = "tbl"
    CSV = "csv"
    PARQUET = "parquet"


def write_files(folder: Path, scale: float, kind: Format, *, replace: bool = False) -> list[Path]:
    """Write a file for each table into the folder, all of them or none.

    `scale`: 1 is about 1 GB of text. Raises MissingProgram; UsageError for files that exist, unless they may be
    replaced; ExportFailed."""
    program = generator()
    paths = [folder / f"{table.name}.{kind}" for table in TABLES]
    present = [str(path) for path in paths if path.exists()]
    if present and not replace:
        raise UsageError(
            f"{', '.join(present)} {'exists' if len(present) == 1 else 'exist'} already",
            "choose another folder, or replace the files with --replace",
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".tpch.", suffix=".partial") as partial:
            _generate(program, Path(partial), scale, kind)
            for path in paths:
                synced(Path(partial, path.name))
            for path in paths:
                Path(partial, path.name).replace(path)
        synced(folder)
    except OSError as error:
        raise ExportFailed(
            f"{folder} could not be written to: {error.strerror or error}; no file is half-written",
            "free space on the disk, or choose a folder that you may write to",
        ) from error
    return paths


def generator() -> str:
    """Return the path of the program that makes the rows. Raises MissingProgram."""
    beside_python = Path(sys.prefix, "bin", PROGRAM)
    program = str(beside_python) if beside_python.exists() else shutil.which(PROGRAM)
    if program is None:
        raise MissingProgram(
            f"{PROGRAM}, which makes the rows of TPC-H, is not installed", "pip install 'tare-db[tpch]'"
        )
    return program


def _generate(program: str, folder: Path, scale: float, kind: Format) -> None:
    command = [program, str(kind), "-s", f"{scale:g}", "--output-dir", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ExportFailed(
            f"{PROGRAM} ended with exit code {done.returncode}: {done.stderr.strip()}; no file is left",
            "see whether the disk has space, or choose another folder",
        )
