"""`tare profile backends`: the ways to watch functions that were tried, as text or JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict

from rich.console import Console

from tare.cli import destinations
from tare.profile.backends import Attempt, tried
from tare.report.kit.blocks import Item, Items, Tone
from tare.report.kit.terminal import print_blocks


def report(command: Sequence[str], json: str | None) -> int:
    """Write the report. Return the exit code."""
    destinations.check({"json": json})
    attempts = tried(command)
    if destinations.write_json({"backends": [asdict(attempt) for attempt in attempts]}, json):
        print_blocks([Items(list(_items(attempts)))], Console())
    return 0 if any(attempt.works for attempt in attempts) else 1


def _items(attempts: Sequence[Attempt]) -> Iterator[Item]:
    for attempt in attempts:
        yield Item(f"{attempt.name}: {attempt.says}", "✓" if attempt.works else "✗")
        if attempt.next_step:
            yield Item(attempt.next_step, "  next:", Tone.QUIET)
