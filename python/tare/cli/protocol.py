"""`tare protocol`: from an experiment's QEs to each query's time, with all that was dropped and why."""

from __future__ import annotations

from typing import Annotated

import typer

from tare.cli import options


def protocol(
    runs: options.Runs,
    protocol: Annotated[
        list[str] | None,
        typer.Option("--protocol", metavar="ttp2|ttp1|exact|all", help="Repeatable. Default: ttp2."),
    ] = None,
    lab: options.Lab = "lab.db",
    accept: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CHECK|all",
            help="Go on though this experiment-wide check is violated, and list it as a deviation. Repeatable.",
        ),
    ] = None,
    min_qes: Annotated[
        int, typer.Option("--min-qes", min=1, metavar="N", help="Drop a Q@C with fewer QEs left.")
    ] = 6,
    by_paper: Annotated[
        bool,
        typer.Option(
            "--by-paper", help="Infer the query process as the papers do, though the server told it."
        ),
    ] = False,
    fewer: Annotated[
        bool, typer.Option("--fewer", help="Show what fewer QEs a Q@C would have dropped (TTPv2 Table II).")
    ] = False,
    times: Annotated[
        str | None, typer.Option("--times", metavar="FILE", help="Write every Q@C's time: .csv or .parquet.")
    ] = None,
    excluded: Annotated[
        str | None,
        typer.Option(
            "--exclusions",
            metavar="FILE",
            help="Write why each QE and Q@C was dropped: .csv or .parquet.",
        ),
    ] = None,
    html: options.Html = None,
    markdown: options.Words = None,
    json: options.AsJson = False,
) -> None:
    """Judge runs by timing protocols: sanity checks, what each step drops, and the times that are left.

    LAB may also be the folder of an export. Several protocols are shown side by side at the end.

    Exit codes: 0 done; 1 an experiment-wide check stopped the analysis, or the lab or a file failed;
    2 the request was at fault.
    """
    import sys

    from tare.cli import destinations
    from tare.lab.frames import open_frames
    from tare.protocol.fewer import fewer as with_fewer
    from tare.protocol.run import METHODS, method_of, run_protocol
    from tare.report.kit.deliver import deliver
    from tare.report.origin import origin
    from tare.report.protocol_files import check_form, render, write_exclusions, write_times
    from tare.report.protocol_story import NEXT_STEP, story

    asked = protocol or ["ttp2"]
    names = list(METHODS) if "all" in asked else list(dict.fromkeys(method_of(name).name for name in asked))
    for file in filter(None, (times, excluded)):
        check_form(file)
    given = {"html": html, "markdown": markdown, "json": "-" if json else None}
    destinations.check({"times": times, "exclusions": excluded, **given})
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
    deliver(
        story(outcomes, tables, origin(runs, lab)),
        None,
        given,
        more={"json": lambda: render(outcomes, tables)},
    )
    stopped = [one for one in outcomes if one.stopped]
    for one in stopped:
        print(f"tare: {one.protocol}: {one.stopped}\n  next: {NEXT_STEP}", file=sys.stderr)
    if stopped:
        raise typer.Exit(1)
