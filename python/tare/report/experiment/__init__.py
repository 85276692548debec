"""The report of an experiment: one document, written as HTML with charts, as Markdown and as JSON."""

from tare.report.experiment.build import Built, build

__all__ = ["Built", "build"]
