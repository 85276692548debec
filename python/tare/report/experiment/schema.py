"""The published JSON schema of the report: `python -m tare.report.experiment.schema [--check] [FILE]`."""

from __future__ import annotations

import sys
from pathlib import Path

from tare import published
from tare.report.experiment.document import Report


def schema_text() -> str:
    """The schema as it is published."""
    return published.schema_text(
        Report, "report-v1", "Tare report of an experiment, version 1", "serialization"
    )


def main(arguments: list[str]) -> int:
    return published.publish(arguments, schema_text(), Path("schemas/report-v1.json"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
