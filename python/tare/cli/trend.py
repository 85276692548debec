"""`tare trend`: finds where queries became slower, over the measurements of a lab."""

from __future__ import annotations

from typing import Annotated

import typer

from tare.cli import options
from tare.cli.command import needs


@needs("report")
def trend(
    queries: Annotated[
        list[str] | None,
        typer.Argument(metavar="QUERY", help="Queries by name. Default: all that the lab holds."),
    ] = None,
    lab: options.Lab = "lab.db",
    measure: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Measure: wall_ms, cpu_ms (the leader's), resources.cpu_ms (all processes') or instructions.",
        ),
    ] = "resources.cpu_ms",
    fail_if: Annotated[
        str | None,
        typer.Option(
            metavar="slower=P%", help="Be a gate: exit with 3 if a query became slower by more than P%."
        ),
    ] = None,
    last: Annotated[
        int,
        typer.Option(
            min=1, metavar="N", help="Newest measurements of a series that a gate (--fail-if) judges."
        ),
    ] = 10,
    html: options.Html = None,
    markdown: options.Markdown = None,
    json: options.Json = None,
    title: options.Title = None,
) -> None:
    """Find where queries became slower or faster, over the measurements that `tare time --lab` recorded.

    Each query, DBMS and machine is a series of its own, in the order of recording. Its change points are searched
    with a permutation test. The exit code is 0 also where there is no baseline yet.

    Example: tare trend --lab lab.db --fail-if slower=5%
    """
    from tare.cli import destinations
    from tare.errors import UsageError
    from tare.lab.measurements import series
    from tare.lab.store import open_lab
    from tare.meant import meant
    from tare.report.comparison import COMPARED
    from tare.report.gate_conditions import parse
    from tare.report.kit.deliver import deliver
    from tare.report.trend.build import Gate, build
    from tare.report.trend.story import story

    given = {"html": html, "markdown": markdown, "json": json}
    destinations.check(given)
    if measure not in COMPARED:
        raise UsageError(
            f"--measure {measure}: not a measure of a trend", f"give one of {', '.join(COMPARED)}"
        )
    gate = None
    if fail_if is not None:
        request = parse([fail_if])
        gate = Gate(request.margin, last)
    with open_lab(lab) as opened:
        found = series(opened, queries or ())
        if missing := [name for name in queries or () if name not in {one.name for one in found}]:
            known = sorted({one.name for one in series(opened)})
            raise UsageError(
                f"{opened.where} holds no measurement of {missing[0]}",
                meant(missing[0], known, "`tare trend` without a query lists all"),
            )
        report = build(opened.where, found, measure, gate, title)
    deliver(story(report), report, given)
    if report.gate is not None and report.gate.failed:
        raise typer.Exit(3)
