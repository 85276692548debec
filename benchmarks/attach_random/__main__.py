"""Does a random program compute the same while `tare profile attach` watches its functions?

Each program follows from its seed, as do its compiler and flags. It runs while all of its functions or 20 of them are
watched, and prints the number of its rounds and a checksum of all that it computed. Then it runs as many rounds by
itself. A program that is harmed dies or prints another checksum.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks.attach_random.trial import Outcome, measure
from benchmarks.common import Figure, arguments, report
from benchmarks.page import put, table
from benchmarks.planted.build import NotBuilt
from tare.cli.profile_call import SERVER_ENDED

SMALL = 1
"""Programs of the small form."""
LEAST_WATCHED = 95.0
"""Percent of the functions: a program of which few are watched shows nothing."""
HEADER = ("build", "programs", "equal", "functions named", "watched", "refused", "left out", "`tare` failed")


def tables(outcomes: Sequence[Outcome]) -> str:
    """Sums by compiler and level of optimization; the reasons why functions are not watched."""
    groups: dict[str, list[Outcome]] = {}
    reasons: Counter[str] = Counter()
    for one in outcomes:
        groups.setdefault(" ".join(one.build.split()[:2]), []).append(one)
        reasons.update(one.refused)
    made = table(HEADER, [line(build, some) for build, some in sorted(groups.items())])
    refused = [(why, f"{number:,}") for why, number in reasons.most_common()]
    return f"{made}\n\n{table(('reason for a refusal', 'functions'), refused)}" if refused else made


def line(build: str, some: Sequence[Outcome]) -> list[str]:
    equal, failed = (
        sum(one.is_equal for one in some),
        sum(one.exit_code not in (0, SERVER_ENDED) for one in some),
    )
    named, probed = sum(one.named for one in some), sum(one.probed for one in some)
    refused, left_out = sum(sum(one.refused.values()) for one in some), sum(one.left_out for one in some)
    return [build, *(f"{n:,}" for n in (len(some), equal, named, probed, refused, left_out, failed))]


def figures(outcomes: Sequence[Outcome]) -> Iterator[Figure]:
    programs, held = len(outcomes), sum(one.holds for one in outcomes)
    yield Figure(
        "programs that compute the same while watched", held, f"of {programs}", programs, at_most=False
    )
    probed, named = sum(one.probed for one in outcomes), sum(one.named for one in outcomes)
    watched = 100 * probed / named if named else 0.0
    yield Figure(
        "functions watched", watched, "%", LEAST_WATCHED, at_most=False, spread=f"{probed:,} of {named:,}"
    )


def main() -> None:
    files = ("markdown", "results")
    request = arguments(__doc__ or "", files=files, programs=200, seed=1, duration="4s")
    if os.geteuid() != 0:
        raise SystemExit("attaching needs root: sudo -E python -m benchmarks.attach_random")
    outcomes = []
    with tempfile.TemporaryDirectory(prefix="tare-random-") as name:
        for seed in range(request.seed, request.seed + (SMALL if request.small else request.programs)):
            try:
                outcomes.append(measure(seed, request.duration, Path(name)))
            except NotBuilt as missing:
                print(f"NOT MEASURED: {missing}", file=sys.stderr, flush=True)
                continue
            print(outcomes[-1], file=sys.stderr, flush=True)
    if request.results:
        kept = json.loads(request.results.read_text()) if request.results.exists() else []
        outcomes = list({one.seed: one for one in (*(Outcome(**one) for one in kept), *outcomes)}.values())
        request.results.write_text(json.dumps([asdict(one) for one in outcomes], indent=1) + "\n")
    if request.markdown:
        put(request.markdown, tables(outcomes))
    if not request.json:
        print(tables(outcomes), end="\n\n")
    report(list(figures(outcomes)), request.json)


if __name__ == "__main__":
    main()
