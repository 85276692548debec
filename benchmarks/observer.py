"""The observer effect: a warm query of about 100 ms with and without Tare's instruments, paired.

Both halves of a pair run the same prepared statement on the same backend; the
order within a pair is drawn. What is compared is what the user would see: the
time from sending the statement to holding its result. Both are preceded by the same EXPLAIN.
"""

from __future__ import annotations

import random
import statistics
import time

from benchmarks.common import Figure, arguments, postgresql, quartiles, report, rig, weigh_once
from tare.measure.query import Query

# All CPU and hardly any memory: a host that gives and takes a guest's pages has nothing to do here.
QUERY = Query(
    "product", "SELECT sum((a * b) % 7) FROM generate_series(1, 1000) AS a, generate_series(1, 2700) AS b"
)


def main() -> None:
    asked = arguments(__doc__ or "", pairs=200)
    pairs = 6 if asked.small else asked.pairs
    draw = random.Random(1)
    ratios, bare_ms, own_cpu, own_rss = [], [], [], 0
    with postgresql() as url, rig(url) as tare:

        def bare() -> float:
            prepared = tare.prepared(QUERY.sql)
            tare.detach()
            time.sleep(0.02)  # the kernel has just patched its trace points away
            tare.plan(QUERY.sql)  # what a weighed run is preceded by
            start = time.monotonic_ns()
            prepared.execute(None)
            took = time.monotonic_ns() - start
            tare.attach()
            return took / 1e6

        def weighed() -> float:
            nonlocal own_rss
            qe = weigh_once(tare, QUERY)
            assert qe.elapsed
            assert qe.own
            assert (qe.row_count, qe.error) == (1, None)
            own_cpu.append(qe.own.cpu_ns / 1e6)
            own_rss = qe.own.rss_bytes
            return qe.elapsed.wall_ns / 1e6

        for pair in range(-3, pairs):
            halves = [("bare", bare), ("weighed", weighed)]
            draw.shuffle(halves)
            took = {name: run() for name, run in halves}
            if pair >= 0:  # the first three warm the backend up
                ratios.append(took["weighed"] / took["bare"])
                bare_ms.append(took["bare"])
        tier = tare.probe.tier
    median = statistics.median(ratios)
    report(
        [
            Figure(
                f"observer effect on a {statistics.median(bare_ms):.0f} ms query, |ratio − 1| ({tier} tier)",
                100 * abs(median - 1),
                "%",
                1.0,
                spread=f"ratio {quartiles(ratios)}; own CPU {statistics.median(own_cpu):.2g} ms a QE, "
                f"{own_rss / 2**20:.0f} MB resident",
            )
        ],
        asked.json,
    )


if __name__ == "__main__":
    main()
