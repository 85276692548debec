"""`tare bench report`: runs of a benchmark beside what its paper measured."""

from __future__ import annotations

from typing import Annotated

import typer

from tare.cli import options


def report(
    runs: options.Runs,
    lab: options.Lab = "lab.db",
    html: Annotated[
        str | None,
        typer.Option(
            "--html",
            metavar="FILE|-",
            help="Write one HTML file with tables and charts; it needs no network.",
        ),
    ] = None,
    markdown: Annotated[
        str | None,
        typer.Option("--markdown", metavar="FILE|-", help="Write the words and tables as Markdown."),
    ] = None,
    json: Annotated[
        str | None, typer.Option("--json", metavar="FILE|-", help="Write every number as JSON.")
    ] = None,
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="The report's title.")] = None,
    accept: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CHECK",
            help="Take a violation of this experiment-wide check of the exact protocol as a deviation. Repeatable.",
        ),
    ] = None,
) -> None:
    """Report runs of `tare bench wisconsin`: the paper's tables with today's systems beside those of 1983.

    Give the runs of as many DBMSes, generations and sizes as belong side by side. LAB may also be the folder
    of an export. Without --html, --markdown or --json the findings are printed.

    Exit codes: 0 done; 1 the lab or a file failed; 2 the request was at fault.
    """
    from tare.cli import destinations
    from tare.report.wisconsin.make import make
    from tare.report.wisconsin.write import deliver

    given = {"html": html, "markdown": markdown, "json": json}
    destinations.check(given)
    built = make(lab, runs, accept=accept or (), title=title)
    if built.report.exact.stopped:
        typer.echo(
            f"tare: the exact protocol was stopped: {built.report.exact.stopped}\n"
            "  next: mend the runs, or take the violation as a deviation: --accept CHECK",
            err=True,
        )
    deliver(built, given)
