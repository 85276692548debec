"""A report's page: words and tables from its template, charts and their library within the file.

Whatever comes from data is escaped by the template; scripts run only if their hash is in the page's own
policy, so that a name with markup in it can do nothing even where an escape were forgotten.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from tare.report.charts.chart import Chart, NoChart, columns
from tare.report.charts.theme import CONFIG
from tare.report.page.library import library
from tare.report.safe import printable, script_json, short, strings

MOST_BYTES = 1_500_000
_HERE = "tare.report.page"


def rendered(
    report: str,
    template: str,
    charts: Sequence[Chart | NoChart],
    context: Mapping[str, Any],
    filters: Mapping[str, Callable[..., Any]],
) -> str:
    """`template` of the package `report`, which may extend frame.html; charts are drawn where it places them."""
    script = _resource(_HERE, "page.js")
    drawing = library() if any(isinstance(one, Chart) for one in charts) else ""
    environment = Environment(
        loader=FunctionLoader(lambda name: _resource(report, name) or _resource(_HERE, name)),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        finalize=lambda value: value if isinstance(value, Markup) else printable(value),
    )
    environment.filters.update({**filters, "short": short})
    return environment.get_template(template).render(
        policy=_policy(drawing, script),
        css=Markup(_resource(_HERE, "page.css")),
        library=Markup(drawing),
        script=Markup(script),
        data=Markup(_data(charts)),
        **context,
    )


def _resource(package: str, name: str) -> str:
    """Empty where the package has no such template."""
    file = files(package).joinpath("templates", name)
    return file.read_text(encoding="utf-8") if file.is_file() else ""


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
