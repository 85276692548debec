"""How far is each protocol from what the kernel's trace saw? CPU and I/O time of cold and warm queries, with
and without noise of ours: TTPv1, TTPv2, the exact protocol and plain /proc ticks.

The truth is the audit (tare.measure.audit): time on a CPU without steal, and two readings of I/O time:
*waited* — in a block-I/O wait while a request of its own was with the device — and *disk* — at least one
request of its own was with the device, waited for or not. QEs of all cells of a set-up are interleaved. A
trace that is rejected is counted and leaves the tables. No QE is dropped otherwise, by no protocol's rules:
this is about their equations.

`one CPU`: executor, DBMS and noise are confined to one CPU, and its iowait is TTPv2's, as the paper has it.
`two CPUs`: as they are, with iowait summed over them. TTPv1's regression is over all QEs of a set-up and
cache state (§8.4 of its paper asks for one a DBMS).
"""

from __future__ import annotations

import math
import os
import random
import statistics
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from benchmarks.common import Figure, arguments, report, rig, weigh_once
from benchmarks.truth.cells import NOISES, QUERIES, set_ups
from benchmarks.truth.rows import Row
from benchmarks.truth.tables import fine, show
from benchmarks.truth.weighing import loaded, weigh
from tare.measure.audit import Auditor, auditing
from tare.measure.choices import CacheState
from tare.measure.query import Query
from tare.measure.records import Elapsed
from tare.measure.rig import Rig


def percent(rows: Sequence[Row], error: Callable[[Row], float], of: Callable[[Row], float]) -> float:
    return statistics.median(100 * abs(error(r)) / of(r) for r in rows)


def figures(rows: Sequence[Row], rejected: int, taken: int) -> Iterator[Figure]:
    """Cold QEs whose backend reads for itself, by query: what the read-ahead hides is told apart from what it
    does not."""
    for query, _ in QUERIES:
        cold = [
            r
            for r in rows
            if (r.cell.query, r.cell.cache, r.cell.set_up.io_method) == (query, CacheState.COLD, "sync")
        ]
        if not cold:
            continue
        for name, error, of, bar in (
            ("exact CPU", lambda r: r.exact_cpu - r.cpu, lambda r: r.cpu, 5.0),
            ("ticks' CPU", lambda r: r.user_ticks + r.system_ticks - r.cpu, lambda r: r.cpu, math.inf),
            (
                "exact block-I/O wait",
                lambda r: r.exact_block_io - r.waited_any,
                lambda r: max(r.waited_any, 1),
                5.0,
            ),
            ("TTPv2's IO_calc", lambda r: r.ttp2_io - r.waited, lambda r: max(r.waited, 1), math.inf),
        ):
            yield Figure(
                f"{name} against the trace, median error, cold {query}", percent(cold, error, of), "%", bar
            )
    yield Figure("traces rejected", 100 * rejected / taken, "%", 10.0, spread=f"{rejected} of {taken}")


def overhead(queries: Sequence[Query], rows: int, pairs: int) -> Iterator[Figure]:
    """With and without the audit, in an order drawn anew: the wall time of a warm scan, which makes few events,
    and the CPU time of cold look-ups, which make many (their wall time is the disk's)."""
    scan, lookups = queries
    draw = random.Random(1)

    def percent_more(query: Query, cache: CacheState, of: str) -> Iterator[float]:
        for pair in range(-1, pairs):
            took = {on: getattr(elapsed(tare, query, cache, on), of) for on in draw.sample((False, True), 2)}
            if pair >= 0:
                yield 100 * (took[True] / took[False] - 1)

    with loaded("sync", rows) as url, rig(url) as tare:
        for what, more in (
            ("wall time of a warm scan", list(percent_more(scan, CacheState.WARM, "wall_ns"))),
            ("CPU time of cold look-ups", list(percent_more(lookups, CacheState.COLD, "cpu_ns"))),
        ):
            median = statistics.median(more)
            yield Figure(f"the audit's own cost, {what}", median, "%", 5.0, spread=fine(more))


def elapsed(tare: Rig, query: Query, cache: CacheState, audited: bool) -> Elapsed:
    with ExitStack() as stack:
        if audited:
            stack.enter_context(auditing(tare, Auditor()))
        qe = weigh_once(tare, query, cache)
    assert qe.elapsed
    return qe.elapsed


def main() -> None:
    asked = arguments(__doc__ or "", runs=20, rows=400_000, lookups=1_000, pairs=20)
    runs, rows, lookups, pairs = asked.runs, asked.rows, asked.lookups, asked.pairs
    ups, noises = set_ups(), tuple(NOISES)
    if asked.small:
        runs, rows, lookups, pairs, ups, noises = 2, 60_000, 200, 2, ups[:1], ("none", "both")
    queries = [Query(name, sql.format(rows=rows, lookups=lookups)) for name, sql in QUERIES]
    everything: list[Row] = []
    taken = rejected = 0
    with tempfile.NamedTemporaryFile() as file:  # beside the server's own files
        Path(file.name).write_bytes(os.urandom(1 << 20) * 64)
        os.sync()
        for set_up in ups:
            done = weigh(set_up, queries, noises, runs, rows, file.name)
            everything += done.rows
            taken += sum(done.taken.values())
            rejected += sum(map(len, done.rejected.values()))
            if not asked.json:
                show(done)
    report([*figures(everything, rejected, taken), *overhead(queries, rows, pairs)], asked.json)


if __name__ == "__main__":
    main()
