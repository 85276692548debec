"""TPC-C loaded and run for a benchmark, through what `tare bench oltp` is made of."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tare.workload.oltp.conditions import carry_out
from tare.workload.oltp.conduct import Conductor
from tare.workload.oltp.request import Closed, Constant, Isolation, Load, Phase, Poisson, Request, Run
from tare.workload.oltp.run import OltpRun
from tare.workload.oltp.told import Told

SEED_OF_DATA = 1
TRIES = 3
DRAIN_S = 10.0


def unheard(_: Told | None) -> None:
    pass


def load(url: str, warehouses: int) -> None:
    carry_out(_request(url, Load(connections=2, replace=True), SEED_OF_DATA, warehouses), unheard)


def send(
    url: str,
    *,
    arrivals: Closed | Constant | Poisson,
    rate: float | None,
    connections: int,
    seconds: int,
    warmup: int,
    seed: int,
    mix: Mapping[str, float] | None = None,
    options: Mapping[str, str] | None = None,
    samples: Path | None = None,
    check: bool = True,
) -> OltpRun:
    """Read committed, three tries. `samples`: the driver's own records, `tare.workload.oltp.samples.RECORD`."""
    action = Run(
        connections=connections,
        arrivals=arrivals,
        phases=(Phase(rate=rate, duration_s=seconds),),
        warmup_s=warmup,
        drain_s=DRAIN_S,
        shed_after_s=None,
        mix=dict(mix or {}),
        isolation=Isolation.READ_COMMITTED,
        tries=TRIES,
        think=0.0,
        norm=2.0,
        samples=str(samples) if samples else None,
    )
    return Conductor(_request(url, action, seed, None, options), unheard, checks=check).run()


def conditions(run: OltpRun, load_before: float) -> str:
    """The machine of a run, in a sentence, with its warehouses and the load before the first run."""
    machine = run.machine
    return (
        f"{machine.usable_cpus} CPUs ({machine.cpu_model}), Linux {machine.kernel}; "
        f"{run.loaded.scale:g} warehouse{'' if run.loaded.scale == 1 else 's'}; "
        f"load average before the first run {load_before:.2f}."
    )


def _request(
    url: str, action: Load | Run, seed: int, scale: float | None, options: Mapping[str, str] | None = None
) -> Request:
    return Request(
        url=url,
        workload="tpcc",
        scale=scale,
        options=dict(options or {}),
        seed=seed,
        connect_timeout_s=10.0,
        action=action,
    )
