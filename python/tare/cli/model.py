"""`tare model`: do the measures move together as the causal model says?"""

from __future__ import annotations

from typing import Annotated

import typer

from tare.cli import options


def model(
    runs: options.Runs,
    lab: options.Lab = "lab.db",
    model: Annotated[
        str,
        typer.Option("--model", metavar="ttp2|ttp1", help="Whose predictions: 73 of TTPv2, or 27 of TTPv1."),
    ] = "ttp2",
    dbms: Annotated[str | None, typer.Option(metavar="NAME", help="Only this DBMS's QEs.")] = None,
    retained: Annotated[
        bool,
        typer.Option(
            "--retained",
            help="Only the QEs that the model's protocol retains; without it every one, as in the paper.",
        ),
    ] = False,
    accept: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CHECK",
            help="With --retained: take a violation of this experiment-wide check as a deviation. Repeatable.",
        ),
    ] = None,
    html: options.Html = None,
    markdown: options.Words = None,
    json: options.AsJson = False,
) -> None:
    """Hold a causal model against the data: each predicted correlation, with r, p and a verdict.

    A verdict is exact, close (one level off) or off; or not significant, non-varying, not measured.
    Exit codes: 0 done, whatever the verdicts; 1 the lab or the analysis failed; 2 the request was at fault.
    """
    from tare.cli import destinations
    from tare.errors import UsageError
    from tare.lab.frames import open_frames
    from tare.protocol.model import tables
    from tare.protocol.model.holding import hold
    from tare.report.kit.deliver import deliver
    from tare.report.model_json import render
    from tare.report.model_story import story
    from tare.report.origin import origin

    tables.load(model)
    if accept and not retained:
        raise UsageError("--accept is about the protocol's checks", "give --retained too, or leave it out")
    given = {"html": html, "markdown": markdown, "json": "-" if json else None}
    destinations.check(given)
    frames = open_frames(lab, runs)
    outcome = None
    if retained:
        from tare.protocol import run_protocol

        outcome = run_protocol(frames, model, accept=accept or ())
    result = hold(frames, model, retained=outcome, dbms=dbms)
    deliver(story(result, origin(runs, lab)), None, given, more={"json": lambda: render(result)})
