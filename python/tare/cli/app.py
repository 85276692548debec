"""The commands, gathered."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from tare.cli.command import Commands, Group
from tare.cli.later import CommandsLater, Source
from tare.interruption import exit_code_of
from tare.version import VERSION

COMMANDS = {
    "time": Source("tare.cli.time", "time"),
    "compare": Source("tare.cli.compare", "compare"),
    "doctor": Source("tare.cli.doctor", "doctor"),
    "isolate": Source("tare.cli.isolate", "isolate", {"allow_interspersed_args": False}),
    "model": Source("tare.cli.model", "model"),
    "protocol": Source("tare.cli.protocol", "protocol"),
    "report": Source("tare.cli.report", "report"),
    "trend": Source("tare.cli.trend", "trend"),
    "bench": Source("tare.cli.bench"),
    "profile": Source("tare.cli.profile"),
    "tune": Source("tare.cli.tune"),
    "server": Source("tare.cli.server"),
    "graft": Source("tare.cli.graft"),
    "cluster": Source("tare.cli.cluster"),
    "os": Source("tare.cli.os_trace"),
    "experiment": Source("tare.cli.experiment"),
    "executor": Source("tare.cli.executor"),
    "observe": Source("tare.cli.observe", "observe"),
    "lab": Source("tare.cli.lab"),
    "data": Source("tare.cli.data"),
}


class _Root(Group):
    """Group of all commands that reports Ctrl-C; Typer alone would end without a message."""

    commands: CommandsLater

    def __init__(self, **more: Any) -> None:
        super().__init__(**{**more, "commands": CommandsLater(COMMANDS)})

    def texts(self) -> dict[str, str | None]:
        return self.commands.texts()

    def make_context(self, *arguments: Any, **more: Any) -> Any:
        with _interrupts_reported():
            return super().make_context(*arguments, **more)

    def invoke(self, ctx: Any) -> Any:
        with _interrupts_reported():
            return super().invoke(ctx)


@contextmanager
def _interrupts_reported() -> Iterator[None]:
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
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="A metrology laboratory for database systems: measure what a query really costs, apart from the noise.\n\n"
    "Each command has a short help (-h) and a full one (--help). docs/commands.md describes durations, ids of runs, "
    "output files and exit codes.\n\n"
    'Example: tare time "SELECT count(*) FROM t" --db sqlite:///f.db',
)


def _version(asked: bool) -> None:
    if asked:
        print(f"tare {VERSION}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """The options of `tare` itself."""
