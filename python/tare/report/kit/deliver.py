"""The forms of a report, and where they go: files, whole or not at all, and standard output."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import takewhile
from pathlib import Path

from pydantic import BaseModel

from tare.errors import ExportFailed
from tare.files import write
from tare.report import json
from tare.report.kit.blocks import Block, Code, Section, Story


def _html(story: Story, document: BaseModel | None) -> str:
    from tare.report.kit import page  # brings the template engine and, where charts are drawn, their library

    return page.render(story)


def _markdown(story: Story, document: BaseModel | None) -> str:
    from tare.report.kit import markdown

    return markdown.render(story)


def _json(story: Story, document: BaseModel | None) -> str:
    assert document is not None, "a subject without a document renders its JSON itself"
    return json.render(document)


FORMS: Mapping[str, Callable[[Story, BaseModel | None], str]] = {
    "html": _html,
    "markdown": _markdown,
    "json": _json,
}
"""By the name of the option that requests it. A new form is a renderer and a line here."""


def deliver(
    story: Story,
    document: BaseModel | None,
    given: Mapping[str, str | None],
    *,
    more: Mapping[str, Callable[[], str]] | None = None,
    always: bool = False,
    short: Callable[[int], Sequence[Block]] | None = None,
) -> None:
    """Writes each form that was requested. Without one, or `always` where standard output has no other use, prints
    the story; with files alone, its answer. Then prints where the files are.

    `given`: a path, "-" for standard output, or None, by the name of the form. `more`: forms that this subject
    renders itself. `short`: blocks to print in the place of the whole story, by the terminal's width. Raises
    ExportFailed."""
    forms = {name: partial(form, story, document) for name, form in FORMS.items()} | dict(more or {})

    def answer(written: Sequence[str]) -> None:
        def blocks(width: int) -> Iterator[Block]:
            if not always and any(given.values()):
                yield from takewhile(lambda block: not isinstance(block, Section), story.blocks)
            else:
                yield from short(width) if short else story.blocks
            if written:
                yield Code("\n".join(f"{name}: {given[name]}" for name in written), copied=True)

        _show(blocks)

    write_forms(given, forms, answer)


def write_forms(
    given: Mapping[str, str | None],
    forms: Mapping[str, Callable[[], str]],
    otherwise: Callable[[Sequence[str]], None] = lambda written: None,
) -> None:
    """Writes the forms that were requested. `otherwise`: prints where no form goes to standard output, given the
    names of those that were written to files.

    Files come first, since standard output may be a pipe whose reader has gone; one that fails does not keep the
    others from being written. Raises ExportFailed."""
    requested = {name: target for name, target in given.items() if target}
    written, failures = [], []
    for name, target in requested.items():
        if target != "-":
            try:
                write(Path(target), forms[name]())
                written.append(name)
            except ExportFailed as error:
                failures.append(error)
    shown = [name for name, target in requested.items() if target == "-"]
    for name in shown:
        sys.stdout.write(forms[name]())
    if not shown:
        otherwise(written)
    for failure in failures[:-1]:
        print(f"tare: {failure}", file=sys.stderr)
    if failures:
        raise failures[-1]


def show(story: Story, short: Callable[[int], Sequence[Block]] | None = None) -> None:
    """Prints the story, or its short form, as wide as the terminal is."""
    _show(short or (lambda width: story.blocks))


def _show(blocks: Callable[[int], Iterable[Block]]) -> None:
    from rich.console import Console

    from tare.report.kit.terminal import print_blocks

    console = Console(highlight=False)
    print_blocks(list(blocks(console.width)), console)
