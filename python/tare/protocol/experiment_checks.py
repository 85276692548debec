"""The experiment-wide sanity checks (TTPv2 Table X): a single violation stops the analysis.

What is counted: QEs that are missing (1), Q@Cs (2), QEs (3 to 8).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from tare.protocol.check import Check, Ground
from tare.protocol.outcome import Level

SOURCE: Final = "TTPv2 Table X"


def _check(number: int, name: str, *grounds: Ground) -> Check:
    return Check(number, name, SOURCE, Level.EXPERIMENT, grounds)


MISSING_QUERIES: Final = _check(
    1,
    "missing queries",
    Ground(
        ("missing_qes",), lambda m: m.missing_qes > 0, "{missing_qes} of {planned_qes} QEs have no record"
    ),
)

UNIQUE_PLAN: Final = _check(
    2, "unique plan", Ground(("plans",), lambda m: m.plans > 1, "its QEs ran under {plans} plans")
)

UNDERLYING_MEASURE: Final = _check(
    3,
    "underlying measure",
    Ground(
        ("unknown_measures",),
        lambda m: m.unknown_measures > 0,
        "{unknown_measures} measures that the protocol needs are missing: {unknown_names}",
    ),
)

DERIVED_MEASURE: Final = _check(
    4,
    "derived measure",
    Ground(
        ("negative_processes",),
        lambda m: m.negative_processes > 0,
        "a cumulative counter went back in {negative_processes} processes",
    ),
    Ground(
        ("negative_overall",),
        lambda m: m.negative_overall > 0,
        "{negative_overall} overall measures went back",
    ),
    Ground(
        ("untyped_processes",),
        lambda m: m.untyped_processes != 0,
        "the sums per type leave out {untyped_processes} processes",
    ),
)

STEAL_TIME: Final = _check(
    5,
    "steal time",
    Ground(("overall_steal",), lambda m: m.overall_steal > 0, "{overall_steal} ticks were stolen"),
)

GUEST_TIME: Final = _check(
    6,
    "guest time",
    Ground(("all_guest_ticks",), lambda m: m.all_guest_ticks > 0, "{all_guest_ticks} ticks ran a guest"),
)

OTHER_QUERY_PROCESS: Final = _check(
    7,
    "other query process",
    Ground(
        ("other_query_processes",),
        lambda m: m.other_query_processes > 0,
        "{other_query_processes} query processes of another DBMS ran",
    ),
)

OTHER_UTILITY_PROCESS: Final = _check(
    8,
    "other utility process",
    Ground(
        ("other_utility_processes",),
        lambda m: m.other_utility_processes > 0,
        "{other_utility_processes} utility processes of another DBMS ran",
    ),
)

EXPERIMENT_CHECKS: Final = (
    MISSING_QUERIES, UNIQUE_PLAN, UNDERLYING_MEASURE, DERIVED_MEASURE, STEAL_TIME, GUEST_TIME,
    OTHER_QUERY_PROCESS, OTHER_UTILITY_PROCESS,
)  # fmt: skip

UNMEASURED: Final = replace(UNDERLYING_MEASURE, level=Level.QE)
"""For Step 2, where the user accepts check 3: a QE that lacks a measure has no time."""
