"""The JSON that benchmark-action/github-action-benchmark takes for its tool `customSmallerIsBetter`."""

from __future__ import annotations

import json

from tare.report.ci.readings import readings
from tare.report.numbers import significant
from tare.report.result import RunResult


def render(result: RunResult) -> str:
    benchmarks = []
    for reading in readings(result):
        benchmark: dict[str, object] = {
            "name": f"{reading.name}: {reading.exported.label}",
            "unit": reading.measure.unit,
            "value": reading.median,
        }
        if reading.measure.ci95 is not None:
            low, high = reading.measure.ci95
            benchmark["range"] = f"{significant(low)} to {significant(high)}"
        runs = sum(sample is not None for sample in reading.measure.samples)
        benchmark["extra"] = f"median of {runs} runs; range: 95% interval of the median"
        benchmarks.append(benchmark)
    return json.dumps(benchmarks, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
