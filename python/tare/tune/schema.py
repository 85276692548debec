"""The published JSON schema of a specification: `python -m tare.tune.schema [--check] [FILE]`."""

from __future__ import annotations

import sys
from pathlib import Path

from tare import published
from tare.tune.specification import TuneSpecification


def schema_text() -> str:
    """The schema as it is published."""
    return published.schema_text(
        TuneSpecification, "tune-spec-v1", "Specification of a tuning run, version 1", "validation"
    )


def main(arguments: list[str]) -> int:
    return published.publish(arguments, schema_text(), Path("schemas/tune-spec-v1.json"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
