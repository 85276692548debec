"""The charts' JavaScript: Vega, Vega-Lite and Vega-Embed as one script, which the build writes beside this file."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from tare.errors import ExportFailed


@cache
def library() -> str:
    """Some 0.9 MB that set `vegaEmbed`. It names no address that it would ask for by itself."""
    try:
        bundle = files("tare.report.kit").joinpath("charts.js").read_text(encoding="utf-8")
    except OSError as error:
        raise ExportFailed(
            f"charts cannot be drawn: {error.strerror}: {error.filename}",
            "install Tare again: its build writes that file",
        ) from error
    return bundle.replace("</script", "<\\/script").replace("<!--", "<\\!--")
