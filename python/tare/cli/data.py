"""`tare data`: the rows of standard workloads as files for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tare.cli import options
from tare.cli.command import Commands
from tare.meant import meant
from tare.workload.tpch import data as tpch_data
from tare.workload.wisconsin.kinds import Format, Generation

if TYPE_CHECKING:
    from tare.workload.wisconsin.relations import Relation

app = Commands(help="Make the rows of standard workloads.", no_args_is_help=True)

Rows = Annotated[
    int,
    typer.Option(
        min=1_000,
        max=100_000_000,
        metavar="N",
        help="Tuples of the large relations of 1993; those of 1983 have 10,000 and no other number.",
    ),
]


@app.callback()
def data() -> None:
    """The commands of `tare data`."""


@app.command()
def wisconsin(
    to: Annotated[Path, typer.Option("--to", metavar="DIR", help="A folder for the files, made if missing.")],
    generation: Annotated[
        Generation, typer.Option(help="1983: the paper's own; 1993: the scaled one.")
    ] = Generation.Y1993,
    rows: Rows = 10_000,
    kind: Annotated[
        Format, typer.Option("--format", help="Format of the files, one for each relation.")
    ] = Format.CSV,
    relation: Annotated[
        list[str] | None,
        typer.Option("--relation", metavar="NAME", help="This relation alone. Repeatable. Default: all."),
    ] = None,
    header: Annotated[
        bool, typer.Option("--header/--no-header", help="Begin each CSV file with the attributes' names.")
    ] = True,
    replace: Annotated[bool, typer.Option("--replace", help="Replace files that are there.")] = False,
    as_json: options.AsJson = False,
) -> None:
    """Write the Wisconsin benchmark's relations to files, all of them or none.

    Exit code: 0 done, 1 a file could not be written, 2 the request was at fault.
    """
    from tare.workload.wisconsin.files import write_files

    chosen = _chosen(generation, rows, relation)
    done = write_files(chosen, rows, to, kind, header=header, replace=replace, told=_told)
    if not as_json:
        for one in done:
            typer.echo(f"{one.path}: {one.tuples:,} tuples, {one.bytes:,} bytes")
        return
    import json

    files = [
        {"relation": one.relation, "path": str(one.path), "tuples": one.tuples, "bytes": one.bytes}
        for one in done
    ]
    typer.echo(json.dumps({"generation": generation, "rows": rows, "format": kind, "files": files}))


@app.command()
def tpch(
    to: Annotated[Path, typer.Option("--to", metavar="DIR", help="A folder for the files, made if missing.")],
    scale: Annotated[
        float, typer.Option(min=0.001, max=10_000, metavar="N", help="Scale factor; 1 is about 1 GB.")
    ] = 1.0,
    kind: Annotated[
        tpch_data.Format,
        typer.Option(
            "--format",
            help="Format of the files, one for each table. CSV files begin with the names of the columns.",
        ),
    ] = tpch_data.Format.CSV,
    replace: Annotated[bool, typer.Option("--replace", help="Replace files that exist.")] = False,
    as_json: options.AsJson = False,
) -> None:
    """Write the eight tables of TPC-H to files, all of them or none.

    Exit code: 0 done, 1 a file could not be written, 2 the request was at fault.
    """
    paths = tpch_data.write_files(to, scale, kind, replace=replace)
    if not as_json:
        for path in paths:
            typer.echo(f"{path}: {path.stat().st_size:,} bytes")
        return
    import json

    files = [{"table": path.stem, "path": str(path), "bytes": path.stat().st_size} for path in paths]
    typer.echo(json.dumps({"scale": scale, "format": kind, "files": files}))


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
            f"the relations of 1983 have {ROWS_1983:,} tuples and no other number",
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
