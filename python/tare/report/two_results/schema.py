"""The published JSON schema of this document: `python -m tare.report.two_results.schema [--check] [FILE]`."""

from __future__ import annotations

import sys
from pathlib import Path

from tare import published
from tare.report.two_results.document import ResultsComparison


def schema_text() -> str:
    """Return the schema as it is published."""
    title = "Comparison of two Tare results, version 1"
    return published.schema_text(ResultsComparison, "comparison-v1", title, "serialization")


def main(arguments: list[str]) -> int:
    return published.publish(arguments, schema_text(), Path("schemas/comparison-v1.json"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
