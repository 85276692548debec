"""The tables: the first factors of each profile, the shares that add up, and what profiling cost."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.page import table
from benchmarks.profile_factors.works import Work

FACTORS, OWN = 5, 6
Row = tuple[str, Work, Mapping[str, Any], float]
"""DBMS, work, what was told in the server's own time, and the client's share of the whole."""

PAPER = (
    ("*paper: Postgres 9.6*", "*TPC-C*", "", "*LWLockAcquireOrWait*", "*76.8%*"),
    ("*paper: Postgres 9.6*", "*TPC-C*", "", "*ReleasePredicateLocks*", "*6%*"),
    ("*paper: MySQL 5.6*", "*TPC-C, 128 warehouses*", "", "*os_event_wait [A]*", "*37.5%*"),
    ("*paper: MySQL 5.6*", "*TPC-C, 128 warehouses*", "", "*os_event_wait [B]*", "*21.7%*"),
    ("*paper: MySQL 5.6*", "*TPC-C, 128 warehouses*", "", "*row_ins_clust_index_entry_low*", "*9.3%*"),
)
"""Tables 1 and 2."""


def percent(figure: Mapping[str, float] | None) -> str:
    if figure is None:
        return "–"
    return f"{100 * figure['value']:.1f}% ({100 * figure['low']:.1f} to {100 * figure['high']:.1f})"


def factor_name(factor: Mapping[str, Any]) -> str:
    words = " × ".join(factor["names"])
    kind = {"body": " (body)", "pair": "", "function": ""}.get(factor["kind"], "")
    callers = f" beneath {' from '.join(factor['beneath'])}" if factor.get("beneath") else ""
    others = " on its other paths" if factor.get("others") else ""
    return f"{words}{kind}{callers}{others}{' (inferred)' if factor['inferred'] else ''}"


def factors(rows: Sequence[Row]) -> str:
    """By score: equations 2 and 3."""
    lines = [
        (dbms, work.name, "yes" if work.contended else "no", factor_name(one), percent(one["share"]))
        for dbms, work, told, _ in rows
        for one in told["factors"][:FACTORS]
    ]
    header = ("DBMS", "work", "rows contended", "factor, by score", "share of variance (95%)")
    return table(header, [*lines, *PAPER])


def own(rows: Sequence[Row]) -> str:
    """By the share of a function's own time, over its call paths: these add up to all of the variance."""
    lines = []
    for dbms, work, told, _ in rows:
        sums: dict[str, float] = {}
        for node in told["nodes"]:
            if node["own_covariance"] is not None:
                sums[node["name"]] = sums.get(node["name"], 0.0) + node["own_covariance"]["value"]
        first = sorted(sums.items(), key=lambda one: -one[1])[:OWN]
        lines.append((dbms, work.name, "; ".join(f"{name} {100 * share:.1f}%" for name, share in first)))
    return table(("DBMS", "work", "own time, Cov(own, T) / Var(T)"), lines)


def profiles(rows: Sequence[Row]) -> str:
    lines = []
    for dbms, work, told, client in rows:
        durations, overhead = told["durations"] or {}, told["overhead"] or {}
        lines.append((
            f"{dbms} ({told['of']['dbms_version']})", work.name, f"{told['transactions']:,}",
            *(f"{durations.get(f'{what}_ns', 0) / 1e6:.2f}" for what in ("mean", "sd", "p99")),
            f"{100 * client:.1f}%", f"{100 * (told['between_types'] or 0):.1f}%", percent(told["on_cpu"]),
            f"{len(told['rounds'])}", f"{told['naive_rounds'] or '–'}",
            percent(overhead.get("latency")), percent(overhead.get("throughput")), "yes" if told["valid"] else "**no**",
        ))  # fmt: skip
    header = ("DBMS", "work", "transactions", "mean, ms", "sd, ms", "p99, ms", "the client, of whole durations",
              "between types", "on CPU", "rounds", "level by level",
              "latency added", "throughput lost", "valid")  # fmt: skip
    return table(header, lines)


def page(rows: Sequence[Row], seconds: int, load_before: float) -> str:
    return "\n\n".join(
        (
            f"{os.cpu_count()} CPUs, Linux {platform.release()}; {seconds} s of profiling each, load in a closed loop; "
            f"load average before the first {load_before:.2f}.",
            "**Factors by score** (shares overlap: a caller's holds its callees'):",
            factors(rows),
            "**Own time** (shares add up to 100%):",
            own(rows),
            "**The profiles**:",
            profiles(rows),
        )
    )
