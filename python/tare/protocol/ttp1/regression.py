"""TTPv1's regression of iowait, per DBMS (§7.5, eq. 1): ordinary least squares from sums.

iowait = a + b U_query + c majflt_query + d majflt_utility + e majflt_daemon, all ticks and counts. The
engine adds up the products; the rest is five numbers a DBMS.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations_with_replacement
from typing import Any, Final

import ibis.expr.types as ir
import numpy as np

from tare.lab.answers import rows
from tare.protocol.ttp1.context import IOWAIT_SHARE

REGRESSORS: Final = {
    "b": "query_user_ticks",
    "c": "query_maj_faults",
    "d": "utility_maj_faults",
    "e": "daemon_maj_faults",
}
_OBSERVED: Final = "overall_iowait"


def regression(qes: ir.Table) -> dict[str, dict[str, float]]:
    """By DBMS: a to e, `n` and `variance_explained`, over these (the retained) QEs.

    A regressor that never varies, or that others make up, gets no say of its own (the solution of
    least norm). A DBMS whose iowait is not shared out (`IOWAIT_SHARE`) has b = 0 and nothing else.
    """
    names = (_OBSERVED, *REGRESSORS.values())
    known = qes.filter([qes[name].notnull() for name in names])
    sums: dict[str, Any] = {"n": known.count(), **{name: known[name].sum() for name in names}}
    for one, two in combinations_with_replacement(names, 2):
        sums[f"{one}*{two}"] = (known[one] * known[two]).sum()
    found = rows(known.group_by("dbms").aggregate(**sums).order_by("dbms"))
    return {
        row["dbms"]: {"b": 0.0} if row["dbms"] in IOWAIT_SHARE else from_sums(row)
        for row in found
    }  # fmt: skip


def from_sums(sums: Mapping[str, int]) -> dict[str, float]:
    """Solves the normal equations. Sums of whole numbers are exact, and centring them is too."""
    n = sums["n"]

    def about_means(one: str, two: str) -> float:
        product = sums.get(f"{one}*{two}", sums.get(f"{two}*{one}", 0))
        return (n * product - sums[one] * sums[two]) / n

    varying = {letter: name for letter, name in REGRESSORS.items() if about_means(name, name) > 0}
    scale = np.array([about_means(name, name) ** 0.5 for name in varying.values()])
    matrix = np.array([[about_means(one, two) for two in varying.values()] for one in varying.values()])
    right = np.array([about_means(name, _OBSERVED) for name in varying.values()])
    found = dict.fromkeys(REGRESSORS, 0.0)
    if varying:
        solved = np.linalg.lstsq(matrix / np.outer(scale, scale), right / scale, rcond=1e-10)[0] / scale
        found |= {letter: float(value) for letter, value in zip(varying, solved, strict=True)}
    mean = sums[_OBSERVED] / n - sum(found[letter] * sums[name] / n for letter, name in REGRESSORS.items())
    total = about_means(_OBSERVED, _OBSERVED)
    explained = sum(found[letter] * about_means(name, _OBSERVED) for letter, name in varying.items())
    return {
        "a": mean,
        **found,
        "n": float(n),
        "variance_explained": explained / total if total > 0 else 0.0,
    }
