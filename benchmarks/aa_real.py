"""A/A and A/B on a real query: how often `tare compare` errs on this machine, as it is.

One query under two names, and the same query with 5% more rows, each compared many times, runs interleaved in random
order: each pair in a fresh session, or all in one. `benchmarks/aa.py` does the same with simulated noise of known
kinds.
"""

from __future__ import annotations

from benchmarks.aa import FALSE_POSITIVES, FOUND, SLOWDOWN
from benchmarks.common import Figure, arguments, postgresql, report, rig
from tare.measure.arms import Arm
from tare.measure.choices import Blocks, Clocked
from tare.measure.phases import Phases
from tare.measure.query import Query
from tare.measure.records import QE
from tare.measure.rig import Rig
from tare.measure.weigh import Conditions, Weigher
from tare.protocol.compare import Comparison, compare
from tare.protocol.measures import CPU_OF_ALL
from tare.protocol.stop import enough
from tare.protocol.warmup import steady

ROWS = 200  # times 1000: some 7 ms, all CPU and hardly any memory
RUNS = 12  # the default of `tare compare`


class Silent:
    def phase(self, query: Query, what: str) -> None: ...
    def done(self, query: Query, qe: QE) -> None: ...


def query(name: str, rows: int) -> Query:
    product = f"generate_series(1, 1000) AS a, generate_series(1, {rows}) AS b"
    return Query(name, f"SELECT sum((a * b) % 7) FROM {product} /* {name} */")


def compared(opened: Rig, rows: int, blocks: Blocks, seed: int) -> Comparison:
    """Compare `ROWS` with `rows` once, as the command does."""
    pair = [query("a", ROWS), query("b", rows)]
    conditions = Conditions(runs=RUNS, seed=seed, clocked=Clocked.TOTAL)
    weigher = Weigher([Arm("A", opened, Phases())], pair, conditions, steady, Silent())
    weigher.interleaved(enough(CPU_OF_ALL, None, RUNS), 2 * RUNS, blocks)
    samples = [
        [value for qe in weigher.retained(place) if (value := CPU_OF_ALL.read(qe)) is not None]
        for place in (0, 1)
    ]
    return compare(*samples)


def figure(opened: Rig, rows: int, blocks: Blocks, comparisons: int) -> Figure:
    """Share of comparisons that call the two different."""
    truth = rows / ROWS
    found = [compared(opened, rows, blocks, seed) for seed in range(comparisons)]
    different = sum(one.verdict == "different" for one in found)
    intervals = [one.ratio.ci95 for one in found if one.ratio and one.ratio.ci95]
    outside = sum(not interval.low <= truth <= interval.high for interval in intervals)
    name = "A/A called different" if rows == ROWS else "+5% found"
    shared = "a session a pair" if blocks is Blocks.SESSION else "one session"
    return Figure(
        f"{name}, {shared}, of {comparisons} comparisons of {RUNS} runs each",
        100 * different / comparisons,
        "%",
        100 * (FALSE_POSITIVES if rows == ROWS else FOUND),
        at_most=rows == ROWS,
        spread=f"true ratio outside the 95% interval: {100 * outside / comparisons:.1f}%",
    )


def main() -> None:
    asked = arguments(__doc__ or "", comparisons=200)
    comparisons = 1 if asked.small else asked.comparisons
    with postgresql() as url, rig(url) as opened:
        figures = [
            figure(opened, rows, blocks, comparisons)
            for blocks in (Blocks.SESSION, Blocks.RUN)
            for rows in (ROWS, round(SLOWDOWN * ROWS))
        ]
    report(figures, asked.json)


if __name__ == "__main__":
    main()
