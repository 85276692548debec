"""Reserving CPUs for one command: the means this machine offers, and the run under them."""
