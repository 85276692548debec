"""The report in the forms that were asked for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from rich.console import Console
from rich.text import Text

from tare.report.page import write
from tare.report.profile import folded, json, markdown, text, view
from tare.report.profile.build import Built
from tare.report.safe import printable

FORMS = ("html", "markdown", "json", "folded", "folded-negative")
"""Names of the options that `deliver` knows."""


def deliver(
    built: Built,
    given: Mapping[str, str | None],
    console: Console,
    parts: Collection[str] = text.PARTS,
    top: int = view.TOP,
) -> None:
    """`given`: by FORMS. With nothing asked for, `parts` are printed, of factors the first `top`; with files alone, the
    findings and where the files are. Raises ExportFailed."""
    report = built.report
    exporters = {
        "html": lambda: _html(built),
        "markdown": lambda: markdown.render(report),
        "json": lambda: json.render(report),
        "folded": lambda: folded.render(report.nodes),
        "folded-negative": lambda: folded.render(report.nodes, negative=True),
    }
    write.deliver(given, exporters, lambda: _printed(built, console, parts, top))
    _files(given, console, lambda: text.print_report(report, console, ("findings",)))


def _files(given: Mapping[str, str | None], console: Console, answer: Callable[[], None]) -> None:
    """The answer, and where the files are; nothing where standard output is a form's, or nothing was written."""
    asked = {form: target for form, target in given.items() if target}
    if asked and "-" not in asked.values():
        answer()
        for form, target in asked.items():
            console.print(Text(printable(f"{form}: {target}")), soft_wrap=True)


def _printed(built: Built, console: Console, parts: Collection[str], top: int) -> str:
    text.print_report(built.report, console, parts, top)
    return ""


def _html(built: Built) -> str:
    from tare.report.profile.html import render  # brings the template engine and the charts' library

    return render(built)
