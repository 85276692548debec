"""`tare bench report`: runs of a benchmark beside what its paper measured."""

from __future__ import annotations

import typer

from tare.cli import options


def report(
    runs: options.Runs,
    lab: options.Lab = "lab.db",
    html: options.Html = None,
    markdown: options.Words = None,
    json: options.Numbers = None,
    title: options.Title = None,
    accept: options.Accept = None,
) -> None:
    """Report runs of `tare bench wisconsin`: the paper's tables with today's systems beside those of 1983.

    Give the runs of as many DBMSes, generations and sizes as belong side by side. LAB may also be the folder
    of an export. Without --html, --markdown or --json the findings are printed.

    Exit codes: 0 done; 1 the lab or a file failed; 2 the request was at fault.
    """
    from tare.cli import destinations
    from tare.report.kit.deliver import deliver
    from tare.report.wisconsin.build import make
    from tare.report.wisconsin.story import story

    given = {"html": html, "markdown": markdown, "json": json}
    destinations.check(given)
    built = make(lab, runs, accept=accept or (), title=title)
    if built.report.exact.stopped:
        typer.echo(
            f"tare: the exact protocol was stopped: {built.report.exact.stopped}\n"
            "  next: mend the runs, or take the violation as a deviation: --accept CHECK",
            err=True,
        )
    deliver(story(built), built.report, given)
