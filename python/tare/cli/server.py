"""`tare server`: throw-away servers, started as an ordinary user and left running in the background."""

from __future__ import annotations

import json
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tare.cli import options
from tare.cli.command import Commands
from tare.errors import UsageError

if TYPE_CHECKING:
    from tare.dbms.servers import RunningServer

app = Commands(help="Start and stop throw-away database servers.", no_args_is_help=True)


class Kind(StrEnum):
    POSTGRESQL = "postgresql"
    MARIADB = "mariadb"


@app.command()
def start(
    kind: Annotated[Kind, typer.Argument(help="Which DBMS.")],
    dir_: Annotated[
        Path | None, typer.Option("--dir", help="Where its data go; by default a new temporary directory.")
    ] = None,
    port: Annotated[
        int | None, typer.Option(min=1, max=65535, help="Listen on 127.0.0.1 too; by default a socket only.")
    ] = None,
    pg_version: Annotated[
        str | None, typer.Option(help="PostgreSQL's major version; by default the newest found.")
    ] = None,
    setting: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A server setting; repeatable.")
    ] = None,
    own_programs: Annotated[
        bool,
        typer.Option(
            "--own-programs",
            help="Run it from a copy of its programs in its directory: probes of `tare profile attach` act on a file, "
            "and then slow no other server.",
        ),
    ] = False,
    as_json: options.AsJson = False,
) -> None:
    """Start a server (or the one in --dir again) and print its URL."""
    from tare.dbms.servers import start_mariadb, start_postgresql

    settings = _pairs(setting or ())
    if kind is Kind.POSTGRESQL:
        server = start_postgresql(
            dir_, settings=settings, version=pg_version, port=port, own_programs=own_programs
        )
    elif pg_version is not None:
        raise UsageError("--pg-version is for PostgreSQL", "leave it out: the installed MariaDB is used")
    else:
        server = start_mariadb(dir_, settings=settings, port=port, own_programs=own_programs)
    typer.echo(json.dumps(_as_json(server)) if as_json else server.url)
    if not as_json:
        typer.echo(f"stop it with: tare server stop --dir {server.directory}", err=True)


@app.command()
def stop(
    dir_: Annotated[Path, typer.Option("--dir", help="The directory that `start` printed.")],
    as_json: options.AsJson = False,
) -> None:
    """Stop a server; its data stay, unless the directory was a temporary one."""
    from tare.dbms.servers import stop as stop_server

    stop_server(dir_)
    kept = dir_.exists()
    if as_json:
        typer.echo(json.dumps({"directory": str(dir_), "stopped": True, "kept": kept}))
    else:
        typer.echo(f"stopped; {'data kept in' if kept else 'removed'} {dir_}")


def _as_json(server: RunningServer) -> dict[str, object]:
    record = server.record
    return {
        "url": record.url,
        "kind": record.kind,
        "version": record.version,
        "directory": str(record.directory),
        "pid": record.pid,
        "log": str(record.log),
    }


def _pairs(texts: Sequence[str]) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for name, value in map(_pair, texts):
        if name in pairs:
            raise UsageError(f"--set {name} is given twice", "leave one of the two out")
        pairs[name] = value
    return pairs


def _pair(text: str) -> tuple[str, str]:
    name, found, value = text.partition("=")
    if not found or not name:
        raise UsageError(f"--set {text} is no NAME=VALUE", "write e.g. --set work_mem=64MB")
    return name, value
