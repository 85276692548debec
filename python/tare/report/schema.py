"""The published JSON schema of the result document: `python -m tare.report.schema [--check] [FILE]`."""

from __future__ import annotations

import sys
from pathlib import Path

from tare import published
from tare.report.result import RunResult


def schema_text() -> str:
    """The schema as it is published."""
    return published.schema_text(RunResult, "result-v1", "Tare result, version 1", "serialization")


def main(arguments: list[str]) -> int:
    return published.publish(arguments, schema_text(), Path("schemas/result-v1.json"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
