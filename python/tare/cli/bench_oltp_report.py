"""`tare bench oltp report`, `compare` and `runs`: what transactional runs in a lab have to say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from tare.cli import options

if TYPE_CHECKING:
    from tare.lab.oltp import Listed
    from tare.report.kit.blocks import Table

A = Annotated[str, typer.Argument(metavar="RUN_A", help="The one above the line, the original: o1.")]
B = Annotated[str, typer.Argument(metavar="RUN_B", help="The one below it, the modified: o2.")]


def report(
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN...", help="Transactional run of the lab, by its id or the beginning of its uuid: o1."
        ),
    ],
    curve: Annotated[
        bool,
        typer.Option("--curve", help="Report the curves that these runs are steps of, in one figure."),
    ] = False,
    lab: options.Lab = "lab.db",
    html: options.Html = None,
    markdown: options.Words = None,
    json: options.Numbers = None,
    title: options.Title = None,
) -> None:
    """Report a run: validity first, latency over time, distributions, each type, the server, the conditions.

    Without --html, --markdown or --json the findings are printed.

    Exit codes: 0 done, also for a run that is not valid, which the report says; 1 the lab or a file failed; 2 the
    request was at fault.
    """
    from tare.cli import destinations
    from tare.errors import UsageError

    given = {"html": html, "markdown": markdown, "json": json}
    destinations.check(given)
    if curve:
        from tare.cli.curve_report import report_curves

        report_curves(runs, lab, given, title)
        return
    if len(runs) > 1:
        raise UsageError(
            f"{len(runs)} runs given, and a report is of one",
            "give one, or --curve for the curves that they are steps of; `tare bench oltp compare` takes two",
        )
    deliver_run(runs[0], lab, given, title)


def deliver_run(run: str, lab: str, given: Mapping[str, str | None], title: str | None) -> None:
    """Write the report of a run in the requested forms, or print it. Raises NoSuchRun, LabError, ExportFailed."""
    from tare.report.kit.deliver import deliver
    from tare.report.oltp.build import make
    from tare.report.oltp.story import story

    built = make(lab, run, title=title)
    deliver(story(built), built.report, given)


def compare(
    run_a: A,
    run_b: B,
    lab: options.Lab = "lab.db",
    html: options.Html = None,
    markdown: options.Words = None,
    json: options.Numbers = None,
    title: options.Title = None,
) -> None:
    """Hold one run over another: ratios of means, variances, standard deviations and 99th percentiles, by type.

    Each ratio has its 95% interval, by batches of the runs' seconds; where none can be given, no ratio is printed.
    What keeps the runs from being compared (another scale, mix, rate, machine, a run that is not valid) is said first.

    Exit codes: 0 done; 1 the lab or a file failed; 2 the request was at fault.
    """
    from tare.cli import destinations

    given = {"html": html, "markdown": markdown, "json": json}
    destinations.check(given)
    deliver_comparison(run_a, run_b, lab, given, title)


def deliver_comparison(
    a: str, b: str, lab: str, given: Mapping[str, str | None], title: str | None = None
) -> None:
    """Write the comparison of two runs in the requested forms, or print it. Raises NoSuchRun, LabError and
    ExportFailed."""
    from tare.report.kit.deliver import deliver
    from tare.report.oltp.comparison import make_comparison
    from tare.report.oltp.comparison_story import story

    found = make_comparison(lab, a, b, title=title)
    deliver(story(found), found, given)


def runs(lab: options.Lab = "lab.db", as_json: options.AsJson = False) -> None:
    """List the transactional runs of a lab, oldest first.

    Exit code: 0 done, 1 the lab cannot be read.
    """
    from tare.lab.oltp import listed
    from tare.lab.store import open_lab
    from tare.report.kit.deliver import show_blocks

    with open_lab(lab) as opened:
        found = listed(opened)
    if as_json:
        _print_json(opened.where, found)
    elif not found:
        typer.echo(f"the lab {opened.where} has no transactional runs")
    else:
        show_blocks([runs_table(found)])


def _print_json(where: str, found: list[Listed]) -> None:
    import json
    from dataclasses import asdict

    typer.echo(json.dumps({"lab": where, "runs": [asdict(one) for one in found]}))


def runs_table(found: list[Listed]) -> Table:
    from tare.lab.ids import oltp_id
    from tare.report.kit.blocks import Column, Kind, Row, Table
    from tare.report.kit.figure import JOINED
    from tare.report.numbers import ms_text
    from tare.report.words import NOTHING

    rows: list[Row] = [
        [
            oltp_id(one.id),
            f"{one.workload} {one.scale:g}",
            f"{one.dbms} {one.version.partition('-')[0]}",
            one.started_at[:16].replace("T", JOINED),
            one.arrivals,
            _rate(one),
            NOTHING if one.p99_ns is None else ms_text(one.p99_ns / 1e6),
            "yes" if one.valid else "not judged" if one.not_judged else "NO",
        ]
        for one in found
    ]
    names = ("id", "workload", "DBMS", "begun (UTC)", "arrivals")
    columns = [*(Column(name, Kind.NAME) for name in names), Column("rate"), Column("p99")]
    return Table("", [*columns, Column("valid", Kind.NAME)], rows)


def _rate(of: Listed) -> str:
    """Return the rate that was sustained, and the one that was due where they differ by more than 1%."""
    from tare.report.oltp import words

    due = of.intended_rate
    is_missed = due is not None and abs(of.rate - due) > 0.01 * due
    return words.rate(of.rate) + (f" of {words.rate(due)}" if due is not None and is_missed else "")
