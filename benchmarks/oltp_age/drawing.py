"""Fig. 8's counterpart: how often which age met which remaining time, a panel a type."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.oltp_age.correlation import Numbers

LEAST_MS = 0.1
PER_DECADE = 10
SCALE = 1.2


def draw(panels: Mapping[str, tuple[Numbers, Numbers]], to: Path) -> None:
    """`panels`: ages and remaining times in ms, by title. A PNG; the first cell of a scale has all that is below it."""
    import vl_convert

    most = max(float(np.max(numbers)) for pair in panels.values() for numbers in pair)
    decades = np.log10(most / LEAST_MS)
    edges = LEAST_MS * 10 ** (np.arange(int(np.ceil(decades * PER_DECADE)) + 1) / PER_DECADE)
    rows = [row for title, pair in panels.items() for row in _cells(title, pair, edges)]
    to.write_bytes(vl_convert.vegalite_to_png(_spec(rows, list(panels), [edges[0], edges[-1]]), scale=SCALE))


def _cells(title: str, pair: tuple[Numbers, Numbers], edges: Numbers) -> list[dict[str, Any]]:
    age, remaining = (np.clip(numbers, edges[0], np.nextafter(edges[-1], 0)) for numbers in pair)
    counts, _, _ = np.histogram2d(age, remaining, bins=[edges, edges])
    return [
        {
            "type": title,
            "age": edges[x], "age_to": edges[x + 1], "left": edges[y], "left_to": edges[y + 1],
            "waits": counts[x, y],
        }
        for x, y in zip(*np.nonzero(counts), strict=True)
    ]  # fmt: skip


def _spec(rows: list[dict[str, Any]], titles: list[str], domain: list[float]) -> dict[str, Any]:
    def axis(name: str, title: str) -> dict[str, Any]:
        scale = {"type": "log", "domain": domain}
        return {
            "field": name,
            "type": "quantitative",
            "scale": scale,
            "title": title,
            "axis": {"format": "~g", "tickCount": 4, "grid": False},
        }

    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "data": {"values": rows},
        "background": "white",
        "facet": {"field": "type", "type": "nominal", "title": None, "sort": titles},
        "columns": 2,
        "spec": {
            "width": 200,
            "height": 200,
            "mark": "rect",
            "encoding": {
                "x": axis("age", "age, ms"),
                "x2": {"field": "age_to"},
                "y": axis("left", "remaining, ms"),
                "y2": {"field": "left_to"},
                "color": {
                    "field": "waits", "type": "quantitative", "title": "waits",
                    "scale": {"type": "log", "scheme": "viridis"},
                },
            },
        },
    }  # fmt: skip
