"""Charts of a trace: resources by query, the load over time, sizes and gaps, and the multicast window."""

from __future__ import annotations

from collections.abc import Iterator

from tare.report.charts.chart import Chart, NoChart, Row
from tare.report.charts.theme import PALETTE, choice, spec
from tare.report.os.document import OsReport, RoleReport, StageReport, cpu_in_calls, time_of

SECTION = "charts"

_SIZES = {
    "read_bytes": "requested by buffered reads, bytes",
    "block_read_bytes": "block requests, bytes",
    "send_bytes": "messages, bytes",
}
_GAPS = {
    "read_gap_ns": "between buffered reads, ms",
    "send_gap_ns": "between messages, ms",
    "block_latency_ns": "from request to answer of the disk, ms",
}


def charts(report: OsReport) -> list[Chart | NoChart]:
    return [
        *_heat_map(report),
        *_timeline(report),
        *_distributions(report, _SIZES, "sizes", "Sizes (Figures 2 and 4)", 1.0),
        *_distributions(report, _GAPS, "gaps", "Gaps and latencies (Figures 2 and 4)", 1e-6),
        *_windows(report),
    ]


def _heat_map(report: OsReport) -> Iterator[Chart]:
    stages = [stage for stage in report.stages if stage.executions]
    if len(stages) < 2:
        return
    rows: list[Row] = [
        {"query": _label(stage, node.node, report), "resource": name, "share": share}
        for stage in stages
        for node in stage.nodes
        for name, share in _resources(stage, node.node)
    ]
    yield Chart(
        name="resources",
        title="Queries by resource",
        caption="Share of the elapsed time for which a node's threads computed, waited for a CPU or the disk, or had a "
        "block request open.",
        spec=spec(
            24 * len(stages) * len(report.nodes) + 20,
            data={"name": "os-resources"},
            mark="rect",
            encoding={
                "x": {"field": "resource", "type": "nominal", "title": None, "sort": None},
                "y": {"field": "query", "type": "nominal", "title": None, "sort": None},
                "color": {
                    "field": "share",
                    "type": "quantitative",
                    "scale": {"scheme": "blues"},
                    "title": "share",
                },
                "tooltip": [{"field": field} for field in ("query", "resource", "share")],
            },
        ),
        data={"os-resources": rows},
        marks=len(rows),
        alt=f"Grid of {len(stages)} queries and their resources.",
        section=SECTION,
    )


def _label(stage: StageReport, node: str, report: OsReport) -> str:
    return f"{stage.name}, {node}" if len(report.nodes) > 1 else stage.name


def _resources(stage: StageReport, node: str) -> Iterator[tuple[str, float]]:
    roles = [role for role in stage.roles if role.node == node]
    spent = time_of(roles)
    in_calls = cpu_in_calls(roles)
    busy = next(found for found in stage.nodes if found.node == node)
    yield "user", (spent.on_cpu - in_calls) / stage.elapsed
    yield "system", in_calls / stage.elapsed
    yield "run queue", spent.run_queue / stage.elapsed
    yield "disk wait", spent.block_io / stage.elapsed
    yield "disk busy", busy.io / stage.elapsed


def _timeline(report: OsReport) -> Iterator[Chart]:
    fields = {
        "on_cpu": "CPUs used",
        "block_io": "threads waiting for the disk",
        "block_read_bytes": "MiB/s read from disk",
        "block_write_bytes": "MiB/s written to disk",
        "sent_bytes": "MiB/s sent",
    }
    rows: list[Row] = []
    for stage in report.stages:
        for piece in stage.slices:
            for field, words in fields.items():
                value = getattr(piece, field)
                scaled = (
                    value / 2**20 / (piece.length / 1e9) if field.endswith("bytes") else value / piece.length
                )
                rows.append({"s": piece.at / 1e9, "value": scaled, "figure": words, "node": piece.node})
    if not rows:
        return
    yield Chart(
        name="timeline",
        title="The load over time",
        caption="Means of each second.",
        spec=spec(
            240,
            params=[choice("load", "Figure", list(fields.values()), fields["on_cpu"])],
            data={"name": "os-timeline"},
            transform=[{"filter": "datum.figure === load"}],
            mark={"type": "line", "point": True},
            encoding={
                "x": {"field": "s", "type": "quantitative", "title": "time, s"},
                "y": {"field": "value", "type": "quantitative", "title": None},
                "color": {
                    "field": "node",
                    "type": "nominal",
                    "title": None,
                    "scale": {"range": list(PALETTE)},
                },
            },
        ),
        data={"os-timeline": rows},
        marks=len(rows),
        alt=f"Lines of {len(fields)} figures over time, one for each node.",
        section=SECTION,
    )


def _distributions(
    report: OsReport, kinds: dict[str, str], name: str, title: str, factor: float
) -> Iterator[Chart | NoChart]:
    """Shares of values by powers of two, for each role that has any."""
    rows: list[Row] = []
    for stage in report.stages:
        for kind, words in kinds.items():
            for role, slots in _by_role(stage.roles, kind).items():
                whole = sum(slots)
                rows += [
                    {
                        "low": (1 << bits >> 1) * factor,
                        "share": n / whole,
                        "role": role,
                        "what": words,
                        "query": stage.name,
                    }
                    for bits, n in enumerate(slots)
                    if n
                ]
    if not rows:
        yield NoChart(title, "no process read from files, requested blocks or sent messages", SECTION)
        return
    shown = list(dict.fromkeys(str(row["what"]) for row in rows))
    yield Chart(
        name=name,
        title=title,
        caption="Each point is a class of values from this one to its double; shares are of the role's values.",
        spec=spec(
            240,
            params=[choice(name, "Of", shown, shown[0])],
            data={"name": f"os-{name}"},
            transform=[{"filter": f"datum.what === {name}"}],
            mark={"type": "line", "point": True},
            encoding={
                "x": {
                    "field": "low",
                    "type": "quantitative",
                    "scale": {"type": "log", "base": 2},
                    "title": "from (log)",
                },
                "y": {"field": "share", "type": "quantitative", "axis": {"format": "%"}, "title": None},
                "color": {
                    "field": "role",
                    "type": "nominal",
                    "title": None,
                    "scale": {"range": list(PALETTE)},
                },
                "strokeDash": {"field": "query", "type": "nominal", "title": None},
            },
        ),
        data={f"os-{name}": rows},
        marks=len(rows),
        alt=f"Distributions of {len(kinds)} quantities by role.",
        section=SECTION,
    )


def _by_role(roles: tuple[RoleReport, ...], kind: str) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for role in roles:
        slots = role.histograms.get(kind)
        if slots and sum(slots):
            sums = found.setdefault(role.role, [0] * len(slots))
            for place, n in enumerate(slots):
                sums[place] += n
    return found


def _windows(report: OsReport) -> Iterator[Chart]:
    rows: list[Row] = [
        {"ms": float(ms), "saved": saving.saved_messages / saving.messages, "query": stage.name}
        for stage in report.stages
        if stage.multicast
        for ms, saving in stage.multicast.by_window_ms.items()
        if saving.messages
    ]
    if not rows:
        return
    yield Chart(
        name="multicast",
        title="Messages saved by waiting for copies (Figure 5)",
        caption="The first message of a content waits this long; copies to other destinations join it.",
        spec=spec(
            220,
            data={"name": "os-multicast"},
            mark={"type": "line", "point": True},
            encoding={
                "x": {
                    "field": "ms",
                    "type": "quantitative",
                    "scale": {"type": "log"},
                    "title": "wait, ms (log)",
                },
                "y": {
                    "field": "saved",
                    "type": "quantitative",
                    "axis": {"format": "%"},
                    "title": "messages saved",
                },
                "color": {
                    "field": "query",
                    "type": "nominal",
                    "title": None,
                    "scale": {"range": list(PALETTE)},
                },
            },
        ),
        data={"os-multicast": rows},
        marks=len(rows),
        alt="Share of messages saved over the time that a message waits.",
        section=SECTION,
    )
