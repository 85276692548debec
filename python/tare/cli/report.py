"""`tare report`: the report of runs, whatever their kind."""

from __future__ import annotations

from typing import Annotated

import typer

from tare.cli import options
from tare.cli.command import needs


@needs("report")
def report(
    ctx: typer.Context,
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN",
            help="Runs by id, as `tare lab list` shows them: experiments (e1 e2), a transactional run (o1), a "
            "profile (p1) or a tuning run (t1).",
        ),
    ],
    lab: options.Lab = "lab.db",
    profiles: options.Profiles = "profiles",
    tunings: options.Tunings = "tunings",
    html: options.Html = None,
    markdown: options.Markdown = None,
    json: options.Json = None,
    title: options.Title = None,
    protocol: Annotated[
        str | None,
        typer.Option(
            metavar="ttp2|ttp1|exact",
            help="Protocol whose times come first, for experiments. Default: ttp2 where the DBMS had one CPU, else "
            "exact.",
        ),
    ] = None,
    accept: options.Accept = None,
    curve: Annotated[
        bool,
        typer.Option(
            "--curve",
            help="Report the whole curves of which transactional runs are steps (`tare bench oltp curve`), in one "
            "figure.",
        ),
    ] = False,
) -> None:
    """Report runs of one kind: experiments, a transactional run, curves of them, a profile, or a tuning run.

    Experiments: the paper's two paragraphs, drop tables, times with intervals, charts, models. A transactional run:
    validity, latency over time, distributions, the server, the conditions. A profile: factors, the variance tree, the
    tail, the overhead. A tuning run: verdicts of its arms. Without --html, --markdown or --json the findings are
    printed. For experiments, --lab may also name the folder of an export.

    Example: tare report e1 e2 --lab lab.db --html report.html
    """
    from tare import extras
    from tare.cli.kinds import DOCUMENT, kind_of, refuse_given, refuse_other_options
    from tare.errors import UsageError
    from tare.lab.run_ids import Kind

    kind = kind_of(runs, lab, profiles)
    if kind is Kind.EXPERIMENT:
        refuse_given(ctx, ["curve"], "experiments")
        extras.need("a report of experiments", "models")
        _experiments(runs, lab, html, markdown, json, title, protocol, accept)
        return
    if curve and kind is Kind.OLTP:
        from tare.cli.curve_report import report_curves

        refuse_other_options(ctx, (*DOCUMENT, "curve"), "a curve")
        report_curves(runs, lab, html, markdown, json, title)
        return
    refuse_other_options(ctx, DOCUMENT, f"a {kind.noun}")
    if len(runs) > 1:
        raise UsageError(
            f"{len(runs)} runs given, but a {kind.noun} is reported alone",
            f"give one, or compare two: tare compare {' '.join(runs[:2])}",
        )
    if kind is Kind.OLTP:
        from tare.cli.bench_oltp_report import report as report_oltp

        report_oltp(runs[0], lab, html, markdown, json, title)
    elif kind is Kind.TUNING:
        from tare.cli.tune import report as report_tuning

        report_tuning(runs[0], tunings, html, markdown, json, title)
    else:
        from tare.cli.profile_show import show

        show(runs[0], profiles=profiles, html=html, markdown=markdown, json=json, title=title)


def _experiments(
    runs: list[str],
    lab: str,
    html: str | None,
    markdown: str | None,
    json: str | None,
    title: str | None,
    protocol: str | None,
    accept: list[str] | None,
) -> None:
    from tare.cli import destinations
    from tare.errors import UsageError
    from tare.report.experiment.make import PROTOCOLS, make
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
                "  next: correct the runs, or accept the violation as a deviation: --accept CHECK",
                err=True,
            )
    deliver(story(built), built.report, given)
