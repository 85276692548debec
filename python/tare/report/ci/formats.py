"""Formats by the name that --format takes. A new one is a file with a renderer and a line here."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tare.report.ci import benchstat, bmf, gh_benchmark, github_summary, openmetrics
from tare.report.result import RunResult

FORMATS: Mapping[str, Callable[[RunResult], str]] = {
    "bmf": bmf.render,
    "gh-benchmark": gh_benchmark.render,
    "openmetrics": openmetrics.render,
    "benchstat": benchstat.render,
    "github-summary": github_summary.render,
}
