"""What text, pages and Markdown show of a profile: the document's numbers as words, in rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tare.report.kit.names import Names
from tare.report.numbers import fixed, significant
from tare.report.profile import words
from tare.report.profile.document import Figure, Overhead, Prices, ProfileReport
from tare.report.profile.names import factor_name, report_names
from tare.report.profile.watching import watched_how

TOP = 10
"""Factors that are listed, the paper's top k."""

FACTOR_HEADINGS = (
    "factor", "variance", "95% interval", "own share", "height", "specificity", "score", "mean", "paths",
)  # fmt: skip
TYPE_HEADINGS = ("type", "transactions", "mean", "sd", "p50", "p99", "longest", "on CPU", "off CPU")
TAIL_HEADINGS = ("own time in", "of the others", "in the tail", "of the excess", "95% interval")
ROUND_HEADINGS = ("round", "functions", "added", "why", "predicted")

SHARES = (
    "Variance: Var(inclusive) / Var(T), the paper's share; those of a function and of what it calls overlap. "
    "Own share: Cov(own time, T) / Var(T), which adds up to 100% over all functions."
)
SCORE = (
    "Score: specificity times the share of the variance (equations 2 and 3); specificity is the square of how much "
    "lower a function stands than the root of the call graph. A function on several paths stands where the scores of "
    "all of them together put it."
)

TAIL = "The tail: transactions above the 99th percentile; shares of what they take longer than the others."


def factor_rows(report: ProfileReport, most: int, name: int) -> Iterator[list[str]]:
    """In the order of FACTOR_HEADINGS."""
    names = report_names(report)
    for one in report.factors[:most]:
        mark = " (inferred)" if one.inferred else ""
        yield [
            factor_name(one, names, name - len(mark)) + mark,
            words.share(one.share),
            words.interval(one.share),
            words.share(one.own_covariance),
            str(one.height),
            words.thousands(round(one.specificity)),
            words.NOTHING if one.score is None else fixed(one.score, 0),
            words.ns(one.mean_ns),
            words.thousands(one.instances),
        ]


def type_rows(report: ProfileReport, most: int, name: int) -> Iterator[list[str]]:
    """In the order of TYPE_HEADINGS."""
    for one in report.types[:most]:
        times = (one.mean_ns, one.sd_ns, one.p50_ns, one.p99_ns, one.max_ns, one.on_cpu_ns, one.off_cpu_ns)
        yield [
            words.middle(one.name, name),
            words.thousands(one.transactions),
            *(words.ns(time) for time in times),
        ]


def tail_rows(report: ProfileReport, most: int, name: int) -> Iterator[list[str]]:
    """In the order of TAIL_HEADINGS."""
    names = Names([one.name for one in report.tail])
    for one in report.tail[:most]:
        yield [
            names.cut(one.name, name),
            words.ns(one.mean_ns),
            words.ns(one.tail_ns),
            words.share(one.excess),
            words.interval(one.excess),
        ]


def round_rows(report: ProfileReport, most: int = 8) -> Iterator[list[str]]:
    """In the order of ROUND_HEADINGS."""
    for one in report.rounds:
        added = [words.middle(name, 40) for name in one.added[:most]]
        left = len(one.added) - len(added)
        yield [
            str(one.number),
            words.thousands(one.functions),
            ", ".join(added) + (f" and {left} more" if left else "") + _dropped(one.dropped),
            one.reason,
            words.percent(one.predicted),
        ]


def _dropped(names: Sequence[str]) -> str:
    if not names:
        return ""
    return f"; no longer {', '.join(words.middle(one, 40) for one in names[:3])}" + (
        f" and {len(names) - 3} more" if len(names) > 3 else ""
    )


def rounds(report: ProfileReport) -> str:
    n = len(report.rounds)
    said = f"{n} round{'' if n == 1 else 's'} of refinement."
    if report.naive_rounds is not None:
        said += (
            f" Level after level, with every function that is called, the same functions would have come under probes "
            f"after {report.naive_rounds}."
        )
    return f"{said} It ended: {report.ended.rstrip('.')}." if report.ended else said


def sums(report: ProfileReport) -> str:
    """The residue of equation 1, and what the shares add up to that must."""
    of = report.equation
    if of.own_sum is None or of.residue is None:
        return "There are no shares: the transactions are too few, or all alike."
    paths = "the one path" if of.paths == 1 else f"all {words.thousands(of.paths)} paths"
    return (
        f"Equation 1 holds at {paths} (largest relative residue {of.residue:.1g}); own shares add up to "
        f"{words.percent(of.own_sum, 1)}."
    )


def records(report: ProfileReport) -> str:
    said = f"{words.thousands(report.records)} records, {words.thousands(report.lost)} lost"
    left = [f"{words.thousands(n)} {WHYS.get(why, why)}" for why, n in report.invalid.items()]
    counted = (
        f"{said}; transactions left out: {', '.join(left)}"
        if left
        else f"{said}; no transaction was left out"
    )
    return f"{counted}. {unreturned(report)}" if unreturned(report) else counted


def unreturned(report: ProfileReport) -> str:
    """Calls without a return, or without a record; empty: there are none."""
    said = []
    if report.unwound:
        calls = "call was" if report.unwound == 1 else "calls were"
        said.append(
            f"{words.thousands(report.unwound)} {calls} left without a return (exception, longjmp or "
            "end of the thread)."
        )
    if report.unrecorded:
        calls = "call" if report.unrecorded == 1 else "calls"
        said.append(
            f"{words.thousands(report.unrecorded)} {calls} of signal handlers could not be recorded: their time "
            "is that of the functions they interrupted."
        )
    return " ".join(said)


WHYS = {
    "lost": "with lost records",
    "changed": "in which probes were changed",
    "overlap": "whose intervals overlap",
    "unfinished": "not seen from beginning to end",
    "unnested": "whose entries and exits do not nest",
    "deep": "that nest too deep",
    "unwound": "left by an exception, a longjmp or the end of their thread at an unknown time",
}
"""Of transactions that were left out, by the recording's word."""


def overhead_rows(report: ProfileReport) -> list[tuple[str, str]]:
    of = report.overhead
    if of is None:
        return []
    return [
        *_loss_rows(of),
        ("transactions longer by", _measured(of.latency, of, report.of.budget)),
        ("throughput lower by", _measured(of.throughput, of, report.of.budget)),
        (
            "windows",
            f"{of.windows} pair{'' if of.windows == 1 else 's'}, with all probes and with the markers alone",
        ),
        (
            "predicted",
            f"{words.percent(of.predicted)}: {words.calls(of.events)} events of {words.ns(of.pair_ns)} a transaction",
        ),
        *([] if of.loss is not None else [_only_predicted(of.markers)]),
        ("budget", words.percent(report.of.budget)),
    ]


def _only_predicted(markers: float) -> tuple[str, str]:
    return (
        "markers",
        f"{words.percent(markers)}, predicted, in both kinds of window: not in the figures above",
    )


COUNTED = {"waits": "voluntary context switches", "user time": "time in user mode"}
"""What the kernel counts of a server while no probe is on, by its word in the document."""


def _loss_rows(of: Overhead) -> list[tuple[str, str]]:
    """Throughput that was lost to the whole profile, and to the markers."""
    lost = of.loss
    if lost is None:
        return []
    budget = f", {words.percent(lost.allowed_average)} allowed" if lost.allowed_average is not None else ""
    markers = (
        f"not measured: {words.percent(lost.predicted_markers)} predicted"
        if lost.markers is None
        else f"{words.with_interval(lost.markers)}, {words.percent(lost.predicted_markers)} predicted; by "
        f"{COUNTED.get(lost.markers_by or '', '')} in {lost.markers_pairs} pairs of windows, with the markers and with "
        "no probe"
    )
    return [
        (
            "throughput lost in all",
            f"{_share(lost.average)}, {words.percent(lost.predicted_average)} predicted{budget}",
        ),
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


def _share(figure: Figure | None) -> str:
    return "not measured" if figure is None else words.with_interval(figure)


def _measured(figure: Figure | None, of: Overhead, budget: float | None) -> str:
    if of.growth is not None:
        return (
            f"not measurable: transactions took {of.growth:.1f} times as long at the end as at the beginning"
        )
    if figure is None:
        return "not measured: too few windows"
    wide = budget is not None and figure.high - figure.low > budget and figure.low <= budget < figure.high
    return (
        f"not measurable under this load ({words.interval(figure)})" if wide else words.with_interval(figure)
    )


def _rate(value: float | None) -> str:
    return words.NOTHING if value is None else significant(value)


def rates(report: ProfileReport) -> str:
    """Transactions a second before functions were watched, while they were, and after."""
    of = report.rates
    return (
        f"{_rate(of.before)} before functions were watched, {_rate(of.during)} while, {_rate(of.after)} after"
    )


def watching(report: ProfileReport) -> str:
    """Return how many functions were watched in which way, and why others were not; empty: not known."""
    return watched_how(report.watching.ways, report.watching.refused)


def _prices(of: Prices) -> str:
    return (
        f"an entry and exit take {words.ns(of.emulated_ns)} on this machine where the kernel emulates the instructions "
        f"there, {words.ns(of.stepped_ns)} where it steps over both; in a server that is loaded more"
    )


def conditions(report: ProfileReport) -> list[tuple[str, str]]:
    of = report.of
    return [
        ("server", ", ".join(one for one in (f"{of.dbms} {of.dbms_version}".strip(), of.server) if one)),
        ("a transaction is", of.transaction),
        ("preset", of.preset),
        ("backend", f"{of.backend}: {of.says}"),
        *(("functions", said) for said in (watching(report),) if said),
        *([] if of.prices is None else [("price of a probe", _prices(of.prices))]),
        ("call graph", f"height {report.call_graph_height}"),
        ("records", records(report)),
        ("transactions a second", rates(report)),
        ("state", of.state),
    ]
