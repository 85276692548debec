"""The published JSON schema of a curve: `python -m tare.report.oltp.curve.schema [--check] [FILE]`."""

from __future__ import annotations

import sys
from pathlib import Path

from tare import published
from tare.report.oltp.curve.document import CurveReport


def schema_text() -> str:
    """The schema as it is published."""
    return published.schema_text(
        CurveReport,
        "oltp-curve-v1",
        "Tare report of a curve of latency over rate, version 1",
        "serialization",
    )


def main(arguments: list[str]) -> int:
    return published.publish(arguments, schema_text(), Path("schemas/oltp-curve-v1.json"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
