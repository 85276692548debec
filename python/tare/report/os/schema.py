"""The published JSON schema of the report: `python -m tare.report.os.schema [--check] [FILE]`."""

from __future__ import annotations

import sys
from pathlib import Path

from tare import published
from tare.report.os.document import OsReport


def schema_text() -> str:
    """Return the schema in its published form."""
    return published.schema_text(
        OsReport, "os-v1", "Tare report of an observation, version 1", "serialization"
    )


def main(arguments: list[str]) -> int:
    return published.publish(arguments, schema_text(), Path("schemas/os-v1.json"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
