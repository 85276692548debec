"""A server may end at any moment, also while probes are set on it."""

from __future__ import annotations

from typing import Any

import pytest

from tare._probe import ProbeError
from tare.profile.recording import ServerEnded
from tests.unit.profile.doubles import Clock, NoRecorder, recording


class Refuses(NoRecorder):
    """The kernel does, since the process is gone or for a reason of its own."""

    def __init__(self, clock: Clock, *, gone: bool) -> None:
        super().__init__(clock, {}, {})
        self._now = clock
        self._gone = gone

    def set(self, *what: Any, **more: Any) -> list[tuple[int, str]]:
        if self._gone:
            self.ends_at = self._now.now
        raise ProbeError("the kernel refused 15 probes")


def test_a_server_that_ends_while_probes_are_set_has_ended() -> None:
    clock = Clock()
    with pytest.raises(ServerEnded):
        recording(Refuses(clock, gone=True), clock).mark(1)


def test_what_the_kernel_refuses_on_a_server_that_runs_is_told_as_it_is() -> None:
    clock = Clock()
    with pytest.raises(ProbeError, match="15 probes"):
        recording(Refuses(clock, gone=False), clock).mark(1)
