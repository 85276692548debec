"""`tare graft`: changes to a server's own functions, on throw-away servers that Tare starts with them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tare.cli import destinations, options
from tare.cli.command import Commands
from tare.cli.server import Port, Setting, pairs

if TYPE_CHECKING:
    from tare.grafts.shared import State

app = Commands(
    help="Start MySQL 5.6.24 with a change of the papers' in it, and switch the change while the server runs.\n\n"
    "Example: tare graft start lock-order --dir /tmp/my",
    no_args_is_help=True,
)

Directory = Annotated[Path, typer.Option("--dir", metavar="DIR", help="Folder that `start` printed.")]
Policy = Annotated[
    str | None,
    typer.Option("--policy", metavar="NAME", help="Policy of the graft. Default: the server's own."),
]
Power = Annotated[
    int | None,
    typer.Option("--power", metavar="P", help="Exponent p of the policy age-power, 1 to 16. Default: 2."),
]


@app.command("list")
def list_(json: options.Json = None) -> None:
    """List the grafts and their policies; the first of each is the server's own.

    Example: tare graft list
    """
    from tare.grafts.catalogue import GRAFTS

    destinations.check({"json": json})
    records = [
        {
            "name": graft.name,
            "meaning": graft.meaning,
            "section": graft.section,
            "policies": {policy.name: policy.meaning for policy in graft.policies},
            "counts": {count.name: count.meaning for count in graft.counts},
        }
        for graft in GRAFTS.values()
    ]
    if destinations.write_json({"grafts": records}, json):
        for graft in GRAFTS.values():
            typer.echo(f"{graft.name}: {graft.meaning}")
            for policy in graft.policies:
                typer.echo(f"  {policy.name:14} {policy.meaning}")


@app.command()
def start(
    graft: Annotated[str, typer.Argument(metavar="GRAFT", help="Graft to start: lock-order or lazy-lru.")],
    dir_: Annotated[
        Path | None,
        typer.Option(
            "--dir",
            metavar="DIR",
            help="Folder for the server's data, or of a stopped server of Tare's. Default: a new temporary folder.",
        ),
    ] = None,
    policy: Policy = None,
    power: Power = None,
    port: Port = None,
    setting: Setting = None,
    json: options.Json = None,
) -> None:
    """Start a throw-away MySQL 5.6.24 with a graft, and print its URL. The graft is compiled at its first use.

    Example: tare graft start lock-order --policy eldest --dir /tmp/my
    """
    from tare.grafts import server
    from tare.grafts.catalogue import find

    destinations.check({"json": json})
    running = server.start(
        find(graft),
        dir_,
        policy=policy,
        power=server.POWER if power is None else power,
        settings=pairs(setting or ()),
        port=port,
    )
    record, state = server.status(running.directory)
    if destinations.write_json(
        {"url": record.url, "directory": str(record.directory), **_as_json(state)}, json
    ):
        typer.echo(running.url)
        typer.echo(f"switch it with: tare graft switch POLICY --dir {running.directory}", err=True)
        typer.echo(f"stop it with: tare server stop --dir {running.directory}", err=True)


@app.command()
def switch(
    policy: Annotated[str, typer.Argument(metavar="POLICY", help="Policy from now on; `list` shows them.")],
    dir_: Directory,
    power: Power = None,
    json: options.Json = None,
) -> None:
    """Change the policy of a running server, at once and for all connections.

    Example: tare graft switch eldest --dir /tmp/my
    """
    from tare.grafts import server

    destinations.check({"json": json})
    state = server.switch(dir_, policy, power)
    if destinations.write_json(_as_json(state), json):
        typer.echo(_line(state))


@app.command()
def status(dir_: Directory, json: options.Json = None) -> None:
    """Show the policy of a running server, and the graft's counts since the server started.

    Example: tare graft status --dir /tmp/my
    """
    from tare.grafts import server

    destinations.check({"json": json})
    _, state = server.status(dir_)
    if destinations.write_json(_as_json(state), json):
        typer.echo(_line(state))
        for count in state.graft.counts:
            number = state.counts[count.name]
            shown = f"{number / 1e6:,.3f} ms" if count.unit == "ns" else f"{number:,}"
            typer.echo(f"  {count.name:14} {shown:>16}  {count.meaning}")


def _line(state: State) -> str:
    power = f" (p = {state.power})" if state.policy == "age-power" else ""
    return f"{state.graft.name}: {state.policy}{power}, in process {state.pid}"


def _as_json(state: State) -> dict[str, object]:
    units = {
        count.name: f"{count.name} {count.unit}".strip().replace(" ", "_") for count in state.graft.counts
    }
    return {
        "graft": state.graft.name,
        "policy": state.policy,
        "power": state.power,
        "pid": state.pid,
        "counts": {units[name]: number for name, number in state.counts.items()},
    }
