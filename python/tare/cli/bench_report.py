"""`tare bench report`: runs of a benchmark beside the figures of its paper."""

from __future__ import annotations

import typer

from tare.cli import options
from tare.cli.command import needs


@needs("models")
def report(
    runs: options.Runs,
    lab: options.Lab = "lab.db",
    html: options.Html = None,
    markdown: options.Markdown = None,
    json: options.Json = None,
    title: options.Title = None,
    accept: options.Accept = None,
) -> None:
    """Report runs of `tare bench wisconsin`: the paper's tables with today's systems beside those of 1983.

    Name the runs of all DBMSes, generations and sizes to compare. --lab may also name the folder of an export.
    Without --html, --markdown or --json the findings are printed.

    Example: tare bench report e1 e2 e3 --lab lab.db --html wisconsin.html
    """
    from tare.cli import destinations
    from tare.report.kit.deliver import deliver
    from tare.report.wisconsin.make import make
    from tare.report.wisconsin.story import story

    given = {"html": html, "markdown": markdown, "json": json}
    destinations.check(given)
    built = make(lab, runs, accept=accept or (), title=title)
    if built.report.exact.stopped:
        typer.echo(
            f"tare: the exact protocol was stopped: {built.report.exact.stopped}\n"
            "  next: correct the runs, or accept the violation as a deviation: --accept CHECK",
            err=True,
        )
    deliver(story(built), built.report, given)
