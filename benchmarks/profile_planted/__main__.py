"""Is what was planted found? A program of ours in which one source of variance is known, profiled by every backend.

Every function beneath a transaction is watched. A run counts as found where the factor with the highest score is the
planted one: the function, the pair of functions, or the waiting between the tasks of an event server. A pair with a
negative covariance lowers variance and has no high score; there the first of all pairs must be the planted one, and
negative. What the profile says of the planted time is held against what the program measured itself, transaction by
transaction.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median

from benchmarks.common import Figure, arguments, report
from benchmarks.planted.build import PLANTED
from benchmarks.planted.program import SOURCES, Source
from benchmarks.profile_planted.held import Held, held
from benchmarks.profile_planted.profiling import profiled
from benchmarks.profile_ways import BACKENDS, Way, missing

OF_TWENTY = 19
SHARE_OFF = 2.0  # percentage points, half of the runs; the profiler's own cost and the noise of it are in it


def measure(
    backends: Sequence[str], sources: Sequence[Source], seeds: int, seconds: float, folder: Path
) -> Iterator[Held]:
    """Backends and sources take turns."""
    for seed in range(1, seeds + 1):
        for source in sources:
            for name in [*backends[seed % len(backends) :], *backends[: seed % len(backends)]]:
                with tempfile.TemporaryDirectory(dir=folder) as own, Way(name, Path(own)) as way:
                    found, truth = profiled(way, source, seed, seconds)
                one = held(name, source, seed, found, truth)
                if not one.found:
                    print(f"NOT FOUND by {name}, seed {seed}: {source.name}; first: {one.first}", flush=True)
                yield one


def figures(every: Sequence[Held]) -> Iterator[Figure]:
    for name in dict.fromkeys(one.backend for one in every):
        for source in dict.fromkeys(one.source for one in every):
            some = [one for one in every if (one.backend, one.source) == (name, source)]
            found = sum(one.found for one in some)
            bar = math.ceil(OF_TWENTY / 20 * len(some))
            transactions = round(median(one.transactions for one in some))
            yield Figure(
                f"{name}: {source} found as top factor", found, f"of {len(some)}", bar, at_most=False,
                spread=f"{transactions} transactions a run",
            )  # fmt: skip
        own = [one for one in every if one.backend == name and one.share_off is not None]
        yield Figure(
            f"{name}: planted share of variance, off the program's own",
            median(100 * (one.share_off or 0) for one in own),
            "points",
            SHARE_OFF,
            spread=f"{len(own)} runs, largest {max(100 * (one.share_off or 0) for one in own):.3g}",
        )
        yield Figure(
            f"{name}: planted time of a transaction, off the program's own",
            median(one.time_off_ns for one in own) / 1e3,
            "µs",
            math.inf,
            spread=f"median of medians; largest {max(one.time_off_ns for one in own) / 1e3:.3g}",
        )
        yield Figure(
            f"{name}: transactions that do not count",
            100 * max(one.invalid for one in every if one.backend == name),
            "%",
            1.0,
        )


def main() -> None:
    asked = arguments(__doc__ or "", seeds=20, seconds=2, backends=",".join(BACKENDS), sources="")
    wanted = asked.sources.split(",") if asked.sources else [one.name for one in SOURCES]
    sources = [one for one in SOURCES if one.name in wanted]
    seeds, seconds = (1, 0.4) if asked.small else (asked.seeds, float(asked.seconds))
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tare-planted-")))
        names = asked.backends.split(",")
        absent = missing(names, PLANTED, folder)
        for name, why in absent.items():
            print(f"NOT MEASURED: {name}: {why}", flush=True)
        there = [name for name in names if name not in absent]
        every = list(measure(there, sources, seeds, seconds, folder))
    report(list(figures(every)), asked.json)


if __name__ == "__main__":
    main()
