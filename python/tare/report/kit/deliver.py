"""The forms of a report, and where they go: files, whole or not at all, and standard output."""

from __future__ import annotations

import codecs
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from pydantic import BaseModel

from tare.errors import ExportFailed
from tare.files import write
from tare.report.document import as_json
from tare.report.kit.blocks import Block, Story
from tare.report.safe import printable


def _html(story: Story, document: BaseModel | None) -> str:
    from tare.report.kit import page  # brings the template engine and, where charts are drawn, their library

    return page.render(story)


def _markdown(story: Story, document: BaseModel | None) -> str:
    from tare.report.kit import markdown

    return markdown.render(story)


def _json(story: Story, document: BaseModel | None) -> str:
    assert document is not None, "a story without a document has its JSON in `more`"
    return as_json(document)


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
    printed: Story | None = None,
    answer: Story | None = None,
) -> None:
    """Writes each form that was requested. Without one, or `always` where standard output has no other use, prints
    `printed`, by default the story itself. Where forms go to files alone, prints `answer`, if there is one, and where
    the files are.

    `document`: the JSON form; None where the subject writes none, or its own in `more`. `given`: a path, "-" for
    standard output, or None, by the name of the form. `more`: forms of this subject alone.
    Files come first, since standard output may be a pipe whose reader has gone; one that fails does not keep the
    others from being written. Raises ExportFailed."""
    requested = {name: target for name, target in given.items() if target}

    def form(name: str) -> str:
        return more[name]() if more and name in more else FORMS[name](story, document)

    failures, written = [], []
    for name, target in requested.items():
        if target != "-":
            try:
                write(Path(target), form(name))
                written.append(name)
            except ExportFailed as error:
                failures.append(error)
    shown = [name for name, target in requested.items() if target == "-"]
    for name in shown:
        _send(form(name))
    if not requested or (always and not shown):
        show(printed or story)
    elif answer and not shown:
        show(answer)
        for name in written:
            print(printable(f"{name}: {requested[name]}"))  # whole, since it is copied
    for failure in failures[:-1]:
        print(f"tare: {failure}", file=sys.stderr)
    if failures:
        raise failures[-1]


def _send(document: str) -> None:
    """A document is UTF-8, whatever a terminal in this locale shows."""
    if codecs.lookup(sys.stdout.encoding).name != "utf-8":
        sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]  # of the real stream
    sys.stdout.write(document)


def show(story: Story) -> None:
    """Prints the story as wide as the terminal is."""
    show_blocks(story.blocks)


def show_blocks(blocks: Sequence[Block], *, stderr: bool = False) -> None:
    """Prints blocks that belong to no report, such as a list, as wide as the terminal is."""
    from rich.console import Console

    from tare.report.kit.terminal import print_blocks

    print_blocks(blocks, Console(highlight=False, stderr=stderr))
