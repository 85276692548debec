"""The commands, gathered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Annotated, Any

import typer

from tare.cli.command import Commands, Group
from tare.interruption import exit_code_of

_COMMANDS: dict[str, dict[str, Any]] = {
    "time": {},
    "compare": {},
    "doctor": {},
    "isolate": {"context_settings": {"allow_interspersed_args": False}},
    "model": {},
    "protocol": {},
    "report": {},
}
"""Settings of the commands, each the function of its module's name."""

_GROUPS = {
    "bench": "bench",
    "os": "os_commands",
    "profile": "profile",
    "server": "server",
    "cluster": "cluster",
    "tune": "tune",
    "experiment": "experiment",
    "lab": "lab",
    "data": "data",
}
"""Module of each group, which has it as `app`."""


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


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        print(f"tare {version('tare-db')}")
        raise typer.Exit


def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    """The options of `tare` itself."""


def application(words: Sequence[str] = ()) -> Commands:
    """Return `tare` with the command that these words begin with, or with all of them where they begin with none.

    To load all and to lay out their options takes half of a command's start."""
    first = words[0] if words else ""
    known = first in _COMMANDS or first in _GROUPS
    app = Commands(
        cls=_Root,
        name="tare",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        help="A metrology laboratory for database systems: what a query really costs, apart from the noise.",
    )
    app.callback()(_root)
    for name, settings in _COMMANDS.items():
        if first == name or not known:
            app.command(**settings)(getattr(import_module(f"tare.cli.{name}"), name))
    for name, module in _GROUPS.items():
        if first == name or not known:
            app.add_typer(import_module(f"tare.cli.{module}").app, name=name)
    return app
