"""Commands that read their options alike: none is dropped without a word, and FILE may be left out."""

from __future__ import annotations

import functools
import shutil
from collections import Counter
from collections.abc import Callable
from typing import Any, TypeVar, cast

import typer
from typer.core import TyperCommand, TyperGroup

from tare import extras
from tare.cli import help as help_
from tare.errors import UsageError

Function = TypeVar("Function", bound=Callable[..., Any])

OPTIONAL_FILE = "[FILE]"
"""Metavar of an option whose value may be left out: then it is standard output, "-"."""

SHORT = "tare.short-help"

_HINTS = {
    (
        "compare",
        "--db",
    ): "both queries run on the server of one --db; to compare two servers, weigh the query on each "
    "with `tare time --json FILE`, then `tare compare ONE.json OTHER.json`"
}
"""Next steps, where there is more to do than to leave one out."""


class _Guarded:
    """Command whose options are refused where they are repeated without being repeatable."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        given = complete(self, ctx, args)
        rest: list[str] = super().parse_args(ctx, list(given))  # type: ignore[misc]
        refuse_repeated(self, ctx, given)
        return rest

    def format_usage(self, ctx: Any, formatter: Any) -> None:
        formatter.write_usage(ctx.command_path, " ".join(self.collect_usage_pieces(ctx)))

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return help_.usage(self)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        width = min(help_.MOST_COLUMNS, shutil.get_terminal_size().columns)
        formatter.width = width
        self.format_usage(ctx, formatter)
        for line in self.lines(ctx, width):
            formatter.write(f"{line}\n")

    def lines(self, ctx: Any, width: int) -> list[str]:
        """Lines of the help below the line of usage."""
        short = bool(ctx.meta.get(SHORT))
        return list(help_.page(self, width=width, short=short, name=ctx.command_path))


class Command(_Guarded, TyperCommand):
    pass


class Group(_Guarded, TyperGroup):
    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return ["COMMAND", "[ARGS...]"]

    def lines(self, ctx: Any, width: int) -> list[str]:
        return [*super().lines(ctx, width), *help_.commands(self.texts(), width)]

    def texts(self) -> dict[str, str | None]:
        """Help of each command by its name."""
        return {name: command.help for name, command in self.commands.items() if not command.hidden}


def complete(command: Any, ctx: Any, args: list[str]) -> list[str]:
    """The arguments with "-" after each option whose FILE was left out. Notes whether the short help is requested."""
    options = {
        name: option
        for option in command.get_params(ctx)
        if option.param_type_name == "option"
        for name in (*option.opts, *option.secondary_opts)
    }
    completed: list[str] = []
    rest = list(args)
    while rest:
        word = rest.pop(0)
        completed.append(word)
        if word == "--" or (not word.startswith("-") and not ctx.allow_interspersed_args):
            return completed + rest
        if word == "-h":
            ctx.meta[SHORT] = True
        option = options.get(word)
        if option is None or option.is_flag:
            continue
        if option.metavar == OPTIONAL_FILE and (not rest or (rest[0].startswith("-") and rest[0] != "-")):
            completed.append("-")
            continue
        completed += rest[: option.nargs]
        del rest[: option.nargs]
    return completed


def refuse_repeated(command: Any, ctx: Any, args: list[str]) -> None:
    """Raises UsageError, without the values: they may hold a password."""
    _, _, order = command.make_parser(ctx).parse_args(args=list(args))
    counts = Counter(
        parameter
        for parameter in order
        if parameter.param_type_name == "option" and not (parameter.multiple or parameter.count)
    )
    for parameter, count in counts.items():
        if count > 1:
            name = max(parameter.opts, key=len)
            raise UsageError(
                f"{name} is given {count} times", _HINTS.get((ctx.info_name, name), "leave all but one out")
            )


def needs(*names: str) -> Callable[[Function], Function]:
    """Make a command end before any work where one of these extras is not installed."""

    def guard(command: Function) -> Function:
        @functools.wraps(command)
        def guarded(*arguments: Any, **more: Any) -> Any:
            extras.need("this command", *names)
            return command(*arguments, **more)

        guarded.extras = names  # type: ignore[attr-defined]
        return cast(Function, guarded)

    return guard


class Commands(typer.Typer):
    """Group of commands with that guard."""

    def __init__(self, *, cls: type[TyperGroup] = Group, **more: Any) -> None:
        super().__init__(cls=cls, rich_markup_mode=None, **more)

    def command(
        self, name: str | None = None, *, cls: type[TyperCommand] | None = None, **more: Any
    ) -> Callable[[Any], Any]:
        return super().command(name, cls=cls or Command, **more)
