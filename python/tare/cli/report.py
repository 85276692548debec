"""`tare report`: the report of whatever has an id."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tare.cli import options
from tare.cli.given import refuse_given

if TYPE_CHECKING:
    from tare.lab.ids import IdKind


def report(
    context: typer.Context,
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="ID...",
            help="Runs of experiments (e1 e2), or one transactional run (o1), profile (p1) or tuning run (t1).",
        ),
    ],
    lab: options.Lab = "lab.db",
    html: options.Html = None,
    markdown: options.Words = None,
    json: options.Numbers = None,
    title: options.Title = None,
    protocol: Annotated[
        str | None,
        typer.Option(
            metavar="ttp2|ttp1|exact",
            help="Whose times come first, of experiments. Default: ttp2 where the DBMS had one CPU, else exact.",
        ),
    ] = None,
    accept: options.Accept = None,
    profiles: options.Profiles = "profiles",
    tunings: options.Tunings = "tunings",
) -> None:
    """Report runs of experiments, or whatever else has an id.

    A report of experiments has the paper's two paragraphs, drop tables, times with intervals, charts and models; LAB
    may also be the folder of an export. Without --html, --markdown or --json the answer is printed: of experiments, the
    number of Q@Cs that have a time, and the two paragraphs.

    Reports of other kinds have more options as `tare bench report`, `tare bench oltp report`, `tare profile show` and
    `tare tune report`.

    Exit codes: 0 done; 1 the lab, a folder or a file failed; 2 the request was at fault.
    """
    from tare.cli import destinations
    from tare.lab.ids import IdKind

    given = {"html": html, "markdown": markdown, "json": json}
    destinations.check(given)
    kind = _one_kind(runs)
    if kind is IdKind.EXPERIMENT:
        _experiments(runs, lab, given, title, protocol, accept or ())
        return
    refuse_given(
        context, ("protocol", "accept"), f"is about experiments, and {runs[0]} is none", "leave it out"
    )
    if kind is IdKind.OLTP:
        from tare.cli.bench_oltp_report import deliver_run

        deliver_run(runs[0], lab, given, title)
    elif kind is IdKind.PROFILE:
        from tare.cli.profile_report import built
        from tare.cli.profile_show import deliver_profile
        from tare.lab.profiles import open_run

        deliver_profile(built(open_run(runs[0], Path(profiles)), title=title), given)
    else:
        from tare.cli.tune_run import deliver_tuning
        from tare.tune.store import load

        deliver_tuning(load(Path(tunings), runs[0]), given, title)


def _one_kind(ids: Sequence[str]) -> IdKind:
    """Return the kind of all ids; of those without a letter, an experiment's. Raises UsageError for several kinds, and
    for several ids of a kind that is reported one at a time."""
    from tare.errors import UsageError
    from tare.lab.ids import IdKind, kind_of

    kinds = {kind_of(one) or IdKind.EXPERIMENT for one in ids}
    if len(kinds) > 1:
        raise UsageError(f"{' '.join(ids)}: of several kinds", "give ids of one kind: tare report e1 e2")
    kind = kinds.pop()
    if len(ids) > 1 and kind is not IdKind.EXPERIMENT:
        raise UsageError(
            f"{' '.join(ids)}: {len(ids)} ids, and a report of this kind is of one",
            "give one; `tare compare` takes two",
        )
    return kind


def _experiments(
    runs: Sequence[str],
    lab: str,
    given: Mapping[str, str | None],
    title: str | None,
    protocol: str | None,
    accept: Sequence[str],
) -> None:
    from tare.errors import UsageError
    from tare.report.experiment.build import PROTOCOLS, make
    from tare.report.experiment.story import story
    from tare.report.kit.deliver import deliver

    if protocol is not None and protocol not in PROTOCOLS:
        raise UsageError(f"{protocol}: not a protocol", f"give one of {', '.join(PROTOCOLS)}")
    built = make(lab, runs, accept=accept, primary=protocol, title=title)
    for one in built.report.protocols:
        if one.stopped:
            typer.echo(
                f"tare: {one.label} was stopped: {one.stopped}\n"
                "  next: mend the runs, or take the violation as a deviation: --accept CHECK",
                err=True,
            )
    deliver(story(built), built.report, given)
