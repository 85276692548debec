"""Traces of programs' requests to the operating system: calls, waits, page cache, block requests and messages."""
