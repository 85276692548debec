"""Commands that are imported when they are looked up, so that one command does not wait for the options of all."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, MutableMapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import typer

from tare.cli.command import Commands


@dataclass(frozen=True, slots=True)
class Source:
    """Place of a command (a function) or of a group of commands (a Typer)."""

    module: str
    name: str = "app"
    settings: Mapping[str, Any] = field(default_factory=dict)

    def load(self) -> Any:
        return getattr(import_module(self.module), self.name)


class CommandsLater(MutableMapping[str, Any]):
    """Commands by name."""

    def __init__(self, sources: Mapping[str, Source]) -> None:
        self._sources = dict(sources)
        self._built: dict[str, Any] = {}

    def texts(self) -> dict[str, str | None]:
        """Help of each command, without a look at its options."""
        texts = {}
        for name, source in self._sources.items():
            target = source.load()
            texts[name] = target.info.help if isinstance(target, typer.Typer) else inspect.getdoc(target)
        return texts

    def __getitem__(self, name: str) -> Any:
        if name not in self._built:
            self._built[name] = _built(name, self._sources[name])
        return self._built[name]

    def __setitem__(self, name: str, command: Any) -> None:
        self._built[name] = command

    def __delitem__(self, name: str) -> None:
        del self._sources[name]
        self._built.pop(name, None)

    def __iter__(self) -> Iterator[str]:
        return iter(self._sources)

    def __len__(self) -> int:
        return len(self._sources)


def _built(name: str, source: Source) -> Any:
    target = source.load()
    if isinstance(target, typer.Typer):
        group = typer.main.get_group(target)
        group.name = name
        return group
    alone = Commands(add_completion=False)
    alone.command(name, context_settings=dict(source.settings))(target)
    return typer.main.get_command(alone)
