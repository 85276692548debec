"""Properties that are drawn for a Q@C as a whole: how often each kind of trouble comes, and what the work is like.

Shares are of Q@Cs or of QEs, chosen so that the drop table comes out about as TTPv2's Table XIII.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final

TICK_NS: Final = 10_000_000
QES: Final = 10  # a Q@C
TIMEOUT_NS: Final = 10_000_000_000_000
MAX_ROWS: Final = 2_000_000
CARDINALITY_STEP: Final = 10_000


class Fate(IntEnum):
    """Fate of a Q@C."""

    NORMAL = 0
    ZERO = 1  # too short for a tick: no QE shows any
    SHORT = 2  # two ticks or less
    TIED = 3  # two processes with equal ticks
    TIMED_OUT = 4
    USERLESS = 5  # system ticks only, in every QE
    OVERDRAWN = 6  # more ticks than time, in every QE
    FEW = 7  # too few QEs are left
    VARYING = 8
    RESULT_CACHED = 9
    ABSENT = 10  # the query process is in no QE


SHARE: Final = {
    Fate.TIED: 0.0010,
    Fate.TIMED_OUT: 0.0002,
    Fate.USERLESS: 0.0019,
    Fate.OVERDRAWN: 0.0011,
    Fate.FEW: 0.0197,
    Fate.VARYING: 0.0014,
    Fate.RESULT_CACHED: 0.0015,
    Fate.ABSENT: 0.0005,
}
"""Shares of all Q@Cs."""

SHARE_OF_SMALLEST: Final = {Fate.ZERO: 0.030, Fate.SHORT: 0.119}
"""Shares of the Q@Cs at their query's lowest cardinality, which are about one in 11.6."""

UNTOLD: Final = 0.05  # of the Q@Cs whose query process the server does not name
DISORDERED: Final = 0.005  # of the Q@Cs that take longer than at the next higher cardinality


class Trouble(IntEnum):
    """Trouble of a single QE, by its number in TTPv2's Table XI; 5 and 12 come with their Q@C."""

    NONE = 0
    EPHEMERAL = 1
    DBMS_TIME = 2
    QUERY_TIME = 4
    USER_TICK = 5
    OVERALL_TIME = 6
    COMPUTATION_TIME = 7
    BLOCK_IO = 8
    IOWAIT = 9
    NO_QUERY_PROCESS = 12


RATE: Final = {
    Trouble.EPHEMERAL: 0.0001,
    Trouble.DBMS_TIME: 0.0006,
    Trouble.QUERY_TIME: 0.0062,
    Trouble.OVERALL_TIME: 0.0275,
    Trouble.COMPUTATION_TIME: 0.0015,
    Trouble.BLOCK_IO: 0.0001,
    Trouble.IOWAIT: 0.0190,
}
"""Shares of the QEs of normal Q@Cs."""
