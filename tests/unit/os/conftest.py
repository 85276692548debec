"""A planted tracer, and a process to observe."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

import pytest

from tare import _probe
from tests.unit.os.doubles import Tracer


@pytest.fixture
def tracer(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Tracer]]:
    """The tracer's double in the tracer's place. Each one that was started must be stopped."""
    monkeypatch.setattr(_probe, "OsTracer", Tracer, raising=False)
    monkeypatch.setattr(Tracer, "refusal", None)
    monkeypatch.setattr(Tracer, "absent", {})
    Tracer.running = Tracer.started = 0
    yield Tracer
    assert Tracer.running == 0


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(["sleep", "60"]) as process:
        yield process
        process.kill()
