"""`tare profile show`, `diff`, `list` and `export`: profiles as reports and in other tools' formats."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tare.cli import options
from tare.cli.command import needs
from tare.cli.help import ADVANCED, OUTPUT

if TYPE_CHECKING:
    from tare.errors import ProfileDamaged
    from tare.lab.profiles import Run as Profile

Run = Annotated[
    str,
    typer.Argument(
        metavar="PROFILE", help="Profile by id (p7), by name in the folder of profiles, or by path."
    ),
]
A = Annotated[str, typer.Argument(metavar="PROFILE_A", help="Baseline: the profile before the change.")]
B = Annotated[str, typer.Argument(metavar="PROFILE_B", help="Candidate: the profile after the change.")]
Round = Annotated[
    int | None,
    typer.Option("--round", min=1, metavar="N", help="Report this round. Default: the last."),
]
Top = Annotated[
    int,
    typer.Option(min=1, max=1000, metavar="N", help="Number of factors to print.", rich_help_panel=OUTPUT),
]
Type = Annotated[
    str | None,
    typer.Option(
        "--type", metavar="NAME", help="Use only transactions of this type, as the report names it."
    ),
]
ServerTime = Annotated[
    bool | None,
    typer.Option(
        "--server-time/--whole-time",
        help="Leave out time that the server waits for the client between statements, or include it. Default: as "
        "recorded.",
        rich_help_panel=ADVANCED,
    ),
]


@needs("report")
def show(
    run: Run,
    tree: Annotated[bool, typer.Option("--tree", help="Print the variance tree.")] = False,
    factors: Annotated[bool, typer.Option("--factors", help="Print the factors, by score.")] = False,
    flame: Annotated[
        bool, typer.Option("--flame", help="Print the tree as an icicle, as wide as the variance.")
    ] = False,
    tail: Annotated[
        bool, typer.Option("--tail", help="Print the differences above the 99th percentile.")
    ] = False,
    types: Annotated[bool, typer.Option("--types", help="Print the types of transactions.")] = False,
    round_: Round = None,
    type_: Type = None,
    within: Annotated[
        bool,
        typer.Option(
            "--within-types",
            help="Leave out the variance between types, which comes from different work.",
            rich_help_panel=ADVANCED,
        ),
    ] = False,
    server_time: ServerTime = None,
    top: Top = 10,
    profiles: options.Profiles = "profiles",
    html: options.Html = None,
    markdown: options.Markdown = None,
    json: options.Json = None,
    title: options.Title = None,
) -> None:
    """Report a recorded profile, whole or in parts.

    Example: tare profile show p1 --tree --server-time
    """
    from tare.cli import destinations
    from tare.cli.profile_report import built
    from tare.lab.profiles import open_run
    from tare.report.kit.deliver import deliver
    from tare.report.profile.story import PARTS, story

    given = {"html": html, "markdown": markdown, "json": json}
    destinations.check(given)
    found = built(
        open_run(run, Path(profiles)),
        round_=round_,
        type_=type_,
        within=within,
        server_time=server_time,
        title=title,
    )
    chosen = {"tree": tree, "flame": flame, "factors": factors, "types": types, "tail": tail}
    parts = [name for name, wanted in chosen.items() if wanted]
    deliver(story(found, parts or PARTS, top), found.report, given)


@needs("report")
def diff(
    run_a: A,
    run_b: B,
    server_time: ServerTime = None,
    profiles: options.Profiles = "profiles",
    html: options.Html = None,
    markdown: options.Markdown = None,
    json: options.Json = None,
    title: options.Title = None,
) -> None:
    """Compare two profiles: variance before and after, and the functions that make the difference.

    Example: tare profile diff p1 p2
    """
    from tare.cli import destinations
    from tare.cli.profile_report import compared
    from tare.lab.profiles import open_run
    from tare.report.kit.deliver import deliver
    from tare.report.profile.comparison_story import story

    given = {"html": html, "markdown": markdown, "json": json}
    destinations.check(given)
    before, after = (open_run(which, Path(profiles)) for which in (run_a, run_b))
    found = compared(before, after, server_time=server_time, title=title)
    deliver(story(found), found, given)


@needs("report")
def list_(profiles: options.Profiles = "profiles", json: options.Json = None) -> None:
    """List the profiles of a folder, newest first.

    Example: tare profile list --profiles profiles
    """
    from tare.cli import destinations
    from tare.lab.profiles import runs_in

    destinations.check({"json": json})
    found = runs_in(Path(profiles))
    if not destinations.write_json(_document(profiles, found), json):
        return
    if not found:
        typer.echo(f"{profiles}/ has no profiles; record one: tare profile attach")
    else:
        _print_runs(found)


@needs("report")
def export(
    run: Run,
    perfetto: Annotated[
        str | None,
        options.output(
            "--perfetto", "Write single transactions as a trace for Perfetto or chrome://tracing."
        ),
    ] = None,
    folded: Annotated[
        str | None,
        options.output("--folded", "Write stacks weighted by their share of the variance, for flame graphs."),
    ] = None,
    folded_negative: Annotated[
        str | None,
        options.output(
            "--folded-negative", "Write the stacks with a negative share: they even out the others' variance."
        ),
    ] = None,
    slowest: Annotated[
        int, typer.Option(min=0, metavar="N", help="Number of slowest transactions in the trace.")
    ] = 10,
    median: Annotated[
        int, typer.Option(min=0, metavar="N", help="Number of transactions of median duration in the trace.")
    ] = 3,
    transaction: Annotated[
        list[int] | None,
        typer.Option(
            min=0, metavar="N", help="Put this transaction into the trace instead, by number. Repeatable."
        ),
    ] = None,
    round_: Round = None,
    type_: Type = None,
    server_time: ServerTime = None,
    profiles: options.Profiles = "profiles",
) -> None:
    """Write a profile in the formats of other tools.

    Example: tare profile export p1 --perfetto trace.json
    """
    from tare.cli.profile_export import Wanted, exported

    wanted = Wanted(
        perfetto,
        folded,
        folded_negative,
        slowest,
        median,
        tuple(transaction or ()),
        round_,
        type_,
        server_time,
    )
    exported(run, Path(profiles), wanted)


def _document(folder: str, found: list[Profile | ProfileDamaged]) -> dict[str, object]:
    from tare.lab.profiles import Run as Profile

    runs = [
        {
            "run": str(one.id) if one.id else None,
            "name": one.name,
            "folder": str(one.folder),
            **one.about.model_dump(include={"when", "state", "dbms", "dbms_version", "backend", "preset"}),
            "rounds": len(one.about.rounds),
        }
        for one in found
        if isinstance(one, Profile)
    ]
    damaged = [one.what for one in found if not isinstance(one, Profile)]
    return {"folder": folder, "profiles": runs, "damaged": damaged}


def _print_runs(found: list[Profile | ProfileDamaged]) -> None:
    from rich.console import Console

    from tare.lab.profiles import Run as Profile
    from tare.report.kit.blocks import Block, Column, Item, Items, Kind, Row, Table, Tone
    from tare.report.kit.terminal import print_blocks
    from tare.report.words import NOTHING

    rows: list[Row] = [
        [
            str(run.id or NOTHING),
            run.name,
            f"{run.about.dbms} {run.about.dbms_version.partition('-')[0]}".strip() or run.about.server,
            run.about.when[:16].replace("T", " "),
            run.about.backend,
            run.about.preset,
            str(len(run.about.rounds)),
            run.about.state,
        ]
        for run in found
        if isinstance(run, Profile)
    ]
    names = ("id", "profile", "DBMS", "started", "backend", "transactions")
    columns = [*(Column(name, Kind.NAME) for name in names), Column("rounds"), Column("state", Kind.NAME)]
    damaged = [Item(one.what, "✗", Tone.BAD) for one in found if not isinstance(one, Profile)]
    blocks: list[Block] = [Table("", columns, rows)] if rows else []
    print_blocks([*blocks, *([Items(damaged)] if damaged else [])], Console())
