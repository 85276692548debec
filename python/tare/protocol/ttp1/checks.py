"""TTPv1's sanity checks (§7.5, Tables 5 to 7) and what its Step 2 drops QEs for.

Where TTPv2 makes the same check it is the same data, under TTPv1's number.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from tare.protocol import experiment_checks as wide
from tare.protocol.check import Check, Ground
from tare.protocol.monotonicity import sourced
from tare.protocol.outcome import Level
from tare.protocol.ttp2 import checks as v2
from tare.protocol.ttp2.qatc_checks import EXCESSIVE, EXCESSIVE_VARIATION

TABLE_5: Final = "TTPv1 Table 5"
TABLE_6: Final = "TTPv1 Table 6"
TABLE_7: Final = "TTPv1 Table 7"
STEP_2: Final = "TTPv1 §7.5, step 2"

IOWAIT_TIMES: Final = 2  # times the Q@C's median
IOWAIT_TICKS: Final = 2  # where the median is 0

EXPERIMENT_CHECKS: Final = (
    replace(wide.MISSING_QUERIES, number=1, source=TABLE_5),
    replace(wide.UNDERLYING_MEASURE, number=2, name="process info", source=TABLE_5),
    replace(wide.UNIQUE_PLAN, number=3, source=TABLE_5),
)

QE_CHECKS: Final = (
    replace(v2.DBMS_TIME, number=1, source=TABLE_6),
    replace(v2.ZERO_QUERY_TIME, number=2, source=TABLE_6),
    replace(v2.QUERY_TIME, number=3, source=TABLE_6),
    replace(v2.NO_QUERY_PROCESS, number=4, source=TABLE_6),
    replace(wide.OTHER_QUERY_PROCESS, number=5, source=TABLE_6, level=Level.QE),
    replace(wide.OTHER_UTILITY_PROCESS, number=6, source=TABLE_6, level=Level.QE),
)

QATC_CHECKS: Final = (replace(EXCESSIVE_VARIATION, source=TABLE_7),)
MONOTONICITY: Final = sourced(TABLE_7, 2)

OF_ITS_QATC: Final = Check(
    1,
    EXCESSIVE_VARIATION.name,
    TABLE_7,
    Level.QE,
    (
        Ground(
            ("qatc_computation_sd", "qatc_computation_mean"),
            lambda m: m.qatc_computation_sd > EXCESSIVE * m.qatc_computation_mean,
            "query user + system over its Q@C: standard deviation {qatc_computation_sd:.1f} ticks, "
            "mean {qatc_computation_mean:.1f}",
        ),
    ),
    missing={"qatc_computation_sd": "one QE has no variation"},
)
"""Step 2-(i) drops every QE of a Q@C that varies too much."""

STOPPED_OR_PHANTOM: Final = Check(
    2,
    "stopped or phantom process",
    STEP_2,
    Level.QE,
    (
        Ground(
            ("stopped_processes", "phantom_processes"),
            lambda m: m.stopped_processes + m.phantom_processes > 0,
            "{stopped_processes} stopped and {phantom_processes} phantom processes",
        ),
        *v2.EPHEMERAL.grounds,
    ),
    missing=v2.EPHEMERAL.missing,
    of_what_is_known=True,
)
"""TTPv1 knows neither what a stopped process did after the first snapshot nor what a phantom did at all.
That exit records tell both came with TTPv2, and does not save the QE here."""

IOWAIT_ABOVE_MEDIAN: Final = Check(
    3,
    "iowait above twice the median",
    STEP_2,
    Level.QE,
    (
        Ground(
            ("overall_iowait", "median_iowait"),
            lambda m: (
                ((m.median_iowait > 0) & (m.overall_iowait > IOWAIT_TIMES * m.median_iowait))
                | ((m.median_iowait == 0) & (m.overall_iowait > IOWAIT_TICKS))
            ),
            "{overall_iowait} iowait ticks, the Q@C's median is {median_iowait:.1f}",
        ),
    ),
    of_what_is_known=True,
)

IOWAIT_OF_DBMS: Final = Check(
    4,
    "iowait where none is expected",
    STEP_2,
    Level.QE,
    (
        Ground(
            ("overall_iowait", "iowait_allowed"),
            lambda m: m.overall_iowait > m.iowait_allowed,
            "{overall_iowait} iowait ticks; of this DBMS no more than {iowait_allowed:.2f} are expected here",
        ),
    ),
    of_what_is_known=True,
)

TIMED_OUT: Final = v2.TIMED_OUT
"""TTPv1 had no time-outs; a QE that ran into one has no time."""
