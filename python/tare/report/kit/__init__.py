"""A report as a list of blocks, and the media that render it: terminal, Markdown, HTML."""
