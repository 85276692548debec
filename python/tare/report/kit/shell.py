"""Shell of a report's page: style, scripts, charts and their library within the file.

Whatever comes from data is escaped by the template; scripts run only if their hash is in the page's own
policy, so that a name with markup in it can do nothing even where an escape were forgotten.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from tare.report.charts.chart import Chart, NoChart, columns
from tare.report.charts.theme import CONFIG
from tare.report.safe import printable, script_json, short, strings

MOST_BYTES = 1_500_000


def rendered(
    template: str,
    charts: Sequence[Chart | NoChart],
    context: Mapping[str, Any],
    filters: Mapping[str, Callable[..., Any]],
) -> str:
    """Return the page of a template that extends frame.html. Charts are drawn where it places them."""
    script = _resource("page.js")
    drawing = _library() if any(isinstance(one, Chart) for one in charts) else ""
    environment = Environment(
        loader=FunctionLoader(_resource),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        finalize=lambda value: value if isinstance(value, Markup) else printable(value),
    )
    environment.filters.update({**filters, "short": short})
    return environment.get_template(template).render(
        policy=_policy(drawing, script),
        css=Markup(_resource("page.css")),
        library=Markup(drawing),
        script=Markup(script),
        data=Markup(_data(charts)),
        **context,
    )


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


@cache
def _library() -> str:
    """The charts' JavaScript: Vega, Vega-Lite and Vega-Embed as one script, from the installed vl-convert.

    Some 0.9 MB that set `vegaEmbed`. It names no address that it would ask for by itself."""
    import vl_convert

    bundle: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return bundle.replace("</script", "<\\/script").replace("<!--", "<\\!--")
