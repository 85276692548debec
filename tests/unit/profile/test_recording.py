"""A server may end at any moment, also while probes are set on it; a recording can be read while it grows."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest

from tare._probe import ProbeError
from tare.profile.excerpt import Windows, excerpt
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


# What the kernel counts -------------------------------------------------------------------
def test_what_the_kernel_counts_between_windows_is_no_window_s_and_none_is_lost() -> None:
    clock = Clock()
    kept = recording(NoRecorder(clock, {}, {}), clock)
    kept.bare(1)
    clock.pause(0.25)  # Tare computes while the window is open
    kept.last(1.0)
    clock.pause(0.5)
    kept.mark(1)
    kept.last(1.0)
    clock.pause(0.125)
    kept.last(1.0)  # more of the same window
    seconds = {number: one.seconds for number, one in kept.activity.items()}
    between = {number: one.seconds for number, one in kept.between.items()}
    assert seconds == pytest.approx({0: 1.0, 1: 2.125})
    assert between == pytest.approx({0: 0.25, 1: 0.5})
    assert sum(seconds.values()) + sum(between.values()) == pytest.approx(clock.now)


def test_what_was_counted_of_an_idle_server_can_be_forgotten() -> None:
    clock = Clock()
    kept = recording(NoRecorder(clock, {}, {}), clock)
    kept.bare(1)
    kept.last(1.0)
    kept.forget()
    kept.mark(1)
    kept.last(0.5)
    assert set(kept.activity) == set(kept.between) == {1}
    assert kept.between[1].seconds == pytest.approx(0.0)


# The end of a recording ------------------------------------------------------------------
def frame(kind: int, body: bytes) -> bytes:
    return struct.pack("<IIQ", kind, len(body), 0) + body


HEAD = struct.pack("<8sII", b"TAREPROF", 2, 0)
BEGIN, RECORDS = 1, 3


def test_the_end_of_a_recording_is_read_without_the_rest_also_as_it_grows(tmp_path: Path) -> None:
    file = tmp_path / "recording.tare"
    first, second = frame(BEGIN, b"one") + frame(RECORDS, b"x" * 9), frame(BEGIN, b"two")
    file.write_bytes(HEAD + first + second + frame(RECORDS, b"half")[:-1])
    windows = Windows(file)
    assert windows.offset(2) is None
    with excerpt(file, windows, 1) as part:
        assert (
            part.read_bytes() == file.read_bytes()[: len(HEAD)] + file.read_bytes()[len(HEAD) + len(first) :]
        )
    file.write_bytes(HEAD + first + second + frame(RECORDS, b"half") + frame(BEGIN, b"three"))
    assert windows.offset(2) == file.stat().st_size - len(frame(BEGIN, b"three"))
    assert list(tmp_path.iterdir()) == [file], "nothing is left beside it"


def test_a_recording_of_another_format_is_given_whole(tmp_path: Path) -> None:
    file = tmp_path / "recording.tare"
    file.write_bytes(struct.pack("<8sII", b"TAREPROF", 9, 0) + frame(BEGIN, b""))
    with excerpt(file, Windows(file), 0) as part:
        assert part == file
