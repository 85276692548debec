"""The published JSON schema of the report: `python -m tare.report.cluster.schema [--check] [FILE]`."""

from __future__ import annotations

import sys
from pathlib import Path

from tare import published
from tare.report.cluster.document import SpeedupReport


def schema_text() -> str:
    """The schema as it is published."""
    return published.schema_text(
        SpeedupReport, "speedup-v1", "Tare report of a speed-up, version 1", "serialization"
    )


def main(arguments: list[str]) -> int:
    return published.publish(arguments, schema_text(), Path("schemas/speedup-v1.json"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
