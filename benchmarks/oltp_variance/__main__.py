"""How far apart are the mean and the 99th percentile of a DBMS as it comes? TPC-C at a constant rate.

The paper's Appendix C.1 and Fig. 6, on PostgreSQL 18 and 15 and MariaDB at their default settings: the whole mix, then
New-Order alone with fifteen lines each. DBMSes take turns; only the one that is measured runs, so that nobody's
checkpoint falls into another's minute. All runs stay in the lab (`--lab`, by default `target/oltp-variance.db`);
`--markdown docs/oltp-variance.md` puts the tables into that page.
"""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from benchmarks.common import Figure, arguments
from benchmarks.oltp_runs import load, send
from benchmarks.oltp_variance.runs import MARIADB, NAMES, WORKS, Done
from benchmarks.oltp_variance.tables import cells, of, page, spread, valid
from benchmarks.page import publish
from tare.dbms.servers import RunningServer, start_mariadb, start_postgresql
from tare.lab import oltp as runs
from tare.lab.store import open_lab
from tare.workload.oltp.distribution import merge
from tare.workload.oltp.request import Constant

LAB = Path("target/oltp-variance.db")


def start(name: str, directory: Path) -> RunningServer:
    """At its own settings; `tare server` says which few differ."""
    if name == MARIADB:
        return start_mariadb(directory)
    return start_postgresql(directory, version=name.rpartition(" ")[2])


def measure(
    names: Sequence[str], lab: Path, *, warehouses: int, rate: int, connections: int, seconds: int, warmup: int,
    rounds: int,
) -> Iterator[Done]:  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="tare-oltp-") as name, open_lab(str(lab), create=True) as kept:
        folder = Path(name)
        folder.chmod(0o755)  # root's servers run as an ordinary user
        for dbms in names:
            with start(dbms, folder / dbms.replace(" ", "-")) as server:
                load(server.url, warehouses)
        for turn in range(rounds):
            for work in WORKS:
                for dbms in [*names[turn % len(names) :], *names[: turn % len(names)]]:
                    with start(dbms, folder / dbms.replace(" ", "-")) as server:
                        run = send(
                            server.url, arrivals=Constant(), rate=rate, connections=connections, seconds=seconds,
                            warmup=warmup, seed=turn + 1, mix=work.mix, options=work.options,
                        )  # fmt: skip
                    runs.record(kept, run)
                    yield Done(dbms, work, turn, run)


def figures(all_: Sequence[Done]) -> Iterator[Figure]:
    for work, dbms, some in cells(all_):
        if not valid(some):
            continue
        *_, cv, far = spread(merge(of(one, "response") for one in valid(some)))
        yield Figure(f"{dbms}, {work.name}: sd/mean", cv, "", math.inf)
        yield Figure(f"{dbms}, {work.name}: p99/mean", far, "", math.inf)
    yield Figure(
        "runs that are not valid",
        sum(bool(one.run.invalid) for one in all_),
        "",
        0.0,
        spread=f"of {len(all_)}",
    )


def main() -> None:
    asked = arguments(
        __doc__ or "",
        files=("lab", "markdown"),
        warehouses=4,
        rate=200,
        connections=32,
        seconds=60,
        warmup=15,
        rounds=3,
    )
    how = {
        name: getattr(asked, name)
        for name in ("warehouses", "rate", "connections", "seconds", "warmup", "rounds")
    }
    names: tuple[str, ...] = NAMES
    load_before = os.getloadavg()[0]
    with ExitStack() as stack:
        lab = asked.lab or LAB
        if asked.small:
            names, how = (
                NAMES[:1],
                {"warehouses": 1, "rate": 50, "connections": 4, "seconds": 3, "warmup": 1, "rounds": 1},
            )
            lab = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "lab.db"
        lab.parent.mkdir(parents=True, exist_ok=True)
        all_ = list(measure(names, lab, **how))
    words = (
        f"{how['rate']} transactions a second, evenly spaced, {how['connections']} connections, "
        f"{how['rounds']} rounds of {how['seconds']} s after {how['warmup']} s of warm-up; read committed."
    )
    made = page(all_, load_before, words)
    publish(asked, made, list(figures(all_)))


if __name__ == "__main__":
    main()
