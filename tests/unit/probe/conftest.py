"""The tiers that work here; the others are skipped with the probe's own reason."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tare._probe import ExitListener, Probe, ProbeError


def opened(tier: str) -> Probe:
    try:
        return Probe(tier)
    except ProbeError as error:
        pytest.skip(str(error))


@pytest.fixture(params=["bpf", "taskstats", "procfs"])
def probe(request: pytest.FixtureRequest) -> Iterator[Probe]:
    probe = opened(request.param)
    yield probe
    probe.close()


@pytest.fixture(params=["bpf", "taskstats"])
def listener(request: pytest.FixtureRequest) -> Iterator[ExitListener]:
    probe = opened(request.param)
    listener = probe.listen()
    yield listener
    listener.stop()
    probe.close()


@pytest.fixture
def bpf() -> Iterator[Probe]:
    probe = opened("bpf")
    yield probe
    probe.close()
