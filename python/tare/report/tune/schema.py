"""The published JSON schema of the report: `python -m tare.report.tune.schema [--check] [FILE]`."""

from __future__ import annotations

import sys
from pathlib import Path

from tare import published
from tare.report.tune.document import TuningReport


def schema_text() -> str:
    """The schema as it is published."""
    return published.schema_text(
        TuningReport, "tune-v1", "Tare report of a tuning run, version 1", "serialization"
    )


def main(arguments: list[str]) -> int:
    return published.publish(arguments, schema_text(), Path("schemas/tune-v1.json"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
