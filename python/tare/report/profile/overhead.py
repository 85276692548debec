"""Facts about the overhead of the profiling itself: measured, predicted and allowed."""

from __future__ import annotations

from tare.report.profile import words
from tare.report.profile.document import Figure, Loss, Overhead, ProfileReport

_COUNTED = {"waits": "voluntary context switches", "user time": "time in user mode"}
"""Activity that the kernel counts of a server while no probe is on, by its word in the document."""


def overhead_facts(report: ProfileReport) -> list[tuple[str, str]]:
    """Return names with their values; none where the overhead was not measured."""
    overhead, budget = report.overhead, report.of.budget
    if overhead is None:
        return []
    return [
        *_loss_facts(overhead),
        ("transactions longer by", _measured(overhead.latency, overhead, budget)),
        ("throughput lower by", _measured(overhead.throughput, overhead, budget)),
        (
            "windows",
            f"{overhead.windows} pair{'' if overhead.windows == 1 else 's'}, with all probes and with the markers "
            "alone",
        ),
        (
            "predicted",
            f"{words.percent(overhead.predicted)}: {words.calls(overhead.events)} events of "
            f"{words.ns(overhead.pair_ns)} a transaction",
        ),
        *([] if overhead.loss is not None else [_predicted_alone(overhead.markers)]),
        ("budget", words.percent(budget)),
    ]


def _predicted_alone(markers: float) -> tuple[str, str]:
    return (
        "markers",
        f"{words.percent(markers)}, predicted, in both kinds of window: not in the figures above",
    )


def _loss_facts(overhead: Overhead) -> list[tuple[str, str]]:
    """Throughput that was lost to the whole profile, and to the markers."""
    lost = overhead.loss
    if lost is None:
        return []
    budget = f", {words.percent(lost.allowed_average)} allowed" if lost.allowed_average is not None else ""
    markers = (
        f"not measured: {words.percent(lost.predicted_markers)} predicted"
        if lost.markers is None
        else f"{words.with_interval(lost.markers)}, {words.percent(lost.predicted_markers)} predicted; by "
        f"{_COUNTED.get(lost.markers_by or '', '')} in {lost.markers_pairs} pairs of windows, with the markers and "
        "with no probe"
    )
    return [
        (
            "throughput lost in all",
            f"{_share(lost.average)}, {words.percent(lost.predicted_average)} predicted{budget}",
        ),
        *_between_windows(lost),
        (
            "probes were on",
            f"all for {words.percent(lost.probed_share)} of the time, the markers alone for "
            f"{words.percent(lost.markers_share)}",
        ),
        (
            "while all probes were on",
            f"{_share(lost.on)}, {words.percent(lost.predicted_on)} predicted, {words.percent(lost.allowed_on)} "
            "allowed",
        ),
        ("by the markers alone", markers),
    ]


def _between_windows(lost: Loss) -> list[tuple[str, str]]:
    """Tare's own work between windows, which not every figure of the whole profile holds."""
    own = f"{words.percent(lost.own)} predicted"
    if lost.in_windows is not None:
        return [
            (
                "of it, in windows",
                f"{words.with_interval(lost.in_windows)}; the rest is Tare's own work, {own}",
            )
        ]
    return [("Tare's own work", f"{own}; not measured, and not in the figure above")] if lost.own else []


def _share(figure: Figure | None) -> str:
    return "not measured" if figure is None else words.with_interval(figure)


def _measured(figure: Figure | None, overhead: Overhead, budget: float | None) -> str:
    if overhead.growth is not None:
        return (
            f"not measurable: transactions took {overhead.growth:.1f} times as long at the end as at the "
            "beginning"
        )
    if figure is None:
        return "not measured: too few windows"
    wide = budget is not None and figure.high - figure.low > budget and figure.low <= budget < figure.high
    return (
        f"not measurable under this load ({words.interval(figure)})" if wide else words.with_interval(figure)
    )
