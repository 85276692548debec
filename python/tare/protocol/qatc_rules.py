"""Rules by which Step 3 drops a Q@C, in every protocol (TTPv1 §7.5, TTPv2 §8.4)."""

from __future__ import annotations

from typing import Final

from tare.protocol.check import Check, Ground
from tare.protocol.outcome import Level

MIN_TICKS: Final = 2.0
"""A measured time of so few ticks is moved by a single one (TTPv2 §8.4)."""


def _qatc(number: int, name: str, source: str, ground: Ground) -> Check:
    return Check(number, name, source, Level.QATC, (ground,))


def query_in_every_qe(source: str, number: int) -> Check:
    return _qatc(
        number,
        "query process not in every QE",
        source,
        Ground(
            ("qes_with_query", "retained_qes"),
            lambda m: m.qes_with_query < m.retained_qes,
            "the query process is in {qes_with_query} of {retained_qes} QEs",
        ),
    )


def too_short(source: str, number: int) -> Check:
    return _qatc(
        number,
        "measured time of two ticks or less",
        source,
        Ground(
            ("mean_wall_ticks",),
            lambda m: m.mean_wall_ticks <= MIN_TICKS,
            "the mean measured time is {mean_wall_ticks:.2f} ticks",
        ),
    )


def too_few(source: str, number: int) -> Check:
    return _qatc(
        number,
        "too few QEs",
        source,
        Ground(
            ("retained_qes", "min_qes"),
            lambda m: m.retained_qes < m.min_qes,
            "{retained_qes} of {qes} QEs are left, {min_qes} are needed",
        ),
    )
