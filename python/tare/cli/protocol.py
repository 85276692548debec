"""`tare protocol`: from an experiment's QEs to each query's time, with everything that was dropped and why."""

from __future__ import annotations

from typing import Annotated

import typer

from tare.cli import options
from tare.cli.command import needs
from tare.cli.help import ADVANCED, OUTPUT


@needs("models")
def protocol(
    runs: options.Runs,
    protocol: Annotated[
        list[str] | None,
        typer.Option(
            "--protocol",
            metavar="ttp2|ttp1|exact|all",
            help="Timing protocol to apply. Repeatable. Default: ttp2.",
        ),
    ] = None,
    lab: options.Lab = "lab.db",
    accept: options.Accept = None,
    min_qes: Annotated[
        int, typer.Option("--min-qes", min=1, metavar="N", help="Drop a Q@C with fewer executions left.")
    ] = 6,
    by_paper: Annotated[
        bool,
        typer.Option(
            "--by-paper",
            help="Infer the query process as the papers do, although the server reported it.",
            rich_help_panel=ADVANCED,
        ),
    ] = False,
    fewer: Annotated[
        bool,
        typer.Option(
            "--fewer",
            help="Show the drops that fewer executions for each Q@C would have caused (TTPv2 Table II).",
            rich_help_panel=ADVANCED,
        ),
    ] = False,
    times: Annotated[
        str | None,
        typer.Option(
            "--times",
            metavar="FILE",
            help="Write every Q@C's time: .csv or .parquet.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    excluded: Annotated[
        str | None,
        typer.Option(
            "--exclusions",
            metavar="FILE",
            help="Write why each execution and Q@C was dropped: .csv or .parquet.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    html: options.Html = None,
    markdown: options.Markdown = None,
    json: options.Json = None,
    title: options.Title = None,
) -> None:
    """Apply timing protocols to runs: sanity checks, drops at each step, and each query's time.

    --lab may also name the folder of an export. Several protocols are shown side by side at the end. A violated
    experiment-wide check stops the analysis unless --accept names it. Without --html, --markdown or --json the report
    is printed.

    Example: tare protocol e1 e2 --protocol all --lab lab.db
    """
    import sys

    from tare.cli import destinations
    from tare.lab.frames import open_frames
    from tare.protocol.fewer import fewer as with_fewer
    from tare.protocol.run import METHODS, method_of, run_protocol
    from tare.report.kit.deliver import deliver
    from tare.report.protocol.json import render
    from tare.report.protocol.rows import check_form, write_exclusions, write_times
    from tare.report.protocol.story import story

    asked = protocol or ["ttp2"]
    names = list(METHODS) if "all" in asked else list(dict.fromkeys(method_of(name).name for name in asked))
    files = {"times": times, "exclusions": excluded}
    for file in filter(None, files.values()):
        check_form(file)
    given = {"html": html, "markdown": markdown, "json": json}
    destinations.check({**files, **given})
    frames = open_frames(lab, runs)
    outcomes = [
        run_protocol(frames, name, min_qes=min_qes, accept=accept or (), by_paper=by_paper) for name in names
    ]
    tables = {
        one.protocol: with_fewer(frames, one.protocol, min_qes=min_qes, by_paper=by_paper)
        for one in outcomes
        if fewer and not one.stopped
    }
    if times:
        write_times(outcomes, times)
    if excluded:
        write_exclusions(outcomes, excluded)
    deliver(story(outcomes, tables, title), None, given, more={"json": lambda: render(outcomes, tables)})
    stopped = [one for one in outcomes if one.stopped]
    for one in stopped:
        print(
            f"tare: {one.protocol}: {one.stopped}\n"
            "  next: find the cause, or accept it as a deviation that every report lists: --accept CHECK",
            file=sys.stderr,
        )
    if stopped:
        raise typer.Exit(1)
