"""Files that are generated from code and kept in the repository: written again, or compared."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path

from tare.files import write


def main(texts: Mapping[Path, str], arguments: list[str]) -> int:
    """Writes the files, or with `--check` compares them with these texts. Returns 1 if one differs."""
    parser = argparse.ArgumentParser(
        description="Write generated files, or compare them with what their sources give."
    )
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 if a file differs")
    if not parser.parse_args(arguments).check:
        for file, text in texts.items():
            file.parent.mkdir(parents=True, exist_ok=True)
            write(file, text)
        return 0
    stale = [file for file, text in texts.items() if not file.is_file() or file.read_text() != text]
    for file in stale:
        print(f"{file} differs from what its source gives: run make generated", file=sys.stderr)
    return 1 if stale else 0
