"""TTPv2, the Tucson Timing Protocol version 2 (ACM TODS 42(1), article 3, 2016).

Here: its arithmetic for one Q@C. What compares Q@Cs (experiment-wide checks, monotonicity,
post checks) builds on it.
"""

from tare.protocol.ttp2.time import IOWAIT_NOT_APPLICABLE, MIN_QES, Deviation, QueryTime, time_of

__all__ = ["IOWAIT_NOT_APPLICABLE", "MIN_QES", "Deviation", "QueryTime", "time_of"]
