"""The Go benchmark format, which benchstat reads: a line for each execution, with all of its measures.

Source: golang.org/design/14313-benchmark-format. `benchstat -col /side FILE` sets A against B.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

from tare.report.ci.readings import EXPORTED, Reading, readings
from tare.report.result import RunResult

_UNITS = {
    "latency": "sec/op",
    "cpu": "cpu-sec/op",
    "read-bytes": "read-B/op",
    "instructions": "instructions/op",
}
_FACTORS = {"ms": 1e-3}


def render(result: RunResult) -> str:
    environment = result.environment
    lines = [
        f"dbms: {environment.server.dbms} {environment.server.version}",
        f"cpu: {environment.machine.cpu_model}",
        f"tare: {environment.tare.version}",
        *(f"Unit {_UNITS[exported.slug]} better=lower" for exported in EXPORTED),
    ]
    for name, group in groupby(readings(result), key=_name):
        lines += [f"{name} 1 {values}" for values in _runs(list(group))]
    return "\n".join(lines) + "\n"


def _name(reading: Reading) -> str:
    """Name in the format's syntax: no white space, and keys after slashes."""
    query = re.sub(r"[\s/]+", "_", reading.query) or "_"
    return f"BenchmarkQuery/query={query}" + (f"/side={reading.side}" if reading.side else "")


def _runs(found: list[Reading]) -> Iterator[str]:
    """Values of each execution; a measure that an execution lacks is left out of its line."""
    for number in range(len(found[0].measure.samples)):
        values = [
            f"{sample * _FACTORS.get(reading.measure.unit, 1.0):.9g} {_UNITS[reading.exported.slug]}"
            for reading in found
            if (sample := reading.measure.samples[number]) is not None
        ]
        if values:
            yield " ".join(values)
