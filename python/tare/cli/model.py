"""`tare model`: tests whether the measures move together as the causal model predicts."""

from __future__ import annotations

from typing import Annotated

import typer

from tare.cli import options
from tare.cli.command import needs


@needs("models")
def model(
    runs: options.Runs,
    lab: options.Lab = "lab.db",
    model: Annotated[
        str,
        typer.Option(
            "--model", metavar="ttp2|ttp1", help="Causal model: 73 predictions of TTPv2, or 27 of TTPv1."
        ),
    ] = "ttp2",
    dbms: Annotated[str | None, typer.Option(metavar="NAME", help="Use only this DBMS's executions.")] = None,
    retained: Annotated[
        bool,
        typer.Option(
            "--retained",
            help="Use only the executions that the model's protocol retains. Default: all, as in the paper.",
        ),
    ] = False,
    accept: options.Accept = None,
    html: options.Html = None,
    markdown: options.Markdown = None,
    json: options.Json = None,
    title: options.Title = None,
) -> None:
    """Test a causal model against the data: each predicted correlation, with r, p and a verdict.

    The verdict is exact, close (one level off) or off; or not significant, non-varying, not measured. --accept applies
    to the checks of --retained. Without --html, --markdown or --json the report is printed.

    Example: tare model e1 e2 --lab lab.db --retained
    """
    from tare.cli import destinations
    from tare.errors import UsageError
    from tare.lab.frames import open_frames
    from tare.protocol.model import tables
    from tare.protocol.model.holding import hold
    from tare.report.kit.deliver import deliver
    from tare.report.protocol.json import render_model
    from tare.report.protocol.model_story import story

    given = {"html": html, "markdown": markdown, "json": json}
    destinations.check(given)
    tables.load(model)
    if accept and not retained:
        raise UsageError(
            "--accept concerns the checks of the protocol", "give --retained too, or leave --accept out"
        )
    frames = open_frames(lab, runs)
    outcome = None
    if retained:
        from tare.protocol import run_protocol

        outcome = run_protocol(frames, model, accept=accept or ())
    result = hold(frames, model, retained=outcome, dbms=dbms)
    deliver(story(result, title), None, given, more={"json": lambda: render_model(result)})
