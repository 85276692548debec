"""Levels that this machine allows."""

from __future__ import annotations

import os

import pytest

from tare import _probe
from tare.os.level import Level


def _refusal() -> str | None:
    try:
        _probe.OsTracer("full", [[os.getppid()]]).stop()
    except OSError as error:
        return str(error)
    return None


@pytest.fixture(scope="session")
def full() -> Level:
    """The level with system calls, where the kernel allows it."""
    refusal = _refusal()
    if refusal is not None:
        pytest.skip(f"no tracer here: {refusal}")
    return Level.FULL
