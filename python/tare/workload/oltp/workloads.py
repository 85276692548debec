"""The transactional workloads for a reader: what their scale means, and which settings each has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tare._probe import oltp_kinds
from tare.errors import UsageError
from tare.meant import meant


@dataclass(frozen=True, slots=True)
class Workload:
    name: str
    says: str
    scale: str  # what 1 of it is
    options: Mapping[str, str]


WORKLOADS = {
    one.name: one
    for one in (
        Workload(
            "tpcc",
            "TPC-C: a wholesale supplier's orders",
            "a warehouse, about 100 MB; whole numbers",
            {
                "fixed_lines": "every New-Order has so many lines, 1 to 99, and none rolls back (else 5 to 15, and 1% "
                "roll back)"
            },
        ),
        Workload(
            "tatp", "TATP: a mobile network's subscribers and where they are", "100,000 subscribers", {}
        ),
        Workload(
            "seats",
            "SEATS: an airline's tickets",
            "100,000 customers, and the flights of 52 days",
            {"occupied": "percent of the seats that are reserved at the start (else 1); for load"},
        ),
        Workload(
            "epinions", "Epinions: reviews of items, and who trusts whose", "2,000 users and 1,000 items", {}
        ),
        Workload(
            "ycsb",
            "YCSB: reads and writes by key",
            "1,000 rows of 1 kB",
            {
                "core": "one of YCSB's own mixes instead: a (read 50, update 50), b (read 95, update 5), c (read 100), "
                "d (read 95, insert 5), e (scan 95, insert 5), f (read 50, read_modify_write 50)",
                "distribution": "how keys are chosen: zipfian, uniform or latest (else zipfian; core d: latest)",
                "theta": "of Zipf's distribution, between 0 and 1 (else 0.99)",
                "scan_length": "most rows that a scan asks for (else 100)",
                "read_fields": "what a read asks for: one field or all (one, all; else all)",
                "write_fields": "what an update changes: one field or all (one, all; else all; with a core: one)",
            },
        ),
    )
}


def known(name: str) -> Workload:
    """Raises UsageError, with a name like it."""
    if name in WORKLOADS:
        return WORKLOADS[name]
    raise UsageError(
        f"there is no workload {name}",
        meant(name, WORKLOADS, f"take one of {', '.join(WORKLOADS)}"),
    )


@dataclass(frozen=True, slots=True)
class Kind:
    """A type of transaction."""

    name: str
    share: float  # percent of the default mix
    writes: bool  # it may change something


def kinds(workload: str) -> list[Kind]:
    """Return the types of a known workload, in the driver's order."""
    return [Kind(*one) for one in oltp_kinds(workload)]
