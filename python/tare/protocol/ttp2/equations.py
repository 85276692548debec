"""TTPv2's three equations (§8.5). Everything is in ticks until the last step."""

from __future__ import annotations

NS_PER_MS = 1_000_000


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
