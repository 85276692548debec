"""Grafts: changes to a running server's own functions, on throw-away servers that Tare started.

A graft is a C file of `mysql56/`, built for one server program and loaded into it before its own libraries.
"""
