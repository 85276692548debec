"""How much iowait a DBMS's queries may show (TTPv1 §6, §7.5 Step 2-(iv)), by DBMS.

A share of the query's user ticks. A DBMS that is not listed waits for I/O in earnest: its iowait is
shared out by the regression of Step 4, and Step 2-(iv) says nothing of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

IOWAIT_SHARE: Final[Mapping[str, float]] = {
    "db2": 0.0,
    "mysql": 0.01,
    "mariadb": 0.01,  # as MySQL, of which it is a branch
}
