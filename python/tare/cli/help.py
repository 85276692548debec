"""Help of a command, for any width from 60 columns: paragraphs, options in panels, one example.

`--help` shows everything, `-h` the first paragraph, the example and the basic options. No word is ever cut.
"""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from typing import Any

from tare.cli.durations import shown

BASIC, CACHES, PHASES, OUTPUT, ADVANCED = "Basic", "Caches", "Phases", "Output", "Advanced"
PANELS = (BASIC, CACHES, PHASES, OUTPUT, ADVANCED)
"""Panels in the order in which they are shown. An option that names none is basic."""

EXAMPLE = "Example: "
MOST_COLUMNS = 100
BESIDE_FROM = 76  # columns: below that, help stands under the name of an option
_NO_BREAK = "\N{NO-BREAK SPACE}"
NAMES_MOST = 30  # columns that names of options take at most, where help stands beside them


def paragraphs(text: str | None) -> list[str]:
    """Paragraphs of a docstring, each on one line, without the example."""
    found = [" ".join(part.split()) for part in inspect.cleandoc(text or "").split("\n\n")]
    return [part for part in found if part and not part.startswith(EXAMPLE)]


def example(text: str | None) -> str | None:
    """The command that a docstring gives as its example."""
    for part in inspect.cleandoc(text or "").split("\n\n"):
        if part.startswith(EXAMPLE):
            return " ".join(part.removeprefix(EXAMPLE).split())
    return None


def usage(command: Any) -> list[str]:
    """Pieces of the line of usage: [OPTIONS] RUN [SQL...]."""
    pieces = ["[OPTIONS]"]
    for parameter in command.params:
        if parameter.param_type_name == "argument":
            name = _argument(parameter)
            pieces.append(name if parameter.required else f"[{name}]")
    return pieces


def page(command: Any, *, width: int, short: bool, name: str) -> Iterator[str]:
    """Lines of the help, below the line of usage. `name`: the command with those that it belongs to."""
    texts = paragraphs(command.help)
    for text in texts[:1] if short else texts:
        yield from ("", *_wrapped(text, width, ""))
    if shown_example := example(command.help):
        yield from ("", *_wrapped(f"{EXAMPLE}{shown_example}", width, "    "))
    arguments = [
        (_argument(parameter), _help(parameter))
        for parameter in command.params
        if parameter.param_type_name == "argument" and parameter.help
    ]
    if arguments:
        yield from ("", "Arguments:", *_definitions(arguments, width))
    options = [
        parameter
        for parameter in command.params
        if parameter.param_type_name == "option" and not parameter.hidden
    ]
    left_out = 0
    for panel in PANELS:
        rows = [(_option(option), _help(option)) for option in options if panel_of(option) == panel]
        if short and panel != BASIC:
            left_out += len(rows)
        elif rows:
            yield from ("", "Options:" if panel == BASIC else f"{panel}:", *_definitions(rows, width))
    if left_out:
        plural = "options" if left_out > 1 else "option"
        yield from ("", *_wrapped(f"{name} --help shows {left_out} more {plural}.", width, ""))


def commands(texts: Mapping[str, str | None], width: int) -> Iterator[str]:
    """Lines that name the commands of a group, each with the first sentence of its help."""
    rows = [
        (name, (paragraphs(text) or [""])[0].partition(". ")[0].rstrip(".")) for name, text in texts.items()
    ]
    yield from ("", "Commands:", *_definitions(rows, width))


def panel_of(option: Any) -> str:
    return option.rich_help_panel or BASIC


# One parameter -----------------------------------------------------------------------
def _argument(parameter: Any) -> str:
    return f"{parameter.metavar or parameter.name.upper()}{'...' if parameter.nargs == -1 else ''}"


def _option(option: Any) -> str:
    names = sorted(option.opts, key=len)
    text = ", ".join(names)
    if option.secondary_opts:
        text += "/" + "/".join(option.secondary_opts)
    return text if option.is_flag else f"{text} {option.metavar}"


def _help(parameter: Any) -> str:
    facts = []
    if default := _default(parameter):
        facts.append(f"default: {default}")
    if parameter.envvar:
        facts.append(f"env: {parameter.envvar}")
    if parameter.param_type_name == "option" and parameter.required:
        facts.append("required")
    text = " ".join((parameter.help or "").split())
    shown_facts = f"[{'; '.join(facts)}]".replace(" ", _NO_BREAK)
    return f"{text} {shown_facts}" if facts else text


def _default(parameter: Any) -> str:
    value = parameter.default
    if not parameter.show_default or value is None or callable(value) or parameter.multiple:
        return ""
    if isinstance(value, bool):
        if not parameter.secondary_opts:
            return ""
        return str((parameter.opts if value else parameter.secondary_opts)[0])
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, float):
        return shown(value) if parameter.metavar == "DURATION" else f"{value:g}"
    return str(value)


# Text --------------------------------------------------------------------------------
def _definitions(rows: Sequence[tuple[str, str]], width: int) -> Iterator[str]:
    longest = max(len(name) for name, _ in rows)
    beside = min(longest, NAMES_MOST) + 4 if width >= BESIDE_FROM else 6
    for name, text in rows:
        lines = _wrapped(text, width - beside, "")
        if width >= BESIDE_FROM and len(name) + 4 <= beside and lines:
            yield f"  {name:<{beside - 2}}{lines.pop(0)}"
        else:
            yield from _wrapped(f"  {name}", width, "      ")
        yield from (" " * beside + line for line in lines)


def _wrapped(text: str, width: int, indent: str) -> list[str]:
    lines = textwrap.wrap(
        text, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
    return [line.replace(_NO_BREAK, " ") for line in lines]
