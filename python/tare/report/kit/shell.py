"""The HTML file around a report's blocks: its looks, its charts and their library, its policy.

Whatever comes from data is escaped by the template; scripts run only if their hash is in the page's own
policy, so that a name with markup in it can do nothing even where an escape were forgotten.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from tare.report.charts.chart import Chart, NoChart, columns
from tare.report.charts.theme import CONFIG
from tare.report.kit.library import library
from tare.report.safe import printable, script_json, short, strings

MOST_BYTES = 1_500_000


@dataclass(frozen=True, slots=True)
class Live:
    """Parts of a page that asks a server for its next state. Addresses are relative."""

    every_s: float  # between two looks
    up: str  # address of the page above; empty: none is
    root: str  # address of the first page
    actions: Sequence[tuple[str, str]] = ()  # address that a button posts to, and its words
    has_library: bool = True  # False: only the next state is wanted, the charts' library is there already


def rendered(
    charts: Sequence[Chart | NoChart],
    context: Mapping[str, Any],
    environment: Environment,
    live: Live | None = None,
) -> str:
    """The whole file; charts are drawn where the template places them."""
    scripts = [_resource("page.js"), *([_resource("live.js")] if live else [])]
    # A live page may have its first chart later.
    draws = live.has_library if live else any(isinstance(one, Chart) for one in charts)
    drawing = library() if draws else ""
    return environment.get_template("story.html").render(
        policy=_policy(drawing, *scripts, live=live is not None),
        live=live,
        css=Markup(_resource("page.css")),
        library=Markup(drawing),
        scripts=[Markup(script) for script in scripts],
        data=Markup(_data(charts)),
        **context,
    )


def templates(filters: Mapping[str, Callable[..., Any]]) -> Environment:
    """The page's templates, each compiled at its first use."""
    environment = Environment(
        loader=FunctionLoader(_resource),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        finalize=lambda value: value if isinstance(value, Markup) else printable(value),
    )
    environment.filters.update({**filters, "short": short})
    return environment


@cache
def _resource(name: str) -> str:
    return files("tare.report.kit").joinpath("templates", name).read_text(encoding="utf-8")


def _data(charts: Sequence[Chart | NoChart]) -> str:
    """Each table once, in columns; charts name theirs. Strings of data are cut as the tables cut them."""
    drawn = [one for one in charts if isinstance(one, Chart)]
    tables: dict[str, Any] = {}
    for chart in drawn:
        for name, rows in chart.data.items():
            tables.setdefault(name, strings(columns(rows), short))
    listed = [
        {
            "name": chart.name,
            "data": list(chart.data),
            "spec": strings(chart.spec, printable),
        }
        for chart in drawn
    ]
    return script_json({"config": CONFIG, "data": tables, "charts": listed})


def _policy(*scripts: str, live: bool) -> str:
    """No address may be asked for anything, but by a live page its own server; no script runs but these."""
    hashes = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
        for script in scripts
    )
    allowed: Mapping[str, str] = {
        "default-src": "'none'",
        "script-src": hashes,
        "style-src": "'unsafe-inline'",
        "img-src": "data: blob:",
        "base-uri": "'none'",
        "form-action": "'self'" if live else "'none'",
        **({"connect-src": "'self'"} if live else {}),
    }
    return "; ".join(f"{what} {who}" for what, who in allowed.items())
