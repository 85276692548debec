"""The report of the Wisconsin benchmark: one document, written as HTML with charts, Markdown, JSON and text."""

from tare.report.wisconsin.build import Built, build

__all__ = ["Built", "build"]
