"""What makes the same data, the same run and this report once more."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from tare.workload.oltp.run import Asked, OltpRun

_SETTING = re.compile(r"[a-z_]+=[^\s,;]+")


def commands(run: OltpRun, run_id: int, lab: str) -> Iterator[str]:
    loaded = run.loaded
    data = "".join(f" --option {shlex.quote(one)}" for one in _SETTING.findall(loaded.options))
    yield f"tare bench oltp load {run.workload} --db URL --scale {loaded.scale:g} --seed {loaded.seed}{data}"
    yield f"tare bench oltp run {run.workload} --db URL {' '.join(_run(run.asked))}"
    yield f"tare bench oltp report {run_id} --lab {shlex.quote(lab)} --html oltp.html"


def _run(asked: Asked) -> Iterator[str]:
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
    yield from (f"--option {shlex.quote(f'{name}={value}')}" for name, value in asked.options.items())
    yield f"--isolation {asked.isolation.replace('_', '-')} --tries {asked.tries} --seed {asked.seed}"
