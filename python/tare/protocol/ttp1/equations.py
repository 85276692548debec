"""TTPv1's equations 2 and 3 (§7.5). Everything is in ticks until the last step."""

from __future__ import annotations

from typing import Final

from tare.protocol.named import Defined, as_float
from tare.protocol.quantities import NS_PER_MS


def iowait_calc(b: float, user_query: float) -> float:
    """Eq. 2. The query's share of iowait, ticks: what its user time brings with it."""
    return b * user_query


def time_calc_ms(user_query: float, system_query: float, iowait: float, tick_ns: int) -> float:
    """Eq. 3. The query's time in ms."""
    return (system_query + user_query + iowait) * tick_ns / NS_PER_MS


EQUATIONS: Final = (
    Defined(
        "iowait_calc_ticks",
        ("coefficient_b", "query_user_ticks"),
        lambda m: iowait_calc(m.coefficient_b, as_float(m.query_user_ticks)),
    ),
    Defined(
        "time_ms",
        ("query_user_ticks", "query_system_ticks", "iowait_calc_ticks", "tick_ns"),
        lambda m: time_calc_ms(m.query_user_ticks, m.query_system_ticks, m.iowait_calc_ticks, m.tick_ns),
    ),
)
