"""Steps of a curve as a queue would have them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tare.dbms.base import Server
from tare.protocol.oltp.limit import Limit
from tare.report.oltp.curve.build import Built, Taken, build
from tare.workload.oltp.run import CurveStep, OltpRun
from tare.workload.oltp.verdict import Unstarted
from tests.unit.report.oltp import sample

CURVE = "5f0a4b1e-0000-4d8e-8a26-0d6b5f6b7c11"
OTHER = Server("mariadb", "11.8.1", {}, "mariadb://root@127.0.0.1:3306/tpcc", local=True)
SECONDS = 12


def step(number: int, rate: float, *, arm: int = 0, slower: float = 1.0, over: bool = False) -> OltpRun:
    """`over`: a part of the transactions was never started."""
    run = sample.run(
        uuid=f"{number:08x}-9a55-4d8e-8a26-0d6b5f6b7c11",
        seed=number,
        rates=(rate,),
        seconds=SECONDS,
        slower=slower,
        stall=None,
        before=(),
        after=(),
    )
    if arm:
        run = replace(run, server=OTHER, url=OTHER.url)
    outcome = run.outcome
    if over:
        counts = outcome.all.counts.model_copy(update={"unstarted": 500})
        outcome = outcome.model_copy(
            update={
                "all": outcome.all.model_copy(update={"counts": counts}),
                "invalid": (Unstarted(count=500, offered=counts.offered, drain_ns=0),),
            }
        )
    mark = CurveStep(CURVE, number, arm, "p99", 40.0)
    return replace(run, outcome=outcome, asked=replace(run.asked, step=mark, arrivals="poisson"))


def runs(arms: int = 1) -> list[tuple[int, OltpRun]]:
    """Four rates, twice each, the highest over capacity and the one before it above a p99 of 40 ms."""
    order = (200.0, 100.0, 400.0, 300.0, 300.0, 400.0, 100.0, 200.0)
    steps = [
        step(place * arms + arm + 1, rate, arm=arm, slower=1.0 if rate < 300 else 3.0, over=rate == 400)
        for place, rate in enumerate(order)
        for arm in range(arms)
    ]
    return [(run.asked.step.number + 2, run) for run in steps if run.asked.step is not None]


def curve(
    arms: int = 1, *, limit: Limit | None = None, failures: Sequence[tuple[int, float, str]] = ()
) -> Built:
    return build(Taken(runs(arms), limit, failures=failures), lab="lab.db")
