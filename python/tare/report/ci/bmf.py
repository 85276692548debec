"""Bencher Metric Format: a JSON object of benchmarks, each with measures, each a value with its bounds.

Source: the schema https://bencher.dev/bmf.json. Times are in ns, as Bencher's own measure `latency` is.
"""

from __future__ import annotations

import json

from tare.report.ci.readings import readings, title
from tare.report.result import RunResult

MOST_NAME = 1024
"""Characters of a benchmark's name that Bencher takes."""


def render(result: RunResult) -> str:
    """The ratio B over A is a measure, too: it carries over between machines that are not equally fast."""
    document: dict[str, dict[str, dict[str, float]]] = {}
    for reading in readings(result):
        metric = {"value": reading.in_base_unit(reading.median)}
        if reading.measure.ci95 is not None:
            low, high = map(reading.in_base_unit, reading.measure.ci95)
            metric |= {"lower_value": low, "upper_value": high}
        document.setdefault(reading.name[:MOST_NAME], {})[reading.exported.slug] = metric
    for pair in result.pairs:
        ratio = pair.measures[pair.primary].ratio
        if ratio is not None:
            metric = {"value": ratio.estimate}
            if ratio.ci95 is not None:
                metric |= {"lower_value": ratio.ci95[0], "upper_value": ratio.ci95[1]}
            document.setdefault(title(pair)[:MOST_NAME], {})["b-over-a"] = metric
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
