"""CPUs that the measured processes may run on, next to Tare's own: affinity and cpuset together."""

from __future__ import annotations

import os
from dataclasses import dataclass

from tare.dbms.base import Leader
from tare.measure.machine import cpus


@dataclass(frozen=True, slots=True)
class Placement:
    server: frozenset[int]  # of the thread that answers for the connection
    own: frozenset[int]
    online: frozenset[int]

    @property
    def is_apart(self) -> bool:
        """Whether the server may not run on any CPU that Tare may run on."""
        return not self.server & self.own

    @property
    def is_confined(self) -> bool:
        """Whether the server may not run on every CPU of the machine."""
        return self.server < self.online


def placement_of(leader: Leader) -> Placement | None:
    """None if the leader is gone."""
    try:
        server = os.sched_getaffinity(leader.tid)
    except OSError:
        return None
    return Placement(frozenset(server), frozenset(os.sched_getaffinity(0)), frozenset(cpus.online()))
