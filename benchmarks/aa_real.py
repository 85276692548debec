"""A/A and A/B on a real query: how often `tare compare` errs on this machine, as it is.

One query under two names, and the same query with 5% more rows, each compared many times, runs
interleaved in random order. `benchmarks/aa.py` does the same with simulated noise of known kinds.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from benchmarks.aa import FALSE_POSITIVES, FOUND, SLOWDOWN, compare_often
from benchmarks.common import Figure, arguments, postgresql, report, rig, weigh_once
from tare.measure.query import Query
from tare.measure.rig import Rig
from tare.protocol.measures import CPU_OF_ALL
from tare.protocol.stop import MIN_RUNS

ROWS = 200  # times 1000: some 7 ms, all CPU and hardly any memory


def query(name: str, rows: int) -> Query:
    product = f"generate_series(1, 1000) AS a, generate_series(1, {rows}) AS b"
    return Query(name, f"SELECT sum((a * b) % 7) FROM {product} /* {name} */")


def sampler(tare: Rig, a: Query, b: Query) -> Iterator[tuple[float, float]]:
    """Pairs of total CPU times, ms; the order within each pair is drawn."""
    draw = random.Random(len(a.sql))
    while True:
        pair = [a, b]
        draw.shuffle(pair)
        taken = {one.name: weighed(tare, one) for one in pair}
        yield taken[a.name], taken[b.name]


def weighed(tare: Rig, one: Query) -> float:
    qe = weigh_once(tare, one)
    cpu = CPU_OF_ALL.read(qe)
    assert cpu is not None, qe.error
    return cpu


def main() -> None:
    asked = arguments(__doc__ or "", comparisons=200)
    comparisons = 4 if asked.small else asked.comparisons
    figures = []
    with postgresql() as url, rig(url) as tare:
        for name, rows, bar in (("A/A called different", ROWS, FALSE_POSITIVES), ("+5% found", None, FOUND)):
            a, b = query("a", ROWS), query("b", rows or int(SLOWDOWN * ROWS))
            for _ in range(10):
                weighed(tare, a), weighed(tare, b)
            pairs = sampler(tare, a, b)
            found = compare_often(
                lambda _, pairs=pairs: pairs, comparisons, SLOWDOWN if rows is None else 1.0
            )  # type: ignore[misc]
            figures.append(
                Figure(
                    f"{name}, of {comparisons} comparisons of {MIN_RUNS} runs each",
                    100 * found.tare,
                    "%",
                    100 * bar,
                    at_most=rows is not None,
                    spread=f"Welch {100 * found.welch:.1f}%, Mann–Whitney {100 * found.mann_whitney:.1f}%, "
                    f"watching p {100 * found.watched_p:.1f}%; true ratio outside the 95% interval "
                    f"{100 * found.hidden:.1f}%",
                )
            )
    report(figures, asked.json)


if __name__ == "__main__":
    main()
