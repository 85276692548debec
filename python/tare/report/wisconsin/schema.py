"""The published JSON schema of the report: `python -m tare.report.wisconsin.schema [--check] [FILE]`."""

from __future__ import annotations

import sys
from pathlib import Path

from tare import published
from tare.report.wisconsin.document import WisconsinReport


def schema_text() -> str:
    """The schema as it is published."""
    return published.schema_text(
        WisconsinReport, "wisconsin-v1", "Tare report of the Wisconsin benchmark, version 1", "serialization"
    )


def main(arguments: list[str]) -> int:
    return published.publish(arguments, schema_text(), Path("schemas/wisconsin-v1.json"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
