"""The tables of docs/profile-table1.md: factors with absolute variances, where threads wait, and FCFS over VATS."""

from __future__ import annotations

import os
import platform
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.page import table
from benchmarks.profile_factors.tables import factor_name, percent
from benchmarks.profile_table1.schedules import FCFS, VATS, Arm, Comparison, Ratio

FACTORS = 6
WAIT = "os_event_wait_low"
"""InnoDB's wait: `os_event_wait` is a macro that calls it."""

LEAST = 0.005  # share of the variance: call paths of the wait that have less are not listed

PAPER = (
    ("*paper: MySQL 5.6.23*", "*128 warehouses*", "*os_event_wait [A], beneath lock_wait_suspend_thread, select*",
     "*37.5%*", ""),
    ("*paper: MySQL 5.6.23*", "*128 warehouses*", "*os_event_wait [B], beneath lock_wait_suspend_thread, update*",
     "*21.7%*", ""),
    ("*paper: MySQL 5.6.23*", "*128 warehouses*", "*row_ins_clust_index_entry_low*", "*9.3%*", ""),
)  # fmt: skip
"""Table 1, first half."""

PAPER_RATIOS = ("*500*", "*paper, Table 3: FCFS / VATS*", "", "", "*6.3*", "*5.6*", "", "*2.0*")
"""Ratios of MySQL 5.6.23; the paper gives no interval."""


@dataclass(frozen=True)
class Profile:
    """A profile by `tare profile attach` and its load."""

    system: str
    chosen: str  # how the functions were chosen
    rate: int  # transactions a second, requested
    sustained: float
    load_before: float  # the machine's load average
    told: Mapping[str, Any]  # schemas/profile-v1.json

    @property
    def total_ms2(self) -> float:
        """Var(T) in the server's own time."""
        return float(self.told["durations"]["sd_ns"] / 1e6) ** 2

    def absolute(self, share: Mapping[str, float]) -> str:
        """A share of the variance in ms², with the interval of the share."""
        value, low, high = (share[key] * self.total_ms2 for key in ("value", "low", "high"))
        return f"{value:.3g} ({low:.3g} to {high:.3g})"

    def waits(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Call paths of InnoDB's wait, from the wait up to the transaction, the largest share first."""
        nodes = self.told["nodes"]
        some = [one for one in nodes if one["name"] == WAIT and one["variance"]["value"] >= LEAST]
        for node in sorted(some, key=lambda one: -one["variance"]["value"]):
            names, above = [], node["parent"]
            while above is not None and nodes[above]["parent"] is not None:
                names.append(nodes[above]["name"])
                above = nodes[above]["parent"]
            yield " ← ".join([WAIT, *names]), node


def factors(profiles: Sequence[Profile]) -> str:
    lines = [
        (one.system, one.chosen, factor_name(factor), percent(factor["share"]), one.absolute(factor["share"]))
        for one in profiles
        for factor in one.told["factors"][:FACTORS]
    ]
    header = (
        "system",
        "functions chosen",
        "factor, by score",
        "share of variance (95%)",
        "variance, ms² (95%)",
    )
    return table(header, [*lines, *PAPER])


def waits(profiles: Sequence[Profile]) -> str:
    lines = [
        (one.system, one.chosen, path, percent(node["variance"]), one.absolute(node["variance"]),
         percent(node["own_covariance"]), f"{node['calls']:.2f}", f"{node['mean_ns'] / 1e6:.2f}")
        for one in profiles
        for path, node in one.waits()
    ]  # fmt: skip
    header = ("system", "functions chosen", "call path, from the wait up", "share of variance (95%)",
              "variance, ms² (95%)", "own time, Cov(own, T) / Var(T)", "calls a transaction",
              "mean, ms a transaction")  # fmt: skip
    return table(header, lines)


def conditions(profiles: Sequence[Profile]) -> str:
    lines = []
    for one in profiles:
        told, durations, overhead = one.told, one.told["durations"], one.told["overhead"] or {}
        lines.append((
            one.system, one.chosen, f"{one.load_before:.1f}", f"{one.rate}", f"{one.sustained:.0f}",
            f"{told['transactions']:,}",
            *(f"{durations[f'{what}_ns'] / 1e6:.2f}" for what in ("mean", "sd", "p99")),
            f"{durations['sd_ns'] / durations['mean_ns']:.2f}", f"{durations['p99_ns'] / durations['mean_ns']:.1f}",
            f"{len(told['rounds'])}", f"{sum(len(shed['functions']) for shed in told['shed'])}",
            f"{100 * overhead.get('predicted', 0):.1f}%", percent(overhead.get("latency")),
            percent(overhead.get("throughput")),
            "yes" if told["valid"] else f"**no**: {', '.join(told['invalid_because'])}",
        ))  # fmt: skip
    header = ("system", "functions chosen", "load average before", "requested a second", "sustained",
              "transactions", "mean, ms", "sd, ms",
              "p99, ms", "sd / mean", "p99 / mean", "rounds", "functions shed", "overhead predicted",
              "latency added (95%)", "throughput lost (95%)", "valid")  # fmt: skip
    return table(header, lines)


def ratios(comparisons: Sequence[Comparison]) -> str:
    lines = []
    for one in comparisons:
        for name, found in (("FCFS / VATS", one.ratios()), ("same order, next block", one.same())):
            if figures := list(found):
                lines.append((
                    f"{one.rate}", name, f"{figures[0].blocks}", f"{one.window_s:g} s",
                    *(_ratio(ratio, bold=name.startswith("FCFS")) for ratio in figures),
                ))  # fmt: skip
    header = ("transactions a second", "ratio", "blocks", "window", "mean", "variance", "median", "p99")
    return table(header, [*lines, PAPER_RATIOS])


def _ratio(ratio: Ratio, *, bold: bool) -> str:
    text = f"{ratio.centre:.2f} [{ratio.low:.2f}, {ratio.high:.2f}]"
    if not bold:
        return text
    return f"{f'**{text}**' if ratio.is_decided else text}, {ratio.better} of {ratio.blocks}"


def levels(comparisons: Sequence[Comparison]) -> str:
    lines = []
    for one in comparisons:
        for order in (FCFS, VATS):
            arms = one.of(order)
            lines.append((
                f"{one.load_before:.1f}", f"{one.rate}", f"{one.started:.0f}", order.upper(),
                f"{sum(arm.transactions for arm in arms):,}",
                *(_spread(arms, figure) for figure in ("mean", "variance", "p99")),
                f"{sum(arm.waiting > 16 for arm in arms)} of {len(arms)}",
            ))  # fmt: skip
    header = ("load average before", "requested a second", "started", "order", "transactions", "mean, ms",
              "variance, ms²", "p99, ms",
              "blocks that began with more than 16 under way")  # fmt: skip
    return table(header, lines)


def _spread(arms: Sequence[Arm], figure: str) -> str:
    values = sorted(getattr(arm, figure) for arm in arms)
    return f"{statistics.median(values):.3g} ({values[0]:.3g} to {values[-1]:.3g})"


def page(profiles: Sequence[Profile], comparisons: Sequence[Comparison]) -> str:
    parts = [f"{os.cpu_count()} CPUs, Linux {platform.release()}; the client on the same machine."]
    if profiles:
        parts += ["**Factors by score** (shares overlap: a caller's holds its callees'):", factors(profiles)]
        parts += ["**Call paths of InnoDB's wait**:", waits(profiles)]
        parts += ["**The profiles**:", conditions(profiles)]
    if comparisons:
        parts += ["**FCFS over VATS** (above 1: VATS is better), MariaDB 10.2.11:", ratios(comparisons)]
        parts += ["**Levels** (median of blocks, least to largest):", levels(comparisons)]
    return "\n\n".join(parts)
