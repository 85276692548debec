"""The published JSON schema of a specification: `python -m tare.experiment.schema [--check] [FILE]`."""

from __future__ import annotations

import sys
from pathlib import Path

from tare import published
from tare.experiment.specification import Specification


def schema_text() -> str:
    """The schema as it is published. A TOML editor that knows JSON schemas can use it."""
    return published.schema_text(Specification, "experiment-v1", "Tare experiment, version 1", "validation")


def main(arguments: list[str]) -> int:
    return published.publish(arguments, schema_text(), Path("schemas/experiment-v1.json"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
