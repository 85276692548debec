"""Instants of a record."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

from tare.os.facts import at, now


def test_an_instant_of_the_monotonic_clock_is_named_in_utc() -> None:
    hour = timedelta(hours=1)
    before = datetime.now(UTC) - hour - timedelta(milliseconds=1)
    named = datetime.fromisoformat(at(time.monotonic_ns() - 3600 * 10**9))
    assert before <= named <= datetime.now(UTC) - hour


def test_this_moment_is_not_before_an_earlier_one() -> None:
    earlier = at(time.monotonic_ns() - 10**9)
    assert datetime.fromisoformat(earlier) < datetime.fromisoformat(now())
