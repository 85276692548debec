"""For each check of a QE a case that violates it, and no other check of the same protocol."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tare.dbms.base import Role
from tare.measure.records import QE, Fate, Outcome
from tests.unit.protocol.qe_records import MS, elapsed, machine, process, qe

Make = Callable[[int], QE]


def _daemon(**changes: Any) -> Any:
    return process(9, Role.DAEMON, comm="kworker", **changes)


TTP2: Mapping[str, Make] = {
    "ephemeral process": lambda i: qe(i, unaccounted_births=1),
    "DBMS time": lambda i: qe(
        i, processes=(process(), _daemon(user_ticks=7)), machine=machine(user=12, system=2),
        elapsed=elapsed(150, 60),
    ),
    "zero query time": lambda i: qe(
        i, processes=(process(user_ticks=0, system_ticks=0),), elapsed=elapsed(57.2, 55)
    ),
    "query time": lambda i: qe(
        i, elapsed=elapsed(57.2, 55), processes=(process(user_ticks=7, system_ticks=0),),
        machine=machine(user=6, system=0),
    ),
    "query user tick": lambda i: qe(i, processes=(process(user_ticks=0, system_ticks=6),)),
    "overall computation time": lambda i: qe(i, machine=machine(user=4, system=0)),
    "computation time": lambda i: qe(i, machine=machine(user=7, system=0)),
    "block-I/O delay time": lambda i: qe(i, processes=(process(block_io_ns=60 * MS),)),
    "iowait time": lambda i: qe(i, machine=machine(iowait=1)),
    "context switch": lambda i: qe(i, processes=(process(block_io_ns=1, voluntary_switches=0),)),
    "no query process": lambda i: qe(i, processes=(process(role=Role.UTILITY),)),
    "timed-out QE": lambda i: qe(i, outcome=Outcome.TIMEOUT),
}  # fmt: skip
"""All but the ambiguous query process, which is a matter of the whole Q@C."""

TTP1: Mapping[str, Make] = {
    **{name: TTP2[name] for name in ("DBMS time", "zero query time", "query time", "no query process")},
    "other query process": lambda i: qe(
        i, processes=(process(), process(8, Role.QUERY, comm="mariadb", user_ticks=1, system_ticks=0))
    ),
    "other utility process": lambda i: qe(
        i, processes=(process(), process(8, Role.UTILITY, comm="mariadb", user_ticks=1, system_ticks=0))
    ),
    "timed-out QE": TTP2["timed-out QE"],
    "stopped or phantom process": lambda i: qe(
        i, processes=(process(), _daemon(user_ticks=0, fate=Fate.STOPPED))
    ),
    "iowait above twice the median": lambda i: qe(i, machine=machine(iowait=3)),
}

EXACT: Mapping[str, Make] = {
    "parts add up": lambda i: qe(i, elapsed=elapsed(100, 90, residue_ns=3 * MS)),
    "no negative parts": lambda i: qe(i, elapsed=elapsed(sleep_ns=-2 * MS)),
    "ephemeral process": TTP2["ephemeral process"],
    "no query process": TTP2["no query process"],
    "timed-out QE": TTP2["timed-out QE"],
}
