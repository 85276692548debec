"""Transactions of one type: those of one label, which putting a recording together gave them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tare.protocol.profile.found import Kind
from tare.protocol.profile.measured import UNREAD, Floats, Ints, Measured

FEWEST = 10
"""Types with fewer transactions are put together: their means say nothing."""

OTHERS = "(others)"
NO_LABEL = "(no label)"


@dataclass(frozen=True, eq=False)
class Types:
    """Type of each transaction, by place in `names`."""

    of: Ints
    names: tuple[str, ...]
    labels: tuple[int, ...]  # 0: no label, or several types together

    def __len__(self) -> int:
        return len(self.names)


def types_of(measured: Measured) -> Types:
    """Commonest first; those with fewer than FEWEST transactions last, as one."""
    labels, place, counts = np.unique(measured.label, return_inverse=True, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    many = int((counts >= FEWEST).sum())
    alone = len(labels) - many <= 1
    shown = [int(labels[number]) for number in (order if alone else order[:many])]
    names = [_name(label, measured.texts) for label in shown]
    new = np.empty(len(labels), dtype=np.int64)
    new[order] = np.minimum(np.arange(len(labels)), len(labels) if alone else many)
    if not alone:
        shown, names = [*shown, 0], [*names, OTHERS]
    return Types(new[place.reshape(-1)], tuple(names), tuple(shown))


def _name(label: int, texts: Mapping[int, str]) -> str:
    return NO_LABEL if label == 0 else texts.get(label, f"(type {label:07x})")


def between(durations: Floats, types: Types) -> float:
    """Share of Var(T) that lies between types, by the law of total variance: inherent (§2).

    1 - (Σ within / (n - types)) / (Σ all / (n - 1)), at least 0: freed of what means of few transactions differ by
    chance (Kelley's ε²)."""
    n, groups = len(durations), len(types)
    if groups < 2 or n <= groups:
        return 0.0
    all_ = float(((durations - durations.mean()) ** 2).sum()) / (n - 1)
    return max(0.0, 1 - float((centred(durations, types) ** 2).sum()) / (n - groups) / all_) if all_ else 0.0


def centred(values: Floats, types: Types) -> Floats:
    """Less the mean of its type."""
    counts = np.bincount(types.of, minlength=len(types))
    means = np.bincount(types.of, weights=values, minlength=len(types)) / np.maximum(counts, 1)
    return values - means[types.of]


def kinds(measured: Measured, types: Types) -> tuple[Kind, ...]:
    found = []
    for number, (name, label) in enumerate(zip(types.names, types.labels, strict=True)):
        chosen = types.of == number
        durations = measured.duration_ns[chosen]
        p50, p99 = np.quantile(durations, (0.5, 0.99))
        on_cpu, off_cpu = _cpu(measured.cpu_ns[chosen], durations)
        found.append(
            Kind(
                label=label,
                name=name,
                transactions=len(durations),
                mean_ns=float(durations.mean()),
                sd_ns=float(durations.std(ddof=1)) if len(durations) > 1 else 0.0,
                p50_ns=float(p50),
                p99_ns=float(p99),
                max_ns=float(durations.max()),
                on_cpu_ns=on_cpu,
                off_cpu_ns=off_cpu,
            )
        )
    return tuple(found)


def _cpu(cpu_ns: Ints, durations: Ints) -> tuple[float | None, float | None]:
    """Return the CPU time of the transactions of which it was read, and its share."""
    read = cpu_ns != UNREAD
    if not read.any():
        return None, None
    on = float(cpu_ns[read].mean())
    return on, float(durations[read].mean()) - on
