"""Clauses for a watched server that ended or hangs."""

from __future__ import annotations

import signal

from tare.lab.profile_about import Failure, FailureKind


def ended_how(failure: Failure) -> str:
    """Return a clause: "the server (process 123, postgres) ended: signal 11, SIGSEGV"."""
    process = f"process {failure.process}" + (f", {failure.process_name}" if failure.process_name else "")
    match failure.kind:
        case FailureKind.SERVER_HANGS:
            threads = "1 thread" if failure.threads == 1 else f"{failure.threads} threads"
            return f"the server ({process}) hangs: {threads} of transactions had no CPU for 2 s"
        case FailureKind.PROCESS_ENDED:
            return f"a process of the server ({process}) ended: {_cause(failure)}"
        case FailureKind.SERVER_ENDED:
            return f"the server ({process}) ended: {_cause(failure)}"


def _cause(failure: Failure) -> str:
    if failure.signal is not None:
        try:
            return f"signal {failure.signal}, {signal.Signals(failure.signal).name}"
        except ValueError:
            return f"signal {failure.signal}"
    if failure.exit_status is not None:
        return f"exit status {failure.exit_status}"
    return "its signal or exit status is not known"
