"""Tare's version: that of `pyproject.toml`, without the 50 ms that the package's metadata take to load."""

VERSION = "0.1.0"
