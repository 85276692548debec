"""Exits of every command, and how each process ended."""
