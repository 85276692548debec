"""The physical states that the relations are put into, each for the queries of one organisation or two."""

from __future__ import annotations

from enum import StrEnum

from tare.workload.wisconsin.kinds import Organisation


class Setting(StrEnum):
    HEAP = "heap"  # no index
    INDEXED = "indexed"  # clustered on unique2, two non-clustered indexes beside it (1983, section 4.5)
    HASH = "hash"  # a hash index on unique2 and nothing else


def setting_of(organisation: Organisation) -> Setting:
    """A clustered and a non-clustered index stand side by side; the query's attribute decides on one of them."""
    match organisation:
        case Organisation.HEAP:
            return Setting.HEAP
        case Organisation.CLUSTERED | Organisation.NONCLUSTERED:
            return Setting.INDEXED
        case Organisation.HASH:
            return Setting.HASH
