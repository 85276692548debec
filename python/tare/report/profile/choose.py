"""Choice of transactions that are looked at one by one: the slowest, those in the middle, or by number.

A number is a transaction's place in the recording's list (`Assembled.transactions`), valid or not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tare.arrow import numbers
from tare.errors import UsageError
from tare.protocol.profile.measured import VALID, Window, reasons
from tare.report.profile.perfetto import Span

Whole = NDArray[np.int64]
Flags = NDArray[np.bool_]


def able(transactions: pa.Table, windows: Sequence[Window]) -> Flags:
    """Return for each transaction whether it is valid and began in one of these windows: those with the probes."""
    valid = np.asarray(reasons(transactions) == VALID, dtype=bool)
    return valid & np.isin(numbers(transactions["window"]), [one.number for one in windows])


def slowest(duration_ns: Whole, able: Flags, n: int) -> list[int]:
    """The slowest first; fewer where there are fewer."""
    found = np.flatnonzero(able)
    ordered = found[np.argsort(-duration_ns[found], kind="stable")]
    return [int(one) for one in ordered[:n]]


def median(duration_ns: Whole, able: Flags, n: int) -> list[int]:
    """The n nearest to the median, the nearest first."""
    found = np.flatnonzero(able)
    if not found.size:
        return []
    far = np.abs(duration_ns[found] - np.median(duration_ns[found]))
    return [int(one) for one in found[np.argsort(far, kind="stable")][:n]]


def asked_for(numbers: Sequence[int], able: Flags) -> list[int]:
    """Each once, in the order given. Raises UsageError for one that there is not, or that cannot be used."""
    for one in numbers:
        if not 0 <= one < able.size:
            there = f"they are numbered from 0 to {able.size - 1:,}" if able.size else "it has none"
            raise UsageError(f"transaction {one}: the profile has no such; {there}", "or ask for the slowest")
        if not able[one]:
            raise UsageError(
                f"transaction {one} cannot be drawn: it is not valid, or began in a window without the probes",
                "ask for another, or for the slowest",
            )
    return list(dict.fromkeys(numbers))


def spans(transactions: pa.Table, chosen: Sequence[tuple[int, str]], texts: Mapping[int, str]) -> list[Span]:
    """`chosen`: numbers and why ("slowest", "median", "asked for"); of one that was chosen twice the first why stays.
    `texts`: of labels."""
    first: dict[int, str] = {}
    for number, why in chosen:
        first.setdefault(number, why)
    rows = transactions.take(pa.array(list(first), pa.int64())).to_pylist()
    return [
        Span(
            number=number,
            pid=row["pid"],
            tid=row["tid"],
            begin_ns=row["begin_ns"],
            duration_ns=row["duration_ns"],
            type=texts.get(row["label"], ""),
            chosen=why,
        )
        for (number, why), row in zip(first.items(), rows, strict=True)
    ]
