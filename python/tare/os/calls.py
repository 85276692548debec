"""Names of Linux' system calls on x86-64, by number (`calls.txt`, from the kernel's table)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

OUTSIDE = 0xFFFF
"""Number that stands for time outside calls."""

READS = ("read", "pread64", "readv", "preadv", "preadv2")
WRITES = ("write", "pwrite64", "writev", "pwritev", "pwritev2")
TRANSFERS = (
    *READS, *WRITES, "sendto", "sendmsg", "recvfrom", "recvmsg", "sendfile", "splice", "copy_file_range", "getrandom"
)  # fmt: skip
"""Calls that return a number of bytes."""


@cache
def names() -> Mapping[int, str]:
    lines = files("tare.os").joinpath("calls.txt").read_text().splitlines()
    return {int(number): name for number, name in (line.split() for line in lines)}


@cache
def numbers(wanted: tuple[str, ...]) -> frozenset[int]:
    return frozenset(number for number, name in names().items() if name in wanted)


def call_name(number: int) -> str:
    """Name of a call; its number where the table is older than the kernel."""
    return names().get(number, f"call {number}")
