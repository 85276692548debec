"""The published JSON schema of the report: `python -m tare.report.profile.schema [--check] [FILE]`."""

from __future__ import annotations

import sys
from pathlib import Path

from tare import published
from tare.report.profile.document import ProfileReport


def schema_text() -> str:
    """The schema as it is published."""
    return published.schema_text(
        ProfileReport, "profile-v1", "Tare report of a profile, version 1", "serialization"
    )


def main(arguments: list[str]) -> int:
    return published.publish(arguments, schema_text(), Path("schemas/profile-v1.json"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
