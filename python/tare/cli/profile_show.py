"""`tare profile show`, `diff`, `list` and `export`: what profiles have to say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tare.cli import options

if TYPE_CHECKING:
    from tare.errors import ProfileDamaged
    from tare.lab.profiles import Run as Profile
    from tare.report.profile.build import Built
    from tare.report.profile.comparison import Comparison

TOP = 10
"""Factors that are printed."""

Run = Annotated[
    str,
    typer.Argument(
        metavar="RUN", help="A profile: its name in the folder of runs, or the path of its folder."
    ),
]
A = Annotated[str, typer.Argument(metavar="RUN_A", help="The one before.")]
B = Annotated[str, typer.Argument(metavar="RUN_B", help="The one after.")]
Round = Annotated[
    int | None, typer.Option("--round", min=1, metavar="N", help="Round to show. Default: the last.")
]
Type = Annotated[
    str | None,
    typer.Option("--type", metavar="NAME", help="Only transactions of this type, as the report names it."),
]
ServerTime = Annotated[
    bool | None,
    typer.Option(
        "--server-time/--whole-time",
        help="Take out waiting for the client between statements, or leave it in. Default: as the profile was made.",
    ),
]


def show(
    run: Run,
    tree: Annotated[bool, typer.Option("--tree", help="The variance tree.")] = False,
    factors: Annotated[bool, typer.Option("--factors", help="The factors, by score.")] = False,
    flame: Annotated[
        bool, typer.Option("--flame", help="The tree as an icicle, as wide as the variance.")
    ] = False,
    tail: Annotated[
        bool, typer.Option("--tail", help="Show the differences above the 99th percentile.")
    ] = False,
    types: Annotated[bool, typer.Option("--types", help="The types of transactions.")] = False,
    round_: Round = None,
    type_: Type = None,
    within: Annotated[
        bool,
        typer.Option("--within-types", help="Take out what lies between types: work that was asked for."),
    ] = False,
    server_time: ServerTime = None,
    top: Annotated[int, typer.Option(min=1, max=1000, help="How many factors.")] = TOP,
    profiles: options.Profiles = "profiles",
    html: options.Html = None,
    markdown: options.Words = None,
    json: options.Numbers = None,
    title: options.Title = None,
) -> None:
    """Report a profile again, whole or in parts.

    Exit code: 0 done, 1 the profile or a file failed, 2 the request was at fault.
    """
    from tare.cli import destinations
    from tare.cli.profile_report import built
    from tare.lab.profiles import open_run

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
    deliver_profile(found, given, [name for name, wanted in chosen.items() if wanted], top)


def deliver_profile(
    found: Built, given: Mapping[str, str | None], parts: Sequence[str] = (), top: int = TOP
) -> None:
    """Write the report in the requested forms, or print these parts, by default all. Raises ExportFailed."""
    from tare.report.kit.deliver import deliver
    from tare.report.profile.story import PARTS, answer, printed, story

    shown = printed(found, parts or PARTS, top)
    deliver(story(found), found.report, given, printed=shown, answer=answer(found))


def diff(
    run_a: A,
    run_b: B,
    server_time: ServerTime = None,
    profiles: options.Profiles = "profiles",
    html: options.Html = None,
    markdown: options.Words = None,
    json: options.Numbers = None,
    title: options.Title = None,
) -> None:
    """Compare two profiles: how the variance of durations changed, and which functions changed it.

    Exit code: 0 done, 1 a profile or a file failed, 2 the request was at fault.
    """
    from tare.cli import destinations
    from tare.cli.profile_report import compared
    from tare.lab.profiles import open_run

    given = {"html": html, "markdown": markdown, "json": json}
    destinations.check(given)
    before, after = (open_run(one, Path(profiles)) for one in (run_a, run_b))
    deliver_difference(compared(before, after, server_time=server_time, title=title), given)


def deliver_difference(found: Comparison, given: Mapping[str, str | None]) -> None:
    """Write the comparison in the requested forms, or print it. Raises ExportFailed."""
    from tare.report.kit.deliver import deliver
    from tare.report.profile.comparison_story import answer, story

    deliver(story(found), found, given, answer=answer(found))


def list_(profiles: options.Profiles = "profiles", json: options.AsJson = False) -> None:
    """List the profiles of a folder, newest first.

    Exit code: 0 done.
    """
    from tare.lab.profiles import runs_in

    found = runs_in(Path(profiles))
    if json:
        _print_json(profiles, found)
    elif not found:
        typer.echo(f"{profiles}/ holds no profiles; record one: tare profile attach")
    else:
        _print_runs(found)


def export(
    run: Run,
    perfetto: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|-", help="Single transactions as a trace for Perfetto or chrome://tracing."
        ),
    ] = None,
    folded: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|-", help="Stacks weighted by their share of the variance, for flame graphs."
        ),
    ] = None,
    folded_negative: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|-", help="Write the stacks whose share is negative: they even out what others vary."
        ),
    ] = None,
    slowest: Annotated[int, typer.Option(min=0, help="Transactions in the trace: the slowest.")] = 10,
    median: Annotated[int, typer.Option(min=0, help="And so many that took as long as the median.")] = 3,
    transaction: Annotated[
        list[int] | None,
        typer.Option(min=0, metavar="N", help="These transactions instead, by number. Repeatable."),
    ] = None,
    round_: Round = None,
    type_: Type = None,
    server_time: ServerTime = None,
    profiles: options.Profiles = "profiles",
) -> None:
    """Write a profile in other tools' formats.

    Exit code: 0 done, 1 the profile or a file failed, 2 the request was at fault.
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


def _print_json(folder: str, found: list[Profile | ProfileDamaged]) -> None:
    import json

    from tare.lab.profiles import Run as Profile

    runs = [
        {
            "name": one.name,
            "folder": str(one.folder),
            **one.about.model_dump(include={"when", "state", "dbms", "dbms_version", "backend", "preset"}),
            "rounds": len(one.about.rounds),
        }
        for one in found
        if isinstance(one, Profile)
    ]
    damaged = [one.what for one in found if not isinstance(one, Profile)]
    typer.echo(json.dumps({"folder": folder, "profiles": runs, "damaged": damaged}, indent=2))


def _print_runs(found: list[Profile | ProfileDamaged]) -> None:
    from tare.lab.profiles import Run as Profile
    from tare.report.kit.blocks import Block, Column, Item, Items, Kind, Row, Table, Tone
    from tare.report.kit.deliver import show_blocks
    from tare.report.kit.figure import JOINED

    rows: list[Row] = [
        [
            one.name,
            f"{one.about.dbms} {one.about.dbms_version.partition('-')[0]}".strip() or one.about.server,
            one.about.when[:16].replace("T", JOINED),
            one.about.backend,
            one.about.preset,
            str(len(one.about.rounds)),
            one.about.state,
        ]
        for one in found
        if isinstance(one, Profile)
    ]
    names = ("profile", "DBMS", "begun", "backend", "transactions")
    columns = [*(Column(name, Kind.NAME) for name in names), Column("rounds"), Column("state", Kind.NAME)]
    blocks: list[Block] = [Table("", columns, rows)] if rows else []
    damaged = [Item(one.what, "✗", Tone.BAD) for one in found if not isinstance(one, Profile)]
    if damaged:
        blocks.append(Items(damaged))
    show_blocks(blocks)
