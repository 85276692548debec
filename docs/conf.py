"""Documentation site: the pages of this folder, and pages written from the code while it is built (`make docs`)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tare.version import VERSION

if TYPE_CHECKING:
    from sphinx.application import Sphinx

FOLDER = Path(__file__).parent
ROOT = FOLDER.parent
GENERATED = FOLDER / "_generated"
AT_ROOT = (ROOT / "METHODOLOGY.md", ROOT / "CONTRIBUTING.md")
_LINK = re.compile(r"(\[[^][]*\])\((?!https?:|#|mailto:)([^)#\s]+)(#[^)]*)?\)")
WIDTH = 90  # columns of a command's help

project = "Tare"
author = "the authors of Tare"
copyright = author
release = version = VERSION
extensions = ["myst_parser"]
exclude_patterns = ["log/report-kit"]
html_theme = "furo"
html_title = f"Tare {VERSION}"
html_show_copyright = False
html_copy_source = False
myst_heading_anchors = 4
suppress_warnings = ["misc.highlighting_failure"]  # examples may have an ellipsis
nitpicky = True


def setup(app: Sphinx) -> None:
    GENERATED.mkdir(exist_ok=True)
    written = {"help": _help(), "schemas": _schemas()}
    written |= {page.stem.lower(): _from_here(page.read_text()) for page in AT_ROOT}
    for name, text in written.items():
        page = GENERATED / f"{name}.md"
        if not page.exists() or page.read_text() != text:
            page.write_text(text)
    app.connect("source-read", _relink)
    app.connect("build-finished", _write_whole)


def _help() -> str:
    """Help of every command, as `--help` prints it."""
    from typer.main import get_command

    from tare.cli.app import app

    lines = ["# Every command", "", "Written from the code: what `--help` prints.", ""]
    for words, command in _commands(["tare"], get_command(app)):
        context = command.make_context(" ".join(words), [], resilient_parsing=True)
        lines += [f"## {' '.join(words)}", "", "```text", *command.lines(context, WIDTH), "```", ""]
    return "\n".join(lines)


def _commands(words: list[str], group: Any) -> Iterator[tuple[list[str], Any]]:
    for name in group.commands:
        command = group.commands[name]
        if command.hidden:
            continue
        if hasattr(command, "commands"):
            yield from _commands([*words, name], command)
        else:
            yield [*words, name], command


def _schemas() -> str:
    """Published JSON schemas, with their first sentence."""
    import json

    lines = ["# Published schemas", "", "| schema | document |", "|---|---|"]
    for file in sorted((ROOT / "schemas").glob("*.json")):
        schema = json.loads(file.read_text())
        subject = " ".join((schema.get("description") or schema.get("title") or "").split()).partition(". ")[
            0
        ]
        lines.append(f"| [{file.stem}](../../schemas/{file.name}) | {subject} |")
    return "\n".join([*lines, ""])


def _from_here(text: str) -> str:
    """Text of a page at the root of the repository, with its links as they are from `_generated`."""
    return _LINK.sub(
        lambda link: f"{link[1]}({os.path.relpath(ROOT / link[2], GENERATED)}{link[3] or ''})", text
    )


def _relink(app: Sphinx, name: str, source: list[str]) -> None:
    """Make links to pages at the root lead to their copies, and leave of a link to a folder its words."""
    here = (FOLDER / name).parent

    def lead(link: re.Match[str]) -> str:
        target = (here / link[2]).resolve()
        if target in AT_ROOT:
            return f"{link[1]}({os.path.relpath(GENERATED / target.name.lower(), here)}{link[3] or ''})"
        return link[1] if target.is_dir() else link[0]

    source[0] = _LINK.sub(lead, source[0])


def _write_whole(app: Sphinx, error: Exception | None) -> None:
    """All pages as one Markdown file, for reading offline and for language models, and a list of them."""
    if error is not None or app.builder.format != "html":
        return
    titles, pages = [], []
    for name in _reading_order(app):
        text = (FOLDER / f"{name}.md").read_text()
        title = text.partition("\n")[0].removeprefix("# ")
        titles.append(f"- [{title}]({name}.html)")
        pages.append(text)
    out = Path(app.outdir)
    (out / "tare.md").write_text("\n\n".join(pages))
    head = f"# Tare {VERSION}\n\n> Measures what a database query really costs, apart from the noise of the machine.\n"
    (out / "llms.txt").write_text("\n".join([head, "- [All pages as one file](tare.md)", *titles, ""]))


def _reading_order(app: Sphinx) -> list[str]:
    order = app.env.toctree_includes["index"]
    return [name for name in order if (FOLDER / f"{name}.md").exists()]
