"""Exit of one process: its code, how long it took, and whether it was an abort."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

LIMIT_S = 120.0
"""Longest run of one command; it is killed then."""

_CRASHES = (signal.SIGILL, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGSEGV)
_SIGNS = (
    "Traceback (most recent call last)",
    "terminate called",
    "Fatal Python error",
    "panicked at",
    "abort",
)


@dataclass(frozen=True, slots=True)
class Exit:
    """Exit of one process."""

    command: str
    code: int  # negative: the signal that ended it
    seconds: float
    is_expected: bool  # its code is one of those that its request may end with
    is_abort: bool
    has_hung: bool
    stderr: str


def exit_of(
    command: str,
    words: Sequence[str],
    codes: Collection[int],
    environment: Mapping[str, str],
    limit_s: float = LIMIT_S,
) -> Exit:
    """Run `words` with `environment` added to this process's own, and return how it ended."""
    began = time.monotonic()
    has_hung = False
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            env={**os.environ, **environment},
            start_new_session=True,  # Ctrl-C ends the benchmark after the trials that run
        )
        try:
            code = process.wait(limit_s)
        except subprocess.TimeoutExpired:
            has_hung = True
            process.kill()
            code = process.wait()
        seconds = time.monotonic() - began
        errors.seek(0)
        stderr = errors.read().decode(errors="replace")
    is_expected = code in codes and not has_hung
    is_abort = not has_hung and (
        _is_by_signal(code) or any(sign.lower() in stderr.lower() for sign in _SIGNS)
    )
    return Exit(command, code, seconds, is_expected, is_abort, has_hung, stderr)


def _is_by_signal(code: int) -> bool:
    """Whether a signal ended the process, or a shell reports that one ended its child."""
    return code < 0 or code - 128 in _CRASHES
