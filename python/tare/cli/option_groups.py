"""Groups of options that several commands share. A command takes each group as one parameter.

`with_groups` replaces that parameter by the options of the group, in its place.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from functools import wraps
from typing import Any, get_type_hints

from tare.cli import destinations, options
from tare.measure.choices import AnswerRule, CacheState


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Conditions of the timed runs."""

    warmup: options.Warmup = "auto"
    cache: options.Cache = CacheState.WARM
    cold: options.Cold = False
    execution_only: options.ExecutionOnly = False
    timeout: options.Timeout = None


@dataclass(frozen=True, slots=True)
class StatementOptions:
    """Rule for the answers of a user's statements, and phases around the timed runs."""

    answer: options.Answer = AnswerRule.CLOSE
    setup: options.Setup = None
    prepare: options.Prepare = None
    conclude: options.Conclude = None
    cleanup: options.Cleanup = None


@dataclass(frozen=True, slots=True)
class Outputs:
    """Destinations as they were given: a path, "-" for standard output, or None."""

    verbose: options.Verbose = False  # print the whole report, not its short form
    html: options.Html = None
    markdown: options.Words = None
    json: options.Json = None
    csv: options.Csv = None

    def check(self) -> None:
        """Raises UsageError for two results in one place, and for a place that cannot be written."""
        destinations.check(self.given())

    def given(self) -> dict[str, str | None]:
        """Destinations by the name of their form."""
        return {"html": self.html, "markdown": self.markdown, "json": self.json, "csv": self.csv}

    @property
    def quiet(self) -> bool:
        """Standard output is spoken for."""
        return "-" in self.given().values()


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """Ways to reach the server and to read the kernel, and permissions to change both."""

    allow_restart: options.AllowRestart = False
    connect_timeout: options.ConnectTimeout = 10.0
    tier: options.TierFlag = None
    machine_settings: options.Settings = True


def with_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with the options of each group in place of the group. All are passed by name."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {
        name: hint for name, hint in hints.items() if isinstance(hint, type) and is_dataclass(hint)
    }

    @wraps(command)
    def expanded(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{field.name: given.pop(field.name) for field in fields(group)})
        command(**given)

    parameters: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(command).parameters.items():
        named = parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[name])
        parameters += _parameters(groups[name]) if name in groups else [named]
    expanded.__dict__["__signature__"] = inspect.Signature(parameters)
    expanded.__annotations__ = {one.name: one.annotation for one in parameters}
    return expanded


def _parameters(group: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=hints[field.name]
        )
        for field in fields(group)
    ]
