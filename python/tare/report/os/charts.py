"""Charts of an observation: what each query's time goes to, and Figure 2: sizes of reads and gaps between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tare.os.record import Histogram
from tare.report.charts.chart import Chart, NoChart, Row
from tare.report.charts.theme import BLUE, GOLD, GREEN, GREY, ORANGE, PALETTE, RED, choice, spec
from tare.report.numbers import bytes_text, ms_text, percent
from tare.report.os.document import DiskReport, OsReport, Resource
from tare.report.os.sentences import place

_COLOURS = {
    Resource.USER: BLUE,
    Resource.SYSTEM: ORANGE,
    Resource.CPU: BLUE,
    Resource.RUN_QUEUE: GOLD,
    Resource.DISK: RED,
    Resource.SLEEP: GREY,
    Resource.WAIT: GREEN,
}
_RESOURCES_TITLE = "Time of each query by resource"
_SIZES_TITLE = "Figure 2: sizes of reads from disk"
_GAPS_TITLE = "Figure 2: time between successive reads"
_BAR = 26  # pixels of a query


# Resources -------------------------------------------------------------------------------
def resource_charts(report: OsReport) -> list[Chart | NoChart]:
    rows: list[Row] = [
        {
            "query": query.name,
            "resource": resource.value,
            "order": at,
            "share": share,
            "shown": percent(share),
        }
        for query in report.queries
        if query.bottleneck is not None
        for at, resource in enumerate(_COLOURS)
        if (share := query.bottleneck.shares.get(resource)) is not None
    ]
    if not rows:
        return [NoChart(_RESOURCES_TITLE, "no role was observed whole", "time")]
    names = [query.name for query in report.queries if query.bottleneck is not None]
    there = [resource for resource in _COLOURS if resource.value in {row["resource"] for row in rows}]
    return [
        Chart(
            name="resources",
            title=_RESOURCES_TITLE,
            caption="The critical role of each query, the one that was active for longest: shares of the wall time, or "
            "of its active time where that is longer.",
            spec=spec(
                _BAR * len(names) + 10,
                data={"name": "os-resources"},
                mark={"type": "bar"},
                encoding={
                    "y": {"field": "query", "type": "nominal", "title": None, "scale": {"domain": names}},
                    "x": {
                        "field": "share",
                        "type": "quantitative",
                        "title": "share of the time",
                        "scale": {"domain": [0, 1]},
                        "axis": {"format": "%", "tickCount": 10},
                    },
                    "order": {"field": "order", "type": "quantitative"},
                    "color": {
                        "field": "resource",
                        "type": "nominal",
                        "title": None,
                        "scale": {
                            "domain": [resource.value for resource in there],
                            "range": [_COLOURS[resource] for resource in there],
                        },
                    },
                    "tooltip": [
                        {"field": "query"},
                        {"field": "resource"},
                        {"field": "shown", "title": "share"},
                    ],
                },
            ),
            data={"os-resources": rows},
            marks=len(rows),
            alt=f"Stacked bars of {len(names)} queries; the bottlenecks are named above.",
            section="time",
        )
    ]


# Figure 2 --------------------------------------------------------------------------------
def request_charts(report: OsReport) -> list[Chart | NoChart]:
    return [
        _histogram(report, "sizes", _SIZES_TITLE, "size of a read"),
        _histogram(report, "gaps", _GAPS_TITLE, "time since the role's read before"),
    ]


def _histogram(report: OsReport, which: str, title: str, axis: str) -> Chart | NoChart:
    rows = list(_rows(report, which))
    if not rows:
        return NoChart(title, "no read from disk was observed", "disk")
    queries = list(dict.fromkeys(row["query"] for row in rows))
    roles = list(dict.fromkeys(row["role"] for row in rows))
    exponents = [row["exponent"] for row in rows]
    bins = [_bin(exponent, which) for exponent in range(min(exponents), max(exponents) + 1)]
    return Chart(
        name=which,
        title=title,
        caption="Reads by role, in bins of powers of two; each bar begins at the size or time below it.",
        spec=spec(
            240,
            params=[choice("query", "Query", queries, queries[0])],
            data={"name": f"os-{which}"},
            transform=[{"filter": "datum.query === query"}],
            mark={"type": "bar"},
            encoding={
                "x": {
                    "field": "bin",
                    "type": "ordinal",
                    "title": axis,
                    "sort": None,
                    "scale": {"domain": bins},
                    "axis": {"labelAngle": -40},
                },
                "xOffset": {"field": "role", "type": "nominal", "scale": {"domain": roles}},
                "y": {"field": "count", "type": "quantitative", "title": "reads"},
                "color": {
                    "field": "role",
                    "type": "nominal",
                    "title": None,
                    "scale": {
                        "domain": roles,
                        "range": [PALETTE[at % len(PALETTE)] for at in range(len(roles))],
                    },
                },
                "tooltip": [{"field": field} for field in ("query", "role", "bin", "count")],
            },
        ),
        data={f"os-{which}": rows},
        marks=len(rows),
        alt=f"Bars of {len(roles)} roles under {len(queries)} queries; means stand in the table above.",
        section="disk",
    )


def _rows(report: OsReport, which: str) -> Iterator[Row]:
    for query in report.queries:
        for role in query.roles:
            if role.disk is None:
                continue
            for exponent, count in _buckets(role.disk, which):
                yield {
                    "query": query.name,
                    "role": place(role.node, role.role, report.has_nodes),
                    "exponent": exponent,
                    "bin": _bin(exponent, which),
                    "count": count,
                }


def _buckets(disk: DiskReport, which: str) -> Sequence[tuple[int, int]]:
    histogram: Histogram = disk.read_sizes if which == "sizes" else disk.read_gaps
    return histogram.buckets


def _bin(exponent: int, which: str) -> str:
    """Return the lower end of a bin: bytes, or µs."""
    lower = 0 if exponent < 0 else 2**exponent
    return bytes_text(lower) if which == "sizes" else ms_text(lower / 1000)
