"""Record of an observation, with the facts of the machine and the server."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from tare.measure.environment import machine_facts
from tare.os.instrument import Instrument
from tare.os.record import Observation, Window
from tare.os.subject import Subject


def now() -> str:
    """This moment in UTC, as ISO 8601 spells it."""
    return at(time.monotonic_ns())


def at(monotonic_ns: int) -> str:
    """An instant of the monotonic clock in UTC, as ISO 8601 spells it."""
    passed = timedelta(microseconds=(time.monotonic_ns() - monotonic_ns) / 1000)
    return (datetime.now(UTC) - passed).isoformat(timespec="milliseconds")


def observation(
    subject: Subject,
    instrument: Instrument,
    *,
    started_at: str,
    windows: Sequence[Window],
    notes: Sequence[str] = (),
    is_stopped: bool = False,
    queries: Mapping[str, str] | None = None,
    failures: Mapping[str, str] | None = None,
    cold: bool = False,
) -> Observation:
    """Return the record with the facts of this machine and the subject's server. A note that repeats is kept once."""
    machine = machine_facts()
    server = subject.server
    return Observation(
        level=instrument.level,
        subject=subject.name,
        dbms=server.dbms if server else None,
        server_version=server.version if server else None,
        url=server.url if server else None,
        started_at=started_at,
        online_cpus=machine.online_cpus,
        page_bytes=os.sysconf("SC_PAGE_SIZE"),
        kernel=machine.kernel,
        windows=tuple(windows),
        queries=dict(queries or {}),
        failures=dict(failures or {}),
        absent=instrument.absent,
        lacks=instrument.lacks,
        notes=tuple(dict.fromkeys(notes)),
        cold=cold,
        read_ahead_kb=subject.read_ahead_kb,
        is_stopped=is_stopped,
    )
