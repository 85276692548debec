"""Commands whose options are given once, or are documented as repeatable: none is dropped without a word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from inspect import getdoc
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from tare.errors import UsageError

WORDS = "tare.words"
"""Key of `click.Context.meta` for the words of a command as they were given."""

_HINTS = {
    (
        "compare",
        "--db",
    ): "both queries run on the server of one --db; to compare two servers, give --a-db and --b-db"
}
"""Next step where it is more than leaving one out."""


class _Guarded:
    """Command whose options are refused where they are repeated without being repeatable."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        given = list(args)
        ctx.meta[WORDS] = tuple(args)
        rest: list[str] = super().parse_args(ctx, args)  # type: ignore[misc]
        refuse_repeated(self, ctx, given)
        return rest


class Command(_Guarded, TyperCommand):
    pass


class Group(_Guarded, TyperGroup):
    pass


def refuse_repeated(command: Any, ctx: Any, args: list[str]) -> None:
    """Raises UsageError, without the values: they may hold a password."""
    _, _, order = command.make_parser(ctx).parse_args(args=args)
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


class Commands(typer.Typer):
    """Group of commands with that guard. Help is laid out to the terminal's width: lines of a docstring do not end
    there where they end in the source."""

    def __init__(self, *, cls: type[TyperGroup] = Group, **more: Any) -> None:
        super().__init__(cls=cls, **more)

    def command(
        self, name: str | None = None, *, cls: type[TyperCommand] | None = None, **more: Any
    ) -> Callable[[Any], Any]:
        register = super().command

        def registered(function: Any) -> Any:
            help_ = more.pop("help", None) or _unwrapped(getdoc(function) or "")
            return register(name, cls=cls or Command, help=help_, **more)(function)

        return registered


def _unwrapped(text: str) -> str:
    """Return the text with each paragraph on one line."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))
