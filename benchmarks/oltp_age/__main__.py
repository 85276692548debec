"""Does a transaction's age tell how long it still has to go? TPC-C on a contended PostgreSQL, at every lock wait.

The paper's Appendix C.2 and Fig. 8. The server logs each wait that reaches 1 ms (`waits.py`), the driver writes down
each transaction; a wait is put to the transaction in which it lies (`owners.py`). One warehouse: a closed loop, then
arrivals of their own at `--share` per cent of its rate, so that there is contention on any machine.
`--markdown docs/oltp-age.md` puts the tables into that page and the figure beside it.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from benchmarks.common import Figure, arguments, report
from benchmarks.oltp_age.correlation import Correlation
from benchmarks.oltp_age.drawing import draw
from benchmarks.oltp_age.looks import ARRIVAL, LOOKS, Columns, columns
from benchmarks.oltp_age.setting import Seen, look, shares_ms_below
from benchmarks.oltp_age.waits import SETTINGS
from benchmarks.oltp_runs import conditions, load
from benchmarks.page import put, table
from tare.dbms.servers import start_postgresql
from tare.report.oltp.reasons import reasons


def by_type(seen: Seen) -> Iterator[tuple[str, Columns]]:
    everything = columns(seen.matched.owned)
    yield "all", everything
    for number, one in enumerate(seen.run.outcome.types):
        yield one.name, everything.of(number)


def row(kind: str, look_name: str, found: Correlation, medians: Sequence[float]) -> list[str]:
    def between(pair: tuple[float, float]) -> str:
        return f"{pair[0]:+.3f} … {pair[1]:+.3f}"

    age, remaining = medians
    return [
        kind, look_name, f"{found.n:,}", f"**{found.pearson:+.3f}**", between(found.by_seconds), between(found.fisher),
        f"{found.spearman:+.3f}", f"{age:.1f}", f"{remaining:.1f}",
    ]  # fmt: skip


def tables(seen: Seen) -> str:
    lines = []
    for kind, of in by_type(seen):
        for one in LOOKS:
            found = one.correlation(of)
            if found is not None:
                lines.append(row(kind, one.name, found, [float(np.median(side)) for side in one.ms(of)]))
            elif one is ARRIVAL:
                lines.append([kind, "too few waits", f"{len(of.kind)}", *[""] * 6])
    header = ("type", "when", "waits", "Pearson's r", "95%, seconds drawn", "95%, Fisher", "Spearman's ρ",
              "median age, ms", "median remaining, ms")  # fmt: skip
    return f"### {seen.name}\n\n{told(seen)}\n\n{table(header, lines)}"


def told(seen: Seen) -> str:
    matched, outcome = seen.matched, seen.run.outcome
    every = len(seen.waits.granted)
    below = ", ".join(f"{100 * share:.0f}% less than {name}" for name, share in shares_ms_below(seen).items())
    of = columns(matched.owned)
    others = ", ".join(f"{count} on {name}" for name, count in sorted(seen.waits.elsewhere.items())) or "none"
    return (
        f"{outcome.rate:.0f} transactions a second for {outcome.all.counts.started / outcome.rate:.0f} s, "
        f"mean response {outcome.all.response.mean / 1e6:.1f} ms. {every:,} waits of 1 ms or more for a row, "
        f"{len(matched.owned):,} of them ({100 * len(matched.owned) / max(every, 1):.1f}%) within one of "
        f"{of.transactions:,} transactions; {matched.outside} outside of all of their connection's, "
        f"{matched.unowned} of processes without a connection of their own "
        f"({len(matched.connections)} of {matched.processes} have one). "
        f"Of the waits {below}. Never granted: {seen.waits.never_granted}; waits for other locks, left out: {others}. "
        f"The two clocks drifted by {seen.drift_ns / 1e6:.3f} ms."
        + (f" Not valid: {'; '.join(reasons(seen.run.invalid))}." if seen.run.invalid else "")
    )


def figures(all_: Sequence[Seen]) -> Iterator[Figure]:
    for seen in all_:
        share = 100 * len(seen.matched.owned) / max(len(seen.waits.granted), 1)
        yield Figure(f"waits put to their transaction, {seen.name}", share, "%", 95.0, at_most=False)
        for kind, of in by_type(seen):
            found = ARRIVAL.correlation(of)
            if found is not None:
                low, high = found.by_seconds
                yield Figure(
                    f"r of age and remaining time, {kind}", found.pearson, "", math.inf,
                    spread=f"{low:+.3f} … {high:+.3f}, {found.n} waits",
                )  # fmt: skip


def picture(seen: Seen, page: Path) -> str:
    """A file beside the page, and the line that shows it."""
    panels = {}
    for kind, of in by_type(seen):
        found = ARRIVAL.correlation(of)
        if found is not None:
            panels[f"{kind}: r = {found.pearson:+.2f}"] = ARRIVAL.ms(of)
    if not panels:
        return ""
    file = page.with_suffix(".png")
    draw(panels, file)
    return f"![How often which age met which remaining time, {seen.name}]({file.name})"


def main() -> None:
    asked = arguments(
        __doc__ or "", files=("markdown",), warehouses=1, connections=16, open_connections=32, share=80, seconds=60,
        warmup=10,
    )  # fmt: skip
    if asked.small:
        asked.seconds, asked.warmup = 2, 1
    load_before = os.getloadavg()[0]
    with start_postgresql(settings=SETTINGS) as server:
        load(server.url, asked.warehouses)
        all_ = [look(server, None, asked.connections, asked.seconds, asked.warmup)]
        if not asked.small:
            rate = round(all_[0].run.outcome.rate * asked.share / 100)
            all_.append(look(server, rate, asked.open_connections, asked.seconds, asked.warmup))
    server_told = all_[0].run.server
    made = "\n\n".join(
        [f"PostgreSQL {server_told.version}; {conditions(all_[0].run, load_before)}", *map(tables, all_)]
    )
    if asked.markdown:
        put(asked.markdown, f"{made}\n\n{picture(all_[0], asked.markdown)}".rstrip())
    if not asked.json:
        print(made, end="\n\n")
    report(list(figures(all_)), asked.json)


if __name__ == "__main__":
    main()
