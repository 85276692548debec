"""The report of the Wisconsin benchmark: one document, written as HTML with charts, Markdown, JSON and text."""
