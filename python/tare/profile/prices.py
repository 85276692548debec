"""Prices of probes on this machine, measured on a process of our own before any other is touched.

A virtual machine pays up to ten times as much as bare metal for each trap, and for each instruction that the kernel
steps over: no list of prices holds for both.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

CALLS = {"emulated": 2_000, "stepped": 100}
"""Calls of one burst, by the way in which the kernel carries out the instructions under the probes: some 2 ms."""

BURSTS = 12
"""The least time counts: whatever else the CPU does makes a burst longer."""


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices of a pair of an entry and an exit, ns."""

    emulated_ns: float  # the kernel emulates the instructions at both ends
    stepped_ns: float  # it steps over both

    @property
    def step_ns(self) -> float:
        """Additional price of an end where the kernel steps over the instruction, ns."""
        return max(0.0, (self.stepped_ns - self.emulated_ns) / 2)


def measured() -> Prices | None:
    """Measure the prices. None: no probe can be set on a process of our own, and so on no other."""
    from tare._probe import ProbeError

    command = [sys.executable, "-m", "tare.profile.bursts"]
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child,
        suppress(ProbeError, OSError, ValueError),
    ):
        try:
            return _of(child, Path(folder) / "recording")
        finally:
            child.kill()
    return None


def _of(child: subprocess.Popen[str], file: Path) -> Prices:
    """Measure the prices. Raises ProbeError, OSError, ValueError."""
    from tare._probe import Image, ProfileRecorder
    from tare._probe import __file__ as library
    from tare.profile.functions import Functions

    bare = {which: _burst_ns(child, which) for which in CALLS}
    functions = Functions(Image(Path(library)), lambda _: None)
    targets = [functions.named(f"tare_burst_{which}").target() for which in CALLS]
    recorder = ProfileRecorder.attach(file, [child.pid], False)
    try:
        refused = recorder.set(
            targets, [(one[0], "site", False, False) for one in targets], "timing", "probed", 0
        )
        if refused:
            raise ValueError(refused)
        probed = {which: _burst_ns(child, which) for which in CALLS}
    finally:
        recorder.stop()
    return Prices(*(probed[which] - bare[which] for which in ("emulated", "stepped")))


def _burst_ns(child: subprocess.Popen[str], which: str) -> float:
    """Return the time of one call in the shortest burst, ns."""
    assert child.stdin is not None
    assert child.stdout is not None
    found = []
    for _ in range(BURSTS):
        print(which, CALLS[which], file=child.stdin, flush=True)
        found.append(int(child.stdout.readline()) / CALLS[which])
    return min(found)
