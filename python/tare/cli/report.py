"""`tare report`: the report of an experiment's runs."""

from __future__ import annotations

from typing import Annotated

import typer

from tare.cli import options


def report(
    runs: options.Runs,
    lab: options.Lab = "lab.db",
    html: options.Html = None,
    markdown: options.Words = None,
    json: options.Numbers = None,
    title: options.Title = None,
    protocol: Annotated[
        str | None,
        typer.Option(
            metavar="ttp2|ttp1|exact",
            help="Whose times come first. Default: ttp2 where the DBMS had one CPU, else exact.",
        ),
    ] = None,
    accept: options.Accept = None,
) -> None:
    """Report runs: the paper's two paragraphs, drop tables, times with intervals, charts, models.

    LAB may also be the folder of an export. Without --html, --markdown or --json, prints the number of Q@Cs that
    have a time, and the two paragraphs.

    Exit codes: 0 done; 1 the lab or a file failed; 2 the request was at fault.
    """
    from tare.cli import destinations
    from tare.errors import UsageError
    from tare.report.experiment.build import PROTOCOLS, make
    from tare.report.experiment.story import story
    from tare.report.kit.deliver import deliver

    if protocol is not None and protocol not in PROTOCOLS:
        raise UsageError(f"{protocol}: not a protocol", f"give one of {', '.join(PROTOCOLS)}")
    given = {"html": html, "markdown": markdown, "json": json}
    destinations.check(given)
    built = make(lab, runs, accept=accept or (), primary=protocol, title=title)
    for one in built.report.protocols:
        if one.stopped:
            typer.echo(
                f"tare: {one.label} was stopped: {one.stopped}\n"
                "  next: mend the runs, or take the violation as a deviation: --accept CHECK",
                err=True,
            )
    deliver(story(built), built.report, given)
