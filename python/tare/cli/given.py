"""Options that stand on the command line, as against those that have a default or come from the environment."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from tare.errors import UsageError


def given(context: Any) -> Iterator[tuple[str, str]]:
    """Yield name and spelling of each parameter that the command line gives. `context`: of the command."""
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name)
        if source is not None and source.name == "COMMANDLINE":
            yield parameter.name, max(parameter.opts, key=len)


def refuse_given(context: Any, names: Collection[str], why: str, next_step: str) -> None:
    """Raises UsageError if one of these parameters is given. `why` follows its spelling."""
    for name, spelling in given(context):
        if name in names:
            raise UsageError(f"{spelling} {why}", next_step)
