"""The commands, gathered."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from tare.cli import (
    bench,
    cluster,
    compare,
    data,
    doctor,
    experiment,
    isolate,
    lab,
    model,
    os_commands,
    profile,
    protocol,
    report,
    server,
    time,
    tune,
)
from tare.cli.command import Commands, Group
from tare.interruption import exit_code_of


class _Root(Group):
    """Typer alone would end on Ctrl-C without a word."""

    def make_context(self, *arguments: Any, **more: Any) -> Any:
        with _interrupts_told():
            return super().make_context(*arguments, **more)

    def invoke(self, ctx: Any) -> Any:
        with _interrupts_told():
            return super().invoke(ctx)


@contextmanager
def _interrupts_told() -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt as interrupt:
        typer.echo("tare: interrupted; machine settings are as they were", err=True)
        raise typer.Exit(exit_code_of(interrupt)) from None


app = Commands(
    cls=_Root,
    name="tare",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="A metrology laboratory for database systems: what a query really costs, apart from the noise.",
)


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        print(f"tare {version('tare-db')}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    """The options of `tare` itself."""


app.command()(time.time)
app.command()(compare.compare)
app.command()(doctor.doctor)
app.command(context_settings={"allow_interspersed_args": False})(isolate.isolate)
app.command()(model.model)
app.command()(protocol.protocol)
app.command()(report.report)
app.add_typer(bench.app, name="bench")
app.add_typer(os_commands.app, name="os")
app.add_typer(profile.app, name="profile")
app.add_typer(server.app, name="server")
app.add_typer(cluster.app, name="cluster")
app.add_typer(tune.app, name="tune")
app.add_typer(experiment.app, name="experiment")
app.add_typer(lab.app, name="lab")
app.add_typer(data.app, name="data")
