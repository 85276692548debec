"""Lock waits as PostgreSQL logs them: one line once a wait has lasted `deadlock_timeout`, one when it is over."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

SETTINGS = {
    "log_lock_waits": "on",
    "deadlock_timeout": "1ms",  # its least: shorter waits are not logged
    "log_line_prefix": "%n %p [%a] ",
    "log_error_verbosity": "terse",
    "log_min_error_statement": "panic",  # without the statement: a tenth of the log
}
"""Settings of the server with which `read` understands its log."""

_LINE = re.compile(
    r"(?P<at>\d+\.\d{3}) (?P<pid>\d+) \[tare oltp\] LOG:  process (?P=pid) (?P<what>still waiting for|acquired) "
    r"(?P<lock>\w+ on (?P<on>[a-z]+).*) after (?P<ms>\d+\.\d+) ms$"
)
_SCHEDULED = ("transaction", "tuple")
_HALF_MS = 500_000  # the log cuts its clock to whole ms


@dataclass(frozen=True, slots=True)
class Wait:
    """ns of the log's clock."""

    pid: int
    began: int  # within half a ms, and later by what the server took to write the line
    took: int  # exact to 1 µs

    @property
    def granted(self) -> int:
        return self.began + self.took


@dataclass
class Waits:
    """All that were found."""

    granted: list[Wait] = field(default_factory=list)
    never_granted: int = 0  # deadlock, lock time-out, or the log ends
    elsewhere: Counter[str] = field(default_factory=Counter)  # locks that no transaction holds to its end


def read(lines: Iterable[str]) -> Waits:
    """Waits for a row: on its tuple, which orders the queue, or on the transaction that holds it."""
    found = Waits()
    begun: dict[
        int, tuple[str, int]
    ] = {}  # by process, which waits for one lock at a time: which, since when
    for line in lines:
        told = _LINE.match(line.rstrip("\n"))
        if told is None:
            continue
        if told["on"] not in _SCHEDULED:
            found.elsewhere[told["on"]] += told["what"] != "acquired"
            continue
        pid, took = int(told["pid"]), round(float(told["ms"]) * 1e6)
        if told["what"] == "acquired":
            _, began = begun.pop(pid, ("", None))
            if began is not None:
                found.granted.append(Wait(pid, began, took))
        elif (before := begun.get(pid)) is None or before[0] != told["lock"]:  # a wait may be logged again
            found.never_granted += before is not None
            begun[pid] = told["lock"], _ns(told["at"]) + _HALF_MS - took
    found.never_granted += len(begun)
    return found


def _ns(stamp: str) -> int:
    """A float of today's date in seconds holds no more than 100 ns of it."""
    seconds, _, ms = stamp.partition(".")
    return int(seconds) * 1_000_000_000 + int(ms) * 1_000_000
