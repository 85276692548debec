"""The report of an experiment: one document, written as HTML with charts, as Markdown and as JSON."""
