"""The report as one HTML file that asks nothing of the network: words, tables, charts and their library.

Whatever comes from data is escaped by the template; scripts run only if their hash is in the page's own
policy, so that a name with markup in it can do nothing even where an escape were forgotten.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from tare.report.experiment import view
from tare.report.experiment.build import Built
from tare.report.experiment.charts.chart import Chart, columns
from tare.report.experiment.charts.theme import CONFIG
from tare.report.experiment.library import library
from tare.report.experiment.safe import printable, script_json, short, strings

MOST_BYTES = 1_500_000


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of what grows with the experiment stands in the page; the rest is in the JSON report."""

    times: int  # rows
    missing: int
    queries: int
    characters: int  # of SQL and TOML, each


_LIMITS = (Limits(250, 200, 400, 60_000), Limits(60, 40, 60, 15_000), Limits(10, 10, 5, 3_000))


def render(built: Built) -> str:
    """The whole file, below MOST_BYTES: long tables are cut, and say so."""
    page = ""
    for limits in _LIMITS:
        page = _page(built, limits)
        if len(page.encode()) < MOST_BYTES:
            break
    return page


def _page(built: Built, limits: Limits) -> str:
    script = _resource("page.js")
    environment = Environment(
        loader=FunctionLoader(_resource),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        finalize=lambda value: value if isinstance(value, Markup) else printable(value),
    )
    environment.filters.update({**view.FILTERS, "short": short})
    return environment.get_template("page.html").render(
        policy=_policy(library(), script),
        css=Markup(_resource("page.css")),
        library=Markup(library()),
        script=Markup(script),
        data=Markup(_data(built)),
        **view.context(built, limits),
    )


def _resource(name: str) -> str:
    return files("tare.report.experiment").joinpath("templates", name).read_text(encoding="utf-8")


def _data(built: Built) -> str:
    """Each table once, in columns; charts name theirs. Strings of data are cut as the tables cut them."""
    drawn = [one for one in built.charts if isinstance(one, Chart)]
    tables: dict[str, Any] = {}
    for chart in drawn:
        for name, rows in chart.data.items():
            tables.setdefault(name, strings(columns(rows), short))
    charts = [
        {
            "name": chart.name,
            "data": list(chart.data),
            "spec": strings(chart.spec, printable),
        }
        for chart in drawn
    ]
    return script_json({"config": CONFIG, "data": tables, "charts": charts})


def _policy(*scripts: str) -> str:
    """No address may be asked for anything, and no script runs but these."""
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
        "form-action": "'none'",
    }
    return "; ".join(f"{what} {who}" for what, who in allowed.items())
