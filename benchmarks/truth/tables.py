"""The tables: what the trace saw, and each protocol's error against it."""

from __future__ import annotations

import re
import statistics
from collections import Counter
from collections.abc import Callable, Sequence

from benchmarks.truth.cells import CACHES
from benchmarks.truth.rows import Row, ttp1_slope
from benchmarks.truth.weighing import Weighing


def middle(values: Sequence[float]) -> str:
    """Median and quartiles."""
    if len(values) < 2:
        return f"{values[0]:.0f}" if values else "–"
    low, median, high = statistics.quantiles(values, n=4)
    return f"{median:.0f} [{low:.0f}, {high:.0f}]"


def fine(values: Sequence[float]) -> str:
    if len(values) < 2:
        return f"{values[0]:.1f}" if values else "–"
    low, median, high = statistics.quantiles(values, n=4)
    return f"{median:+.1f} [{low:+.1f}, {high:+.1f}]"


def table(header: Sequence[str], lines: Sequence[Sequence[str]]) -> None:
    print("| " + " | ".join(header) + " |")
    print("|" + "---|" * len(header))
    for line in lines:
        print("| " + " | ".join(line) + " |")
    print()


def show(done: Weighing) -> None:
    """Four tables: the truth, the error of CPU, the error of I/O, and whose IOWait it was. ms."""
    cells = list(done.taken)
    rows = {cell: [row for row in done.rows if row.cell == cell] for cell in cells}
    slopes = {cache: ttp1_slope([r for r in done.rows if r.cell.cache is cache]) for cache in CACHES}

    def lines(*of: Callable[[Row], float], form: Callable[[Sequence[float]], str]) -> list[list[str]]:
        return [
            [
                cell.query,
                cell.cache.value,
                cell.noise,
                *(form([f(row) for row in rows[cell]]) for f in of),
            ]
            for cell in cells
        ]

    where = ("query", "cache", "noise")
    print(f"### {cells[0].set_up.name}: median [quartiles], ms\n")
    print("What the trace saw:\n")
    truth = lines(
        lambda r: r.wall, lambda r: r.cpu, lambda r: r.run_queue, lambda r: r.waited_any, lambda r: r.waited,
        lambda r: r.disk, lambda r: r.others_disk, form=middle,
    )  # fmt: skip
    for line, cell in zip(truth, cells, strict=True):
        line.append(f"{len(done.rejected[cell])} of {done.taken[cell]}")
    table((*where, "wall", "CPU", "run queue", "blocked", "waited for own request", "own disk time",
           "others' disk time", "traces rejected"), truth)  # fmt: skip
    print("CPU time, estimate − trace:\n")
    table((*where, "ticks (TTPv1, TTPv2)", "exact"),
          lines(lambda r: r.user_ticks + r.system_ticks - r.cpu, lambda r: r.exact_cpu - r.cpu, form=fine))  # fmt: skip
    print("I/O time, estimate − trace. Against *waited for own request*, then against *own disk time*:\n")
    estimates: tuple[Callable[[Row], float], ...] = (
        lambda r: slopes[r.cell.cache] * r.user_ticks,
        lambda r: r.ttp2_io,
        lambda r: r.block_io_ticks,
        lambda r: r.exact_block_io,
    )

    def against(truth: Callable[[Row], float]) -> tuple[Callable[[Row], float], ...]:
        return tuple((lambda r, e=estimate: e(r) - truth(r)) for estimate in estimates)

    names = ("TTPv1", "TTPv2", "delay ticks", "exact")
    table((*where, *(f"{n}, waited" for n in names), *(f"{n}, disk" for n in names)),
          lines(*against(lambda r: r.waited), *against(lambda r: r.disk), form=fine))  # fmt: skip
    print(
        "IOWait: what the kernel's ticks say, what the trace saw, and the share of it in which a request of the"
    )
    print("query was with the device. Equation 1 holds where that share is a half.\n")
    shares = lines(lambda r: r.iowait_ticks, lambda r: r.iowait, lambda r: r.unknown, form=middle)
    for line, cell in zip(shares, cells, strict=True):
        line.append(share([r for r in rows[cell] if r.iowait >= 1.0]))
        line.append(f"{sum(r.ttp2_io < 0 for r in rows[cell])} of {len(rows[cell])}")
    table(
        (*where, "IOWait, ticks", "IOWait, traced", "not known", "share that was the query's", "IO_calc < 0"),
        shares,
    )
    for why, count in Counter(kind(why) for all_ in done.rejected.values() for why in all_).most_common():
        print(f"{count} traces rejected: {why}")
    for cache, slope in slopes.items():
        print(f"TTPv1, {cache}: iowait_calc = {slope:.3f} × U_query")
    print()


def kind(why: str) -> str:
    """A reason without its numbers."""
    return re.sub(r"\d+", "…", why.split("; ")[0])


def share(rows: Sequence[Row]) -> str:
    """Over the QEs with at least 1 ms of iowait."""
    return fine([100 * r.iowait_own_disk / r.iowait for r in rows]).replace("+", "") + "%" if rows else "–"
