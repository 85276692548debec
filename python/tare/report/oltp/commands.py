"""Commands that make the same data, the same run and this report once more."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping

from tare.lab.ids import oltp_id
from tare.workload.oltp.run import OltpRun

_NORM = 2.0  # unless it is given


def commands(run: OltpRun, run_id: int, lab: str) -> Iterator[str]:
    loaded = run.loaded
    load = " ".join((f"--scale {loaded.scale:.12g} --seed {loaded.seed}", *_options(loaded.settings)))
    yield f"tare bench oltp load {run.workload} --db URL {load}"
    yield f"tare bench oltp run {run.workload} --db URL {' '.join(_run(run))}"
    yield f"tare bench oltp report {oltp_id(run_id)} --lab {shlex.quote(lab)} --html oltp.html"


def _run(run: OltpRun) -> Iterator[str]:
    asked = run.asked
    if asked.trace:
        yield f"--arrivals trace:{shlex.quote(asked.trace.rpartition(' ')[0] or asked.trace)}"
    elif not asked.closed:
        rates = (f"{one.rate:g}:{one.duration_s:g}s" for one in asked.phases if one.rate is not None)
        yield f"--rate {','.join(rates)} --arrivals {asked.arrivals}"
    if asked.closed or asked.trace:
        yield f"--duration {sum(one.duration_s for one in asked.phases):g}s"
    yield f"--connections {asked.connections} --warmup {asked.warmup_s:g}s --drain {asked.drain_s:g}s"
    if asked.shed_after_s is not None:
        yield f"--shed-after {asked.shed_after_s:g}s"
    if asked.mix:
        yield f"--mix {shlex.quote(','.join(f'{name}={share:g}' for name, share in asked.mix.items()))}"
    if asked.think:
        yield f"--think {asked.think:g}"
    yield from _options(asked.options)
    yield f"--isolation {asked.isolation.replace('_', '-')} --tries {asked.tries} --seed {asked.seed}"
    if (norm := run.outcome.all.response.norm) != _NORM:
        yield f"--norm {norm:g}"
    if not (run.before or run.after):
        yield "--no-check"


def _options(options: Mapping[str, str]) -> Iterator[str]:
    return (f"--option {shlex.quote(f'{name}={value}')}" for name, value in options.items())
