"""Charts of messages between nodes: savings by window, distributions of gaps and sizes, and destinations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tare.protocol.traffic import WINDOWS_MS, Count, destination_shares
from tare.report.charts.axes import around, time_axis
from tare.report.charts.chart import MOST_MARKS, Chart, NoChart, Row
from tare.report.charts.theme import BLUE, NUMBER, PALETTE, choice, spec

SECTION = "messages"
MOST_LINES = len(PALETTE)
"""Lines of one chart, each in a colour of its own."""

_MOST_STEPS = 40
_LEAST = 1e-3
"""Least value on a logarithmic scale: times below 1 µs stand at it."""

_SHARE = {"format": ".0~%", "tickCount": 5}

Samples = Mapping[str, Mapping[str, NDArray[np.float64]]]
"""Values by query, and within it by line."""


def window_chart(curves: Mapping[str, Sequence[float]], bounds: Mapping[str, float]) -> Chart | NoChart:
    """Share of messages saved, by window (ms). `bounds`: shares saved with unlimited time, by query."""
    title = "Messages saved by waiting for equal ones"
    if not curves:
        return NoChart(title, "no messages went between hosts", SECTION)
    shown = sorted(curves, key=lambda query: -bounds[query])[:MOST_LINES]
    rows: list[Row] = [
        {"query": query, "window": window, "saved": saved, "bound": bounds[query]}
        for query in shown
        for window, saved in zip(WINDOWS_MS, curves[query], strict=True)
    ]
    colour = _colour("query", [query for query in curves if query in shown])
    x = {
        "field": "window",
        "type": "quantitative",
        "title": "window after the first message (log)",
        "scale": {"type": "log", "domain": [WINDOWS_MS[0], WINDOWS_MS[-1]], "nice": False},
        "axis": time_axis(10),
    }
    y = {"field": "saved", "type": "quantitative", "title": "share of messages saved", "axis": _SHARE}
    most = f" Shown are the {len(shown)} queries with the largest bound." if len(shown) < len(curves) else ""
    return Chart(
        name="message-windows",
        title=title,
        caption="Solid: share saved if each message waits for equal ones to other receivers. Dashed: bound without "
        f"a limit of time.{most}",
        spec=spec(
            260,
            data={"name": "message-windows"},
            layer=[
                {
                    "mark": {"type": "line", "strokeDash": [4, 3], "opacity": 0.6},
                    "encoding": {"x": x, "y": {**y, "field": "bound"}, "color": colour},
                },
                {
                    "mark": {"type": "line", "point": True},
                    "encoding": {
                        "x": x,
                        "y": y,
                        "color": colour,
                        "tooltip": [
                            {"field": "query"},
                            {"field": "window", "title": "window, ms"},
                            {"field": "saved", "format": ".1%"},
                            {"field": "bound", "format": ".1%"},
                        ],
                    },
                },
            ],
        ),
        data={"message-windows": rows},
        marks=2 * len(rows),
        alt=f"Savings of {len(shown)} queries over windows from 0.1 to 100 ms; they stand in the table below.",
        section=SECTION,
    )


def gap_chart(gaps_ms: Mapping[str, NDArray[np.float64]]) -> Chart | NoChart:
    """Distribution of the time between copies of a content, by query."""
    copies = {query: gaps for query, gaps in gaps_ms.items() if gaps.size}
    shown = sorted(copies, key=lambda query: -copies[query].size)[:MOST_LINES]
    return _distribution(
        "message-copies",
        "Time between equal messages to different receivers",
        "Share of the copies that follow the one before within this time: a window must be as long to catch them.",
        {"": {query: copies[query] for query in copies if query in shown}},
        "query",
        {"title": "time since the copy before (log)", "axis": time_axis(8)},
        counted="copies",
    )


def injection_chart(gaps_ms: Samples) -> Chart | NoChart:
    """Distribution of the time between messages of a sender."""
    return _distribution(
        "message-gaps",
        "Time between messages of a sender",
        "Share of messages that follow the sender's message before within this time.",
        gaps_ms,
        "sender",
        {"title": "time since the message before (log)", "axis": time_axis(8)},
    )


def size_chart(sizes: Samples) -> Chart | NoChart:
    """Distribution of the lengths of messages, by sender."""
    return _distribution(
        "message-sizes",
        "Sizes of messages",
        "Share of messages that are no longer than this. A steep step is a length that many messages have.",
        sizes,
        "sender",
        {"title": "size, B (log)", "axis": {"format": NUMBER, "tickCount": 8, "labelOverlap": "greedy"}},
    )


def _distribution(
    name: str,
    title: str,
    caption: str,
    samples: Samples,
    line: str,
    x: Mapping[str, Any],
    counted: str = "messages",
) -> Chart | NoChart:
    queries = [query for query, lines in samples.items() if any(values.size for values in lines.values())]
    if not queries:
        return NoChart(title, "there are no such messages", SECTION)
    names = list(dict.fromkeys(one for query in queries for one in samples[query]))
    number = sum(len(samples[query]) for query in queries)
    steps = max(5, min(_MOST_STEPS, MOST_MARKS // number - 1))
    rows: list[Row] = [
        {"page": query, line: one, "value": value, "share": share}
        for query in queries
        for one, values in samples[query].items()
        for value, share in _steps(values, steps)
    ]
    low, high = around([row["value"] for row in rows])
    choosing = len(queries) > 1
    return Chart(
        name=name,
        title=title,
        caption=caption,
        spec=spec(
            230,
            params=[choice("query", "Query", queries, queries[0])] if choosing else [],
            data={"name": name},
            transform=[{"filter": "datum.page === query"}] if choosing else [],
            mark={"type": "line", "interpolate": "step-after"},
            encoding={
                "x": {
                    "field": "value",
                    "type": "quantitative",
                    "scale": {"type": "log", "domain": [low, high], "nice": False, "clamp": True},
                    **x,
                },
                "y": {
                    "field": "share",
                    "type": "quantitative",
                    "title": f"share of {counted}",
                    "scale": {"domain": [0, 1]},
                    "axis": _SHARE,
                },
                "color": _colour(line, names),
            },
        ),
        data={name: rows},
        marks=len(rows),
        alt=f"Cumulative distribution for each {line}; its main figures stand in a table below.",
        section=SECTION,
    )


def _steps(values: NDArray[np.float64], steps: int) -> list[tuple[float, float]]:
    """Values at even shares of the distribution, from its least value to its greatest."""
    if not values.size:
        return []
    shares = np.linspace(0, 1, steps + 1)
    quantiles = np.maximum(np.quantile(values, shares, method="inverted_cdf"), _LEAST)
    return list(zip(quantiles.tolist(), shares.tolist(), strict=True))


def destination_chart(matrices: Mapping[str, Mapping[tuple[str, str], Count]]) -> Chart | NoChart:
    """Share of each sender's messages that goes to each receiver, by query."""
    title = "Destinations of each sender's messages"
    rows: list[Row] = []
    for query, matrix in matrices.items():
        shares = destination_shares(matrix)
        rows += [
            {
                "query": query,
                "sender": sender,
                "receiver": receiver,
                "share": shares[sender][receiver],
                "bytes": count.bytes,
            }
            for (sender, receiver), count in matrix.items()
        ]
    if not rows:
        return NoChart(title, "no messages went between hosts", SECTION)
    if 2 * len(rows) > MOST_MARKS:
        return NoChart(title, f"{len(rows)} pairs of nodes are too many to draw", SECTION)
    queries = list(dict.fromkeys(row["query"] for row in rows))
    senders = sorted({row["sender"] for row in rows})
    x = {"field": "receiver", "type": "nominal", "title": "receiver", "axis": {"labelAngle": 0}}
    y = {"field": "sender", "type": "nominal", "title": "sender"}
    choosing = len(queries) > 1
    return Chart(
        name="message-destinations",
        title=title,
        caption="Each row adds up to 100%. Equal shares are those of all-to-all exchanges.",
        spec=spec(
            36 * len(senders) + 20,
            params=[choice("query", "Query", queries, queries[0])] if choosing else [],
            data={"name": "message-destinations"},
            transform=[{"filter": "datum.query === query"}] if choosing else [],
            layer=[
                {
                    "mark": {"type": "rect", "color": BLUE},
                    "encoding": {
                        "x": x,
                        "y": y,
                        "opacity": {
                            "field": "share",
                            "type": "quantitative",
                            "scale": {"domain": [0, 1], "range": [0.05, 0.8]},
                            "legend": None,
                        },
                        "tooltip": [
                            {"field": "sender"},
                            {"field": "receiver"},
                            {"field": "share", "format": ".1%"},
                            {"field": "bytes", "format": ","},
                        ],
                    },
                },
                {
                    "mark": {"type": "text"},
                    "encoding": {
                        "x": x,
                        "y": y,
                        "text": {"field": "share", "type": "quantitative", "format": ".0%"},
                    },
                },
            ],
        ),
        data={"message-destinations": rows},
        marks=2 * len(rows),
        alt=f"Shares of messages from {len(senders)} senders to their receivers; they stand in a table below.",
        section=SECTION,
    )


def _colour(field: str, names: Sequence[str]) -> dict[str, Any]:
    return {
        "field": field,
        "type": "nominal",
        "title": None,
        "scale": {"domain": list(names), "range": [PALETTE[at % len(PALETTE)] for at in range(len(names))]},
    }
