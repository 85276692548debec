"""`tare data`: the rows of standard workloads as files for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tare.cli import options
from tare.cli.command import Commands
from tare.cli.help import OUTPUT
from tare.meant import meant
from tare.workload.tpch import data as tpch_data
from tare.workload.wisconsin.kinds import Format, Generation

if TYPE_CHECKING:
    from tare.workload.wisconsin.relation import Relation

app = Commands(
    help="Write the rows of standard workloads to files.\n\n"
    "Example: tare data wisconsin --rows 100000 --to rows",
    no_args_is_help=True,
)

Rows = Annotated[
    int,
    typer.Option(
        min=1_000,
        max=100_000_000,
        metavar="N",
        help="Tuples in the large relations of 1993; those of 1983 always have 10,000.",
    ),
]


@app.callback()
def data() -> None:
    """The commands of `tare data`."""


@app.command()
def wisconsin(
    to: Annotated[Path, typer.Option("--to", metavar="DIR", help="Folder for the files, made if missing.")],
    generation: Annotated[
        Generation,
        typer.Option(
            metavar=options.choices(Generation),
            help="Relations of the paper of 1983, or the scalable ones of 1993.",
        ),
    ] = Generation.Y1993,
    rows: Rows = 10_000,
    kind: Annotated[
        Format,
        typer.Option(
            "--format",
            metavar=options.choices(Format),
            help="Format of the files, one for each relation.",
            rich_help_panel=OUTPUT,
        ),
    ] = Format.CSV,
    relation: Annotated[
        list[str] | None,
        typer.Option(
            "--relation", metavar="NAME", help="Write only this relation. Repeatable. Default: all."
        ),
    ] = None,
    header: Annotated[
        bool,
        typer.Option(
            "--header/--no-header",
            help="Begin each CSV file with the names of the attributes.",
            rich_help_panel=OUTPUT,
        ),
    ] = True,
    replace: Annotated[bool, typer.Option("--replace", help="Replace files that exist.")] = False,
    json: options.Json = None,
) -> None:
    """Write the Wisconsin benchmark's relations to files, all of them or none.

    Example: tare data wisconsin --rows 100000 --format parquet --to rows
    """
    from tare import extras
    from tare.cli import destinations
    from tare.workload.wisconsin.files import write_files

    if kind is Format.PARQUET:
        extras.need("the format parquet", "report")
    chosen = _chosen(generation, rows, relation)
    destinations.check({"json": json})
    written = write_files(chosen, rows, to, kind, header=header, replace=replace, told=_told)
    files = [
        {"relation": file.relation, "path": str(file.path), "tuples": file.tuples, "bytes": file.bytes}
        for file in written
    ]
    document = {"generation": generation, "rows": rows, "format": kind, "files": files}
    if destinations.write_json(document, json):
        for file in written:
            typer.echo(f"{file.path}: {file.tuples:,} tuples, {file.bytes:,} bytes")


@app.command()
def tpch(
    to: Annotated[Path, typer.Option("--to", metavar="DIR", help="Folder for the files, made if missing.")],
    scale: Annotated[
        float, typer.Option(min=0.001, max=10_000, metavar="N", help="Scale factor; 1 is about 1 GB.")
    ] = 1.0,
    kind: Annotated[
        tpch_data.Format,
        typer.Option(
            "--format",
            metavar=options.choices(tpch_data.Format),
            help="Format of the files, one for each table. CSV files begin with the columns' names.",
            rich_help_panel=OUTPUT,
        ),
    ] = tpch_data.Format.CSV,
    json: options.Json = None,
) -> None:
    """Write the eight tables of TPC-H to files, all of them or none.

    Example: tare data tpch --scale 0.1 --to rows
    """
    from tare.cli import destinations

    destinations.check({"json": json})
    paths = tpch_data.write_files(to, scale, kind)
    files = [{"table": path.stem, "path": str(path), "bytes": path.stat().st_size} for path in paths]
    if destinations.write_json({"scale": scale, "format": kind, "files": files}, json):
        for path in paths:
            typer.echo(f"{path}: {path.stat().st_size:,} bytes")


def _told(path: Path) -> None:
    import sys

    if sys.stderr.isatty():
        typer.echo(f"{path} …", err=True)


def _chosen(generation: Generation, rows: int, names: list[str] | None) -> list[Relation]:
    """Raises UsageError."""
    from tare.errors import UsageError
    from tare.workload.wisconsin.mistakes import ROWS_1983
    from tare.workload.wisconsin.relations import relations

    if generation is Generation.Y1983 and rows != ROWS_1983:
        raise UsageError(
            f"the relations of 1983 always have {ROWS_1983:,} tuples",
            "leave out --rows, or take --generation 1993",
        )
    known = {one.name: one for one in relations(generation)}
    for name in names or ():
        if name not in known:
            raise UsageError(
                f"the {generation} benchmark has no relation {name}",
                meant(name, known, f"it has {', '.join(known)}"),
            )
    return [one for one in known.values() if not names or one.name in names]
