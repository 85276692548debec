"""The story of a transactional run: whether it holds what was requested, what users waited, what the server did."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tare.lab.ids import oltp_id
from tare.report.kit.blocks import (
    Block,
    Cell,
    Code,
    Column,
    Detail,
    Facts,
    Heading,
    Item,
    Items,
    Kind,
    Paragraph,
    Row,
    Section,
    Story,
    Table,
    Tone,
    Verdict,
    section_charts,
)
from tare.report.kit.figure import Figure
from tare.report.numbers import Scale, bytes_text, ms_text, percent, thousands
from tare.report.oltp import words
from tare.report.oltp.build import Built
from tare.report.oltp.document import Check, OltpReport, Series, Times, Type
from tare.report.oltp.headline import CLOSED, DIFFERENCE
from tare.report.oltp.reasons import spans
from tare.report.words import NOTHING, dbms_name, fact
from tare.workload.oltp.distribution import QUANTILES, quantile_name

TIMES = {"response": "response", "service": "service", "lag": "start lag"}
_MS = Scale("ms", 1.0)
_QUANTILES = tuple(quantile_name(share) for share in QUANTILES)
_BRIEF = ("p50", "p95")  # quantiles that stand without their intervals beside the mean and p99
_RESOLVED = 3  # significant digits of a percentile: the driver's histogram has no more
_ENDS = tuple(name for name in words.COUNTS if not name.startswith("retried_"))
_ALWAYS = ("offered", "started", "committed", "rolled_back", "errors", "unstarted", "retried")
_TROUBLES = 5  # texts that a terminal shows


def story(built: Built) -> Story:
    report = built.report
    begun = report.started_at[:16].replace("T", " ")
    return Story(
        title=report.title,
        under=f"{_run(report)} · scale {report.data.scale:g} · begun {begun} UTC · written {report.written_at[:10]} "
        f"by Tare {report.written_by}",
        written_by=report.written_by,
        blocks=list(_blocks(built)),
    )


def _tone(report: OltpReport) -> Tone:
    """GOOD only if the reader may rely on every figure as one of the requested load on a server at work."""
    if report.invalid:
        return Tone.BAD
    return Tone.GOOD if report.valid and not report.freezes else Tone.CAUTION


def _run(report: OltpReport) -> str:
    return f"run {oltp_id(report.run)} ({report.uuid[:8]})" if report.run else f"run {report.uuid[:8]}"


def _blocks(built: Built) -> Iterator[Block]:
    report = built.report
    is_open = report.held.intended_rate is not None
    yield Verdict("", report.headline[0], _tone(report))
    for sentence in report.headline[1:]:
        yield Paragraph(sentence)
    yield Paragraph(DIFFERENCE if is_open else CLOSED, Tone.QUIET)
    yield Section("time", "Over time", [section_charts(built, "time")], printed=False)
    yield Section("types", "By type of transaction", list(_types(report)))
    yield Section("distribution", "Distribution", [section_charts(built, "distribution")], printed=False)
    yield Section("requested", "Requested and sustained", [
        Facts("Requested", _requested(report)), Facts("Sustained", _sustained(built)),
    ])  # fmt: skip
    server = list(_server(built))
    if server:
        yield Section("server", "The server", server)
    failing = [one for one in report.checks if one.rows]
    yield Section("checks", "Conditions on the data", list(_checks(report.checks)), printed=bool(failing))
    if report.troubles or report.deviations:
        yield Section("deviations", "Troubles and deviations", list(_deviations(report)))
    yield Section("conditions", "Conditions", list(_conditions(report)), printed=False)
    yield Section("reproduce", "How to do it again", [
        Paragraph(
            f"Tare {report.machine['tare']} made the run, Tare {report.written_by} wrote this report from the lab "
            f"{report.lab}.", Tone.QUIET,
        ),
        Code("\n".join(report.commands)),
    ], printed=False)  # fmt: skip


# By type ---------------------------------------------------------------------------------
def _types(report: OltpReport) -> Iterator[Block]:
    listed = (
        [report.all, *report.types]
        if len(report.types) > 1
        else [report.types[0] if report.types else report.all]
    )
    seen = [one for one in listed if one.service.n]
    kinds = ["response", "service", "lag"] if report.held.intended_rate is not None else ["service"]
    if not seen:
        yield Paragraph("No transaction ended.", Tone.QUIET)
    else:
        yield _times(report, seen, kinds)
        yield Paragraph(_precision(report), Tone.QUIET)
        yield Detail(
            "Every percentile, and how much times differ", [_spread(report, seen, kinds)], opened=True
        )
    yield _ends(report, listed)


def _name(report: OltpReport, one: Type) -> str:
    return "all types" if one is report.all else one.name


def _times(report: OltpReport, types: Sequence[Type], kinds: Sequence[str]) -> Table:
    rows: list[Row | str] = []
    for one in types:
        rows.append(f"{_name(report, one)} ({thousands(one.service.n)})")
        for kind in kinds:
            times: Times = getattr(one, kind)
            rows.append([
                TIMES[kind],
                cell(times.mean),
                *(_value(times.quantiles[name]) for name in _BRIEF),
                cell(times.quantiles["p99"], _RESOLVED),
                _value(times.largest),
            ])  # fmt: skip
    headings = ("mean [95%]", *_BRIEF, "p99 [95%]", "longest")
    return Table(
        "Times, ms, of transactions that were committed or rolled back as the workload has it",
        [Column("", Kind.NAME), *map(Column, headings)],
        rows,
    )


def _spread(report: OltpReport, types: Sequence[Type], kinds: Sequence[str]) -> Table:
    rows: list[Row | str] = []
    for one in types:
        for kind in kinds:
            times: Times = getattr(one, kind)
            rows.append([
                _name(report, one),
                TIMES[kind],
                *(cell(times.quantiles[name], _RESOLVED) for name in _QUANTILES),
                *(cell(figure) for figure in (times.sd, times.variance, times.cv, times.power_mean)),
            ])  # fmt: skip
    return Table(
        "Percentiles, standard deviation, coefficient of variation, and the L_p norm freed of n, (Σ lᵖ / n)^(1/p), "
        f"with p = {report.all.response.p:g}; ms with 95% intervals",
        [
            Column("type", Kind.NAME),
            Column("time", Kind.NAME),
            *map(Column, (*_QUANTILES, "sd", "variance, ms²", "cv", "L_p")),
        ],
        rows,
        grouped=True,
    )


def cell(found: words.Interval | None, digits: int = 4) -> Cell:
    """A figure of a table whose unit stands in its caption."""
    if found is None:
        return Cell(NOTHING)
    return words.figure(found, digits).cell(_MS, bare=True)


def _value(found: words.Interval | float | None) -> Cell:
    """A figure without its interval, or a fact that has none."""
    value = found.value if isinstance(found, words.Interval) else found
    return Figure(value, digits=_RESOLVED).cell(_MS, bare=True)


def _ends(report: OltpReport, types: Sequence[Type]) -> Table:
    """Return the table of the arrivals' ends. Columns in which nothing happened are left out, except the main ones."""
    names = [name for name in _ENDS if name in _ALWAYS or any(getattr(one.counts, name) for one in types)]
    rows: list[Row] = [
        [
            _name(report, one),
            *(thousands(getattr(one.counts, name)) for name in names),
        ]
        for one in types
    ]
    return Table(
        "What became of the transactions: each that was offered ends in one column right of “started”, retries apart",
        [Column("type", Kind.NAME), *(Column(words.COUNTS[name]) for name in names)],
        rows,
    )


def _precision(report: OltpReport) -> str:
    """How the intervals were computed, in a sentence or two."""
    one = report.precision["response" if report.held.intended_rate is not None else "service"]
    if one.why is not None or one.inflation is None:
        return f"No interval can be given ({one.why}): the figures describe the transactions of this run and no others."
    times = f"{one.inflation:.1f}" if one.inflation < 100 else f"{one.inflation:,.0f}"
    alike = (
        "Consecutive transactions are not correlated"
        if one.inflation < 1.05
        else f"Consecutive transactions are correlated: {times} of them carry the information of one"
    )
    return (
        f"In brackets: 95% intervals. {alike} ({one.batches} batches of {one.seconds} s). Intervals use n divided by "
        "that (percentiles: order statistics; mean and variance: the wider of a plain and a logarithmic scale, the "
        "variance by the fourth moment), assuming that other statistics are no more correlated than means. A figure "
        "without brackets describes the transactions of this run and no others: they are too few, or too much alike, "
        "for more."
    )


# Requested and sustained -------------------------------------------------------------------
def _requested(report: OltpReport) -> list[tuple[str, str]]:
    one, data = report.asked, report.data
    arrivals = {
        "closed": "closed loop: each connection sends its next when the last has ended",
        "constant": "open loop, evenly spaced",
        "poisson": "open loop, Poisson",
        "trace": f"open loop, by a trace: {one.trace}",
    }[one.arrivals]
    found = [
        ("workload", ", ".join((f"{data.workload}, scale {data.scale:g}", *_pairs(data.options)))),
        ("server", f"{dbms_name(report.server.dbms)} {report.server.version}"),
        ("arrivals", arrivals),
        ("schedule", _schedule(report)),
        ("connections", thousands(one.connections)),
        ("mix", ", ".join(f"{name} {share:.4g}%" for name, share in one.mix.items() if share)),
        *([("options", ", ".join(_pairs(one.options)))] if one.options else []),
        ("isolation", one.isolation.replace("_", " ")),
        ("warm-up, drain", f"{words.seconds(one.warmup_s)}, {words.seconds(one.drain_s)}"),
        ("tries of a transaction", str(one.tries)),
        ("seeds", f"data {data.seed}, run {one.seed} (--seed {one.seed} sends the same again)"),
    ]
    if one.think:
        found.append(("think time", f"the workload's, times {one.think:g}"))
    if one.shed_after_s is not None:
        found.append(("shed if later than", words.seconds(one.shed_after_s)))
    return found


def _pairs(options: Mapping[str, str]) -> Iterator[str]:
    return (f"{name} = {value}" for name, value in options.items())


def _schedule(report: OltpReport) -> str:
    return ", then ".join(
        words.seconds(one.duration_s)
        if one.rate is None
        else f"{words.rate(one.rate)} for {words.seconds(one.duration_s)}"
        for one in report.asked.phases
    )


def _sustained(built: Built) -> list[tuple[str, str]]:
    report = built.report
    one = report.held
    each = f", {one.own_cpu_ms_each:.2g} ms a transaction" if one.own_cpu_ms_each else ""
    warmup = one.warmup.committed + one.warmup.rolled_back
    found = [
        *_rates(report),
        ("measured part", words.seconds(round(one.took_s, 2))),
        (
            "warm-up with its drain",
            f"{words.seconds(round(one.warmup_s, 2))}, {thousands(warmup)} transactions",
        ),
        ("isolation at work", one.isolation),
        ("connections made again", thousands(one.reconnects)),
        ("stood still", _stood_still(built)),
        ("driver's CPU", f"{words.seconds(round(one.own_cpu_s, 2))}{each}"),
        ("driver's memory", f"{bytes_text(one.own_peak_rss_bytes)} at most"),
        ("conditions on the data", _held(report.checks)),
    ]
    if one.samples:
        found.append(("samples kept", thousands(one.samples)))
    if report.run:
        found.append(("recorded", f"{oltp_id(report.run)} of the lab {report.lab}"))
    return found


def _rates(report: OltpReport) -> Iterator[tuple[str, str]]:
    one = report.held
    if one.sustained_rate is not None:
        yield "rate of success", f"{words.rate(one.sustained_rate)}{words.percent_off(one.sustained_off)}"
    yield "rate of starts", f"{words.rate(one.rate)}{words.percent_off(one.off)}"


def _stood_still(built: Built) -> str:
    listed = list(spans(built.run.freezes))
    if not listed:
        return "at no time for a second"
    return ", ".join(listed[:4]) + (f" and {len(listed) - 4} times more" if len(listed) > 4 else "")


def _held(checks: Sequence[Check]) -> str:
    if not checks:
        return "not checked"
    failing = sum(bool(one.before or one.after) for one in checks)
    return f"{failing} of {len(checks)} do not hold" if failing else f"all {len(checks)} hold"


# The server ------------------------------------------------------------------------------
def _server(built: Built) -> Iterator[Block]:
    report = built.report
    facts = list(_used(report))
    if facts:
        yield Facts("Means over the schedule", facts)
    if any(one.moved for one in report.measures):
        yield Detail("Second by second", [
            Paragraph(
                "On the same clock and time axis as the charts above. Seconds a second: 1 is one CPU busy, or one "
                "thread waiting, all the time. Red: no transaction ended.", Tone.QUIET,
            ),
            section_charts(built, "server", side_by_side=True),
        ], opened=True)  # fmt: skip
    rested = [words.measure(one.name) for one in report.measures if not one.moved]
    if rested:
        yield Detail(
            "0 throughout", [Paragraph(f"0 throughout: {', '.join(rested)}.", Tone.QUIET)], opened=True
        )
    if report.measures:
        yield Detail("Every measure", [_measures(report.measures)])
    if report.unmeasured:
        yield Items([Item(f"not measured: {name}: {why}") for name, why in report.unmeasured.items()])


def _used(report: OltpReport) -> Iterator[tuple[str, str]]:
    scheduled = words.lasting(report.asked)
    means = {
        one.name: sum(values) / len(values)
        for one in report.measures
        if (values := [value for second, value in one.points if 0 <= second < scheduled])
    }
    counts = report.all.counts
    finished = counts.committed + counts.rolled_back
    who = "server" if report.server.dbms != "sqlite" else "DBMS (within the driver)"
    if (cpu := means.get("server_cpu")) is not None:
        each = f", {ms_text(cpu * 1e3 * report.held.took_s / finished)} a transaction" if finished else ""
        yield f"{who}'s CPU", f"{cpu:.2f} CPUs{each}"
    if (log := means.get("wal_bytes")) is not None:
        yield "log written", f"{bytes_text(log)}/s"
    if (own := means.get("tare_cpu")) is not None:
        yield "watching took", f"{percent(own)} of a CPU"
    if (steal := means.get("machine_steal")) is not None:
        yield "stolen from the machine", f"{percent(steal)} of a CPU"
    if (calls := means.get("machine_reschedules")) is not None:
        yield "rescheduling interrupts", f"{thousands(round(calls))}/s"


def _measures(measures: Sequence[Series]) -> Table:
    rows: list[Row] = []
    for one in measures:
        values = [value for second, value in one.points if second >= 0] or [value for _, value in one.points]
        mean = sum(values) / len(values)
        rows.append([one.name, one.unit, *(f"{value:,.4g}" for value in (min(values), mean, max(values)))])
    return Table(
        "Server measures by seconds of the measured part",
        [Column("measure", Kind.NAME), Column("unit", Kind.NAME), *map(Column, ("least", "mean", "highest"))],
        rows,
    )


# Conditions ------------------------------------------------------------------------------
def _checks(checks: Sequence[Check]) -> Iterator[Block]:
    if not checks:
        yield Paragraph("No condition was checked on the data.", Tone.QUIET)
        return
    rows: list[Row] = [
        [
            one.name,
            one.says,
            _failures(one.before),
            _failures(one.after),
            NOTHING if one.ms is None else Figure(one.ms, unit="ms").cell(),
        ]
        for one in checks
    ]
    yield Table(
        "What must hold between transactions",
        [
            Column("condition", Kind.NAME),
            Column("what must hold", Kind.PROSE),
            *map(Column, ("failing before", "failing after", "took")),
        ],
        rows,
    )
    for one in checks:
        if one.rows:
            yield from failing(one.name, one.says, one.after or one.before or 0, one.columns, one.rows)


def failing(
    name: str, says: str, count: int, columns: Sequence[str], rows: Sequence[Sequence[str]]
) -> Iterator[Block]:
    """A condition that does not hold, with its first failing rows."""
    yield Heading(f"Condition {name} does not hold in {words.rows(count)}: {says}")
    yield Table(
        f"The first {len(rows)} of {thousands(count)}",
        [Column(one, Kind.PROSE) for one in columns],
        rows,
        grows=True,
    )


def _failures(n: int | None) -> Cell:
    return Cell(NOTHING if n is None else thousands(n), tone=Tone.BAD if n else Tone.PLAIN)


def _deviations(report: OltpReport) -> Iterator[Block]:
    """A trouble once, however often it was reported."""
    times: dict[str, list[float]] = {}
    for trouble in report.troubles:
        times.setdefault(trouble.text, []).append(trouble.at_s)
    listed = [
        Item(f"at {at[0]:.1f} s: {text}" + (f" (to {at[-1]:.1f} s)" if len(at) > 1 else ""))
        for text, at in times.items()
    ]
    if listed:
        yield Items(listed[:_TROUBLES])
    if len(listed) > _TROUBLES:
        yield Paragraph(
            f"{len(listed) - _TROUBLES} more texts: in every other form of this report.", Tone.QUIET
        )
        yield Detail("More troubles", [Items(listed[_TROUBLES:])])
    if report.deviations:
        yield Items([Item(f"deviation: {one}") for one in report.deviations])


def _conditions(report: OltpReport) -> Iterator[Block]:
    server = report.server
    where = "on this machine" if server.local else "on another machine"
    yield Facts("Machine and server", [
        ("server", f"{dbms_name(server.dbms)} {server.version}, {where}"),
        ("database", server.url),
        *((name.replace("_", " "), fact(value, name)) for name, value in report.machine.items()),
    ])  # fmt: skip
    if server.settings:
        settings = Facts("Settings that matter to a measurement", list(server.settings.items()))
        yield Detail(f"Settings of {dbms_name(server.dbms)}", [settings])
