"""Findings of the papers on their own data: shown beside ours, and never mixed with it.

TTPv1: S. Currim, R. T. Snodgrass, Y.-K. Suh, R. Zhang, M. Johnson and C. Yi, “DBMS metrology: Measuring
query time”, SIGMOD 2013. TTPv2: S. Currim et al., ACM TODS 42(1), 2016.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Published:
    """A column of TTPv2 Table XVII."""

    protocol: str
    sanity_checks: int
    retained_qatcs: float
    qes_per_retained_qatc: float
    relative_error_measured: float
    relative_error_calculated: float


TTP1 = Published("ttp1", 18, 0.76, 8.5, 0.045, 0.022)
TTP2 = Published("ttp2", 34, 0.96, 9.4, 0.023, 0.021)

NOTE = (
    "The relative errors of calculated time are those of TTPv2's text (§10, §11: 2.2% for TTPv1, 2.1% for TTPv2); "
    "its Table XVII prints the two the other way round."
)

CHECKS: dict[tuple[str, str, int], float] = {
    **{("ttp2", "experiment", number): 0.0 for number in range(1, 9)},
    **{
        ("ttp2", "qe", number): share / 100
        for number, share in enumerate(
            (0.01, 0.06, 0.26, 0.70, 1.59, 2.65, 0.14, 0.01, 1.84, 0.0, 0.10, 0.05, 0.02), 1
        )
    },
    **{("ttp2", "qatc", number): share for number, share in enumerate((0.0014, 0.0017, 0.0059, 0.0032), 1)},
}
"""TTPv2 Tables X, XI and XII, by protocol, level and number: counts, then shares."""

POST: dict[tuple[str, int], float] = {
    ("ttp2", number): value for number, value in enumerate((0.0025, 0.0068, 0.0035, 0.023, 0.075, 0.0), 1)
}
"""TTPv2 Table XIV."""
