"""The charts' JavaScript: Vega, Vega-Lite and Vega-Embed as one script, from the installed vl-convert."""

from __future__ import annotations

from functools import cache


@cache
def library() -> str:
    """Some 0.9 MB that set `vegaEmbed`. It names no address that it would ask for by itself."""
    import vl_convert

    bundle: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return bundle.replace("</script", "<\\/script").replace("<!--", "<\\!--")
