"""A profile of the planted program, held against what the program says of itself."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.planted.program import Source, Truth
from tare.protocol.profile.analyse import analyse
from tare.protocol.profile.found import Findings
from tare.protocol.profile.measured import WAITING, Measured

REPLICATES = 50
CUT = ("changed", "unfinished")  # by the recording's beginning and end
Times = NDArray[np.float64]


@dataclass(frozen=True)
class Held:
    backend: str
    source: str
    seed: int
    found: bool
    first: str  # the factor with the highest score
    transactions: int
    invalid: float  # share of those that do not count
    share_off: (
        float | None
    )  # of Var(T), planted by the profile and by the program; None: cannot be held together
    time_off_ns: float  # median over transactions


def held(backend: str, source: Source, seed: int, measured: Measured, truth: Truth) -> Held:
    findings = analyse(measured, replicates=REPLICATES)
    first = findings.factors[0]
    spoilt = sum(count for why, count in findings.invalid.items() if why not in CUT)
    rows, real = _matched(measured, truth)
    seen = _planted(measured, source)[rows]
    total = measured.duration_ns[rows].astype(np.float64)
    return Held(
        backend=backend,
        source=source.name,
        seed=seed,
        found=_is_found(source, findings),
        first=f"{first.kind} {', '.join(first.names)} {100 * first.share.value:.1f}%",
        transactions=findings.transactions,
        invalid=spoilt / (spoilt + findings.transactions),
        share_off=abs(_share(seen, total) - _share(real.first, real.duration)),
        time_off_ns=float(np.median(np.abs(seen - real.first))),
    )


def _is_found(source: Source, findings: Findings) -> bool:
    if source.negative:
        pair = findings.pairs[0]
        names = (findings.nodes[pair.left].name, findings.nodes[pair.right].name)
        return pair.covariance < 0 and sorted(names) == sorted(source.factor)
    first = findings.factors[0]
    if not source.factor:
        return first.kind == "waiting"
    kind = "pair" if len(source.factor) > 1 else "function"
    return first.kind == kind and sorted(first.names) == sorted(source.factor)


def _share(part: Times, total: Times) -> float:
    return float(np.var(part) / np.var(total))


def _planted(measured: Measured, source: Source) -> Times:
    """By transaction, what the profile says of the first planted function, or of waiting."""
    found = np.zeros(measured.transactions)
    if not source.factor:
        return measured.waited_ns.astype(np.float64)
    wanted = [
        place for place in range(WAITING + 1, len(measured.paths)) if measured.name(place) == source.factor[0]
    ]
    chosen = np.isin(measured.cell_path, wanted)
    np.add.at(found, measured.cell_transaction[chosen], measured.inclusive_ns[chosen])
    return found


def _matched(measured: Measured, truth: Truth) -> tuple[NDArray[np.intp], Truth]:
    """Rows of the profile's transactions, and the same ones as the program knows them: the last that had begun. Both
    come from one thread (of an event server the one that lets transactions in), so they never begin together."""
    order = np.argsort(truth.begin_ns)
    at = np.searchsorted(truth.begin_ns[order], measured.begin_ns, side="right") - 1
    rows = np.flatnonzero(at >= 0)
    chosen = order[at[rows]]
    inside = measured.begin_ns[rows] <= truth.begin_ns[chosen] + truth.duration[chosen]
    rows, chosen = rows[inside], chosen[inside]
    every = (truth.tid, truth.begin_ns, truth.kind, truth.duration, truth.first, truth.second)
    return rows, Truth(*(column[chosen] for column in every))
