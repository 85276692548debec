"""TPC-C's twelve conditions: how long before and after a run, and is every planted corruption found and named?"""

from __future__ import annotations

from benchmarks.common import Figure, arguments, report
from benchmarks.oltp_common import DBMSES, closed, conditions, empty, load, send
from benchmarks.oltp_corruption import named, plant
from tare.workload.oltp.conditions import Conditions

BAR_S = 10.0
RUN_CONNECTIONS = {"postgresql": 8, "mariadb": 8, "sqlite": 1}
SMALL = ("sqlite",)


def main() -> None:
    asked = arguments(__doc__ or "", warehouses=4, seconds=30, db="")
    warehouses, seconds = (1, 1) if asked.small else (asked.warehouses, asked.seconds)
    names = (asked.db,) if asked.db else SMALL if asked.small else DBMSES
    report([figure for name in names for figure in measure(name, warehouses, seconds)], asked.json)


def measure(dbms: str, warehouses: int, seconds: int) -> list[Figure]:
    with empty(dbms) as url:
        load(url, warehouses)
        before = _holds(conditions(url), f"{dbms}, before the run")
        run = send(url, closed(RUN_CONNECTIONS[dbms], seconds, 0.0))
        after = _holds(conditions(url), f"{dbms}, after the run")
        planted = plant(url)
        found = [one for one in conditions(url).checked if named(one, planted[one.name])]
    what = f"{dbms}: the twelve conditions, warehouses {warehouses}"
    return [
        Figure(f"{what}, before a run", before.took_ns / 1e9, "s", BAR_S, spread=_slowest(before)),
        Figure(
            f"{what}, after a run",
            after.took_ns / 1e9,
            "s",
            BAR_S,
            spread=f"{run.all.counts.committed:,} transactions; {_slowest(after)}",
        ),
        Figure(
            f"{dbms}: conditions that name what was planted against them, all of it and nothing else",
            len(found),
            "",
            len(planted),
            at_most=False,
        ),
    ]


def _holds(found: Conditions, when: str) -> Conditions:
    assert len(found.checked) == 12, f"{when}: {len(found.checked)} conditions"
    assert not found.failing, f"{when}: {[(one.name, one.rows) for one in found.failing]}"
    return found


def _slowest(found: Conditions) -> str:
    slowest = sorted(found.checked, key=lambda one: one.took_ns, reverse=True)[:3]
    return "slowest " + ", ".join(f"{one.name} {one.took_ns / 1e9:.2g} s" for one in slowest)


if __name__ == "__main__":
    main()
