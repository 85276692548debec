"""Words of the benchmark, free of imports: the command line knows them before it loads anything."""

from __future__ import annotations

from enum import StrEnum


class Generation(StrEnum):
    """The two that go by the benchmark's name; their relations and queries differ."""

    Y1983 = "1983"  # Bitton, DeWitt and Turbyfill, 1983: Tables 1 to 11
    Y1993 = "1993"  # the 32 queries over ONEKTUP and TENKTUP, scaled


class Organisation(StrEnum):
    """How the source relations are stored, as a query is meant to find them (1983, section 4.1)."""

    HEAP = "heap"  # in load order, no index
    CLUSTERED = "clustered"  # by the index on unique2, in whose order the tuples lie
    NONCLUSTERED = "nonclustered"  # by the index on unique1, in whose order they do not
    HASH = "hash"  # by a hashed key, for queries of one tuple


class Format(StrEnum):
    CSV = "csv"
    PARQUET = "parquet"
