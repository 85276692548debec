"""OpenMetrics text 1.0, for a gateway or a collector of files: gauges in base units, with the ends of intervals."""

from __future__ import annotations

from collections.abc import Iterator

from tare.report.ci.readings import EXPORTED, Exported, Reading, readings, title
from tare.report.result import RunResult

_UNITS = {"ms": ("seconds", 1e-3), "bytes": ("bytes", 1.0)}


def render(result: RunResult) -> str:
    found = list(readings(result))
    lines = [
        line
        for exported in EXPORTED
        for line in _family(exported, [reading for reading in found if reading.exported is exported])
    ]
    lines += _ratios(result)
    return "\n".join([*lines, "# EOF"]) + "\n"


def _family(exported: Exported, found: list[Reading]) -> Iterator[str]:
    if not found:
        return
    unit, factor = _UNITS.get(found[0].measure.unit, ("", 1.0))
    name = "_".join(
        ["tare", exported.slug.replace("-bytes", "").replace("-", "_"), *([unit] if unit else [])]
    )
    yield f"# TYPE {name} gauge"
    if unit:
        yield f"# UNIT {name} {unit}"
    label = exported.label[0].upper() + exported.label[1:]
    yield f"# HELP {name} {label} of an execution: median over runs and its 95% interval."
    for reading in found:
        labels = {"query": reading.query, "side": reading.side}
        yield from _samples(name, labels, reading.median, reading.measure.ci95, factor)


def _ratios(result: RunResult) -> Iterator[str]:
    pairs = [(pair, ratio) for pair in result.pairs if (ratio := pair.measures[pair.primary].ratio)]
    if not pairs:
        return
    yield "# TYPE tare_b_over_a gauge"
    yield "# HELP tare_b_over_a Ratio of B to A in the measure of the verdict, and its 95% interval."
    for pair, ratio in pairs:
        labels: dict[str, str | None] = {"query": title(pair), "measure": pair.primary}
        yield from _samples("tare_b_over_a", labels, ratio.estimate, ratio.ci95, 1.0)


def _samples(
    name: str, labels: dict[str, str | None], value: float, bounds: tuple[float, float] | None, factor: float
) -> Iterator[str]:
    figures = {"median": value} | ({} if bounds is None else {"low": bounds[0], "high": bounds[1]})
    for figure, number in figures.items():
        given = {key: text for key, text in {**labels, "figure": figure}.items() if text is not None}
        inside = ",".join(f'{key}="{_escaped(text)}"' for key, text in given.items())
        yield f"{name}{{{inside}}} {number * factor!r}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
