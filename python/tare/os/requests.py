"""Block requests of a window: those that were submitted in it, and the time in which any was outstanding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tare.os.disk import busy_ns

if TYPE_CHECKING:
    from tare._probe import OsOutstanding, OsRequest, OsSnapshot


@dataclass(frozen=True, slots=True)
class Requests:
    """Requests that were submitted between two snapshots. `outstanding`: not done when the second one was complete."""

    done: tuple[OsRequest, ...]
    outstanding: tuple[OsOutstanding, ...]


def submitted_between(first: OsSnapshot, second: OsSnapshot) -> Requests:
    """Return the requests of the window. Windows that follow each other have each request once.

    A snapshot comes with requests that were submitted after it, while it waited for others: the next window has them.
    A request that was outstanding at a window's end is counted as such there, and in no later window. One that the
    first snapshot did not know of belongs to this window, whenever it was submitted."""
    known = {_key(request) for request in first.outstanding}
    since = (request for request in first.requests if request.submitted_ns > first.at_ns)
    until = (request for request in second.requests if request.submitted_ns <= second.at_ns)
    return Requests(
        done=(*since, *(request for request in until if _key(request) not in known)),
        outstanding=tuple(request for request in second.outstanding if _key(request) not in known),
    )


def outstanding_ns(first: OsSnapshot, second: OsSnapshot) -> int:
    """Return the time between two snapshots in which a request of the observed was outstanding, whenever it was
    submitted."""
    done = [request for request in (*first.requests, *second.requests) if request.node is not None]
    open_since = [request.submitted_ns for request in second.outstanding if request.node is not None]
    until_ns = max(first.at_ns, min(open_since, default=second.at_ns))
    return busy_ns(done, first.at_ns, until_ns) + second.at_ns - until_ns


def _key(request: OsRequest | OsOutstanding) -> tuple[int, int]:
    """A thread submits one request at a time."""
    return request.tid, request.submitted_ns
