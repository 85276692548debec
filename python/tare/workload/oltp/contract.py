"""The contract with the driver, and the generator of `counts.py`: `python -m tare.workload.oltp.contract [--check]`.

`crates/tare-load` declares the driver's request, its events and the table of counts; the compiled `tare._probe` hands
them over as JSON. The counts' Python side is generated from it, so that a new count is one edit. Requests and events
are written by hand on both sides, and a test compares them field by field.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tare import _probe
from tare.generated import main

TARGET = Path(__file__).with_name("counts.py")

_HEAD = '''"""Counts of transactions by what became of them.

Generated from `crates/tare-load/src/oltp/counts.rs` by `make generated`: edit that file, not this one.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from pydantic import BaseModel, ConfigDict


class Role(StrEnum):
    """The part that a count plays in a sum."""

    ARRIVAL = "arrival"  # before the arrival has ended
    FINISHED = "finished"  # ended as the workload's specification has it
    FAILED = "failed"  # sent, and did not finish
    UNSENT = "unsent"  # never sent
    RETRY = "retry"  # a try beyond the first: no end


@dataclass(frozen=True, slots=True)
class Count:
    name: str  # of fields and columns
    role: Role
    words: str  # in reports
    end: str | None  # name in samples of the end that it counts
    meaning: str


class CountFields(BaseModel):
    """A field for each count; every arrival ends in exactly one of the ends, whose sum is `offered`."""

    model_config = ConfigDict(frozen=True, extra="ignore")

'''


def contract() -> Mapping[str, Any]:
    """Return the JSON schemas of the request and the events, and the table of counts."""
    return dict(json.loads(_probe.oltp_contract()))


def counts_text(counts: Iterable[Mapping[str, Any]]) -> str:
    """Write `counts.py` for a table of counts."""
    counts = list(counts)
    fields = [f"    {count['name']}: int" for count in counts]
    return _HEAD + "\n".join([*fields, "", "", "COUNTS = (", *map(_line, counts), ")"]) + "\n"


def _line(count: Mapping[str, Any]) -> str:
    end = "None" if count["end"] is None else _quoted(count["end"])
    values = (
        _quoted(count["name"]),
        f"Role.{count['role'].upper()}",
        _quoted(count["words"]),
        end,
        _quoted(count["meaning"]),
    )
    return "\n".join(["    Count(", *(f"        {value}," for value in values), "    ),"])


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


if __name__ == "__main__":
    sys.exit(main({TARGET: counts_text(contract()["counts"])}, sys.argv[1:]))
