"""TTPv2's three equations (§8.5). Everything is in ticks until the last step."""

from __future__ import annotations

from typing import Final

from tare.protocol.named import Defined, as_float
from tare.protocol.quantities import BUSY, NS_PER_MS


def io_calc(block_io_query: float, iowait: float) -> float:
    """Eq. 1. The query's I/O time, ticks: each iowait tick is the query's with one chance in two."""
    return block_io_query - 0.5 * iowait


def time_calc_ms(user_query: float, system_query: float, io: float, tick_ns: int) -> float:
    """Eq. 2. The query's time in ms."""
    return (system_query + user_query + io) * tick_ns / NS_PER_MS


def io_calc_of_type(
    block_io_type: float,
    block_io_query: float,
    block_io_utility: float,
    block_io_daemon: float,
    iowait: float,
) -> float:
    """Eq. 3. The I/O time of another process type (utility, daemon, user), ticks.

    Iowait is shared out by block-I/O delay. Where nobody waited for I/O there is nothing to
    share out, and the answer is the type's own delay.
    """
    waited = block_io_query + block_io_utility + block_io_daemon
    if waited == 0:
        return block_io_type
    return block_io_type - block_io_type * iowait / waited


EQUATIONS: Final = (
    Defined(
        "io_calc_ticks",
        ("query_block_io_ticks", "overall_iowait"),
        lambda m: io_calc(m.query_block_io_ticks, as_float(m.overall_iowait)),
    ),
    Defined(
        "time_ms",
        ("query_user_ticks", "query_system_ticks", "io_calc_ticks", "tick_ns"),
        lambda m: time_calc_ms(m.query_user_ticks, m.query_system_ticks, m.io_calc_ticks, m.tick_ns),
    ),
)
"""Equations 1 and 2 over the measures of a QE."""

NEEDED: Final = (
    "wall_ns", "query_user_ticks", "query_system_ticks", "query_block_io_ticks", "overall_iowait",
    *(f"overall_{mode}" for mode in BUSY),
)  # fmt: skip
"""Without these a QE has no time that could be checked."""
