"""A transactional run for a terminal: first whether it holds what was asked, then what each type of transaction took.

Readable without colour, in 80 columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tare.report.numbers import bytes_text, fixed, ms_text, percent, significant
from tare.report.oltp import words
from tare.report.words import counted
from tare.workload.oltp.distribution import MS, Distribution, quantile_name
from tare.workload.oltp.run import OltpRun
from tare.workload.oltp.told import Checked, Counts, OfType

_COUNTS = tuple(name for name in words.COUNTS if name not in ("started", "retried"))
_TROUBLES = 5  # texts that are shown
_ALWAYS = ("offered", "committed", "rolled_back", "errors")


def print_run(run: OltpRun, recorded: str | None, console: Console) -> None:
    """`recorded`: where the lab keeps it."""
    for why in run.invalid:
        console.print(Text(f"INVALID: {why}", style="bold red"))
    console.print(Text(_title(run), style="bold"))
    for line in _rates(run):
        console.print(Text(line))
    types = [one for one in run.outcome.types if one.counts.offered] or list(run.outcome.types)
    shown = [*types, run.outcome.all] if len(types) > 1 else types
    for table in (_counts(shown), _response(shown), _parts(shown, closed=run.asked.closed)):
        console.print()
        console.print(table)
    console.print()
    for line in _facts(run, recorded):
        console.print(Text(line))
    print_failing([*run.before, *run.after], console)


def print_failing(checked: Sequence[Checked], console: Console) -> None:
    """Conditions that do not hold, each with its first failing rows."""
    for one in checked:
        if not one.failing:
            continue
        console.print()
        console.print(
            Text.assemble(
                (f"condition {one.name} does not hold", "bold red"),
                f" in {words.rows(one.failing)}: {one.says}",
            )
        )
        table = Table(box=None, padding=(0, 1), pad_edge=False, header_style="dim")
        for column in one.columns:
            table.add_column(column)
        for row in one.rows:
            table.add_row(*(Text(cell) for cell in row))
        console.print(table)
        if one.failing > len(one.rows):
            console.print(Text(f"… and {one.failing - len(one.rows):,} more", style="dim"))


# Above the tables --------------------------------------------------------------------------
def _title(run: OltpRun) -> str:
    return (
        f"{run.workload}, scale {run.loaded.scale:g}, on {run.server.dbms} {run.server.version}: "
        f"{run.asked.connections} connections, {run.isolation}"
    )


def _rates(run: OltpRun) -> Iterator[str]:
    outcome = run.outcome
    seconds = words.seconds(words.lasting(run.asked))
    held = f"{words.rate(outcome.rate)} were started"
    if outcome.intended_rate is None:
        yield f"closed loop over {seconds}: {held}"
    else:
        off = words.percent_off(outcome.rate / outcome.intended_rate - 1)
        yield f"{words.due(outcome.intended_rate, run.asked)} over {seconds}, {held} ({off})"
    if not run.invalid:
        rate = "" if outcome.intended_rate is None else "the rate was held, "
        conditions = ", the conditions hold" if run.before and run.after else ""
        yield f"valid: {rate}nothing was shed or left over{conditions}"


# Tables ------------------------------------------------------------------------------------
def _counts(types: Sequence[OfType]) -> Table:
    names = [name for name in _COUNTS if name in _ALWAYS or any(getattr(one.counts, name) for one in types)]
    table = _table("transactions", [words.COUNTS[name] for name in names])
    for one in types:
        table.add_row(one.name, *(fixed(getattr(one.counts, name), 0) for name in names))
    return table


_FIGURES: dict[str, Callable[[Distribution], float | None]] = {
    "mean": lambda of: of.mean if of.count else None,
    "sd": lambda of: of.sd,
    **{
        quantile_name(share): lambda of, share=share: of.quantile(share)  # type: ignore[misc]
        for share in (0.5, 0.9, 0.95, 0.99, 0.999)
    },
    "max": lambda of: of.max if of.count else None,
}


def _response(types: Sequence[OfType]) -> Table:
    table = _table("response, ms", list(_FIGURES))
    for one in types:
        table.add_row(one.name, *(_ms(figure(one.response)) for figure in _FIGURES.values()))
    return table


def _parts(types: Sequence[OfType], *, closed: bool) -> Table:
    """How unsteady it is, and what of it passed before the start."""
    table = _table(
        "of it, ms",
        [
            "cv",
            f"L{types[0].response.norm:g} mean",
            "service p50",
            "p99",
            *(() if closed else ("lag p50", "p99")),
        ],
    )
    for one in types:
        cv, mean = one.response.cv, one.response.power_mean_ms
        kinds = (one.service,) if closed else (one.service, one.lag)
        table.add_row(
            one.name,
            "–" if cv is None else significant(cv),
            "–" if mean is None else significant(mean),
            *(_ms(of.quantile(share)) for of in kinds for share in (0.5, 0.99)),
        )
    return table


def _table(title: str, columns: Sequence[str]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    table.add_column(title, no_wrap=True)
    for column in columns:
        table.add_column(column, justify="right")
    return table


# Below them --------------------------------------------------------------------------------
def _facts(run: OltpRun, recorded: str | None) -> Iterator[str]:
    outcome = run.outcome
    finished = outcome.all.counts.finished
    cpu = outcome.own.cpu_ns / MS
    each = f" ({ms_text(cpu / finished)} a transaction)" if finished else ""
    yield f"driver: {ms_text(cpu)} CPU{each}, at most {bytes_text(outcome.own.peak_rss_bytes)} of memory"
    yield from _server(run)
    if outcome.reconnects:
        yield f"connections were made again {counted(outcome.reconnects, 'time')}"
    yield from _troubles(run)
    yield f"seeds: data {run.loaded.seed}, run {run.asked.seed} (--seed {run.asked.seed} sends the same again)"
    yield f"warm-up: {outcome.warmup_ns / 1e9:.1f} s with its drain, {_finished(outcome.warmup)}"
    if run.before or run.after:
        yield _held(run.before, "before") + "; " + _held(run.after, "after")
    for name, why in (run.unmeasured or {}).items():
        yield f"not measured: {name}: {why}"
    yield from (f"deviation: {text}" for text in run.deviations)
    if recorded is not None:
        yield recorded


def _server(run: OltpRun) -> Iterator[str]:
    """Means over the schedule's seconds."""
    scheduled = words.lasting(run.asked)

    def mean(name: str) -> float | None:
        values = [one.value for one in run.measures if one.name == name and 0 <= one.second < scheduled]
        return sum(values) / len(values) if values else None

    cpu, steal, own = mean("server_cpu"), mean("machine_steal"), mean("tare_cpu")
    parts = []
    if cpu is not None:
        finished = run.outcome.all.counts.finished
        seconds = run.outcome.took_ns / 1e9
        each = f", {ms_text(cpu * 1e3 * seconds / finished)} a transaction" if finished else ""
        parts.append(f"{cpu:.2f} CPUs{each}")
    if (log := mean("wal_bytes")) is not None:
        parts.append(f"{bytes_text(log)}/s of log")
    if parts:
        who = "server" if run.server.dbms != "sqlite" else "DBMS (within the driver)"
        yield f"{who}: {', '.join(parts)}"
    if own is not None:
        yield f"watching took {percent(own)} of a CPU; stolen from the machine: {percent(steal or 0)} of a CPU"
    if (calls := mean("machine_reschedules")) is not None:
        yield f"CPUs called each other to their queues of tasks {calls:,.0f} times a second"


def _troubles(run: OltpRun) -> Iterator[str]:
    """Each text once; it was told once for each second that it came in."""
    told: dict[str, list[float]] = {}
    for one in run.troubles:
        told.setdefault(one.text, []).append(one.at_s)
    for text, at in list(told.items())[:_TROUBLES]:
        yield f"at {at[0]:.1f} s: {text}" + (f" (to {at[-1]:.1f} s)" if len(at) > 1 else "")
    if len(told) > _TROUBLES:
        yield f"… and {len(told) - _TROUBLES} more"


def _finished(counts: Counts) -> str:
    left = counts.given_up + counts.shed + counts.unstarted
    return f"{counts.finished:,} transactions" + (f", {left:,} failed or not sent" if left else "")


def _held(checked: Sequence[Checked], when: str) -> str:
    if not checked:
        return f"conditions {when} the run: not held against the data"
    held = sum(not one.failing for one in checked)
    return f"conditions {when} the run: {held} of {len(checked)} hold"


def _ms(ns: float | None) -> str:
    return "–" if ns is None else significant(ns / MS)
