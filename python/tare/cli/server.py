"""`tare server`: throw-away servers, started as an ordinary user and left running in the background."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tare.cli import destinations, options
from tare.cli.command import Commands
from tare.cli.help import ADVANCED
from tare.errors import UsageError

if TYPE_CHECKING:
    from tare.dbms.servers import RunningServer, ServerRecord
    from tare.dbms.servers.listing import ServerState

STOPPED = 3
"""Exit code of `status`, as of `pg_ctl status`."""

app = Commands(
    help="Start, list and stop throw-away database servers.\n\nExample: tare server start postgresql --dir /tmp/pg",
    no_args_is_help=True,
)


class Kind(StrEnum):
    POSTGRESQL = "postgresql"
    MARIADB = "mariadb"
    MYSQL = "mysql"


Port = Annotated[
    int | None,
    typer.Option(
        min=1, max=65535, metavar="N", help="Port of 127.0.0.1 to listen on. Default: a socket only."
    ),
]
Setting = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Setting of the server. Repeatable."),
]


@app.command()
def start(
    kind: Annotated[Kind, typer.Argument(metavar="DBMS", help="DBMS to start: postgresql or mariadb.")],
    dir_: Annotated[
        Path | None,
        typer.Option(
            "--dir", metavar="DIR", help="Folder for the server's data. Default: a new temporary folder."
        ),
    ] = None,
    port: Port = None,
    pg_version: Annotated[
        str | None,
        typer.Option(metavar="N", help="PostgreSQL's major version. Default: the newest installed."),
    ] = None,
    setting: Setting = None,
    own_programs: Annotated[
        bool,
        typer.Option(
            "--own-programs",
            help="Run the server from a copy of its programs in its folder. Probes of `tare profile attach` act on a "
            "file, and then slow no other server.",
            rich_help_panel=ADVANCED,
        ),
    ] = False,
    json: options.Json = None,
) -> None:
    """Start a server, or the one in --dir again, and print its URL.

    Example: tare server start postgresql --dir /tmp/pg --set work_mem=64MB
    """
    from tare.dbms.servers import start_mariadb, start_mysql, start_postgresql

    destinations.check({"json": json})
    settings = pairs(setting or ())
    if kind is Kind.POSTGRESQL:
        server = start_postgresql(
            dir_, settings=settings, version=pg_version, port=port, own_programs=own_programs
        )
    elif pg_version is not None:
        raise UsageError("--pg-version is for PostgreSQL", f"leave it out: the installed {kind} is used")
    elif kind is Kind.MYSQL:
        server = start_mysql(dir_, settings=settings, port=port, own_programs=own_programs)
    else:
        server = start_mariadb(dir_, settings=settings, port=port, own_programs=own_programs)
    if destinations.write_json(_as_json(server), json):
        typer.echo(server.url)
        typer.echo(f"stop it with: tare server stop --dir {server.directory}", err=True)


@app.command()
def stop(
    dir_: Annotated[Path, typer.Option("--dir", metavar="DIR", help="Folder that `start` printed.")],
    json: options.Json = None,
) -> None:
    """Stop a server. Its data stay, unless the folder is a temporary one.

    Example: tare server stop --dir /tmp/pg
    """
    from tare.dbms.servers import stop as stop_server

    destinations.check({"json": json})
    stop_server(dir_)
    kept = dir_.exists()
    if destinations.write_json({"directory": str(dir_), "stopped": True, "kept": kept}, json):
        typer.echo(f"stopped; {'data kept in' if kept else 'removed'} {dir_}")


@app.command("list")
def list_(json: options.Json = None) -> None:
    """List the servers that Tare started and this user may see, and stopped ones in temporary folders.

    Example: tare server list
    """
    from tare.dbms.servers.listing import servers_here

    destinations.check({"json": json})
    found = servers_here()
    if destinations.write_json({"servers": [_state_as_json(state) for state in found]}, json):
        for state in found:
            typer.echo(_line(state))
        if not found:
            typer.echo("no servers; start one with: tare server start postgresql", err=True)


@app.command()
def status(
    dir_: Annotated[Path, typer.Option("--dir", metavar="DIR", help="Folder that `start` printed.")],
    json: options.Json = None,
) -> None:
    """Show whether a server runs, and where: 0 is the exit code if it runs, 3 if it is stopped.

    Example: tare server status --dir /tmp/pg
    """
    from tare.dbms.servers.listing import state_of

    destinations.check({"json": json})
    state = state_of(dir_)
    if destinations.write_json(_state_as_json(state), json):
        typer.echo(_line(state))
        typer.echo(f"  log: {state.record.log}")
    raise typer.Exit(0 if state.is_running else STOPPED)


def _line(state: ServerState) -> str:
    server = state.record
    since = f"process {state.pid}, up for {_duration(state.up_s or 0)}" if state.is_running else "stopped"
    return f"{server.kind} {server.version}  {since}\n  url: {server.url}\n  dir: {server.directory}"


def _duration(seconds: float) -> str:
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} s"


def _state_as_json(state: ServerState) -> dict[str, object]:
    return {
        **_record_as_json(state.record),
        "running": state.is_running,
        "pid": state.pid,
        "up_s": state.up_s,
    }


def _as_json(server: RunningServer) -> dict[str, object]:
    return _record_as_json(server.record)


def _record_as_json(record: ServerRecord) -> dict[str, object]:
    return {
        "url": record.url,
        "kind": record.kind,
        "version": record.version,
        "directory": str(record.directory),
        "pid": record.pid,
        "log": str(record.log),
    }


def pairs(texts: Iterable[str], option: str = "--set") -> dict[str, str]:
    """Settings of a repeated NAME=VALUE. Raises UsageError."""
    settings: dict[str, str] = {}
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not (name and equals):
            raise UsageError(
                f"{option} {text}: not NAME=VALUE", f"write it like this: {option} work_mem=64MB"
            )
        if name in settings:
            raise UsageError(f"{option} sets {name} twice", "give one value")
        settings[name] = value
    return settings
