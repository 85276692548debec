"""Price of a graft that is present but off: throughput of TPC-C on two MySQL 5.6.24, one with the graft under the
server's own policy, in short turns.
"""

from __future__ import annotations

import random
from contextlib import ExitStack

from benchmarks.common import Figure, arguments, report
from benchmarks.oltp_common import closed, load, send
from tare.dbms.servers import start_mysql
from tare.grafts import server as grafts
from tare.grafts.catalogue import GRAFTS
from tare.protocol.comparison.blocks import ratio_over_blocks

CONNECTIONS = 8
LOSS = 0.99
"""The bar: within 1%."""


def main() -> None:
    asked = arguments(__doc__ or "", warehouses=4, seconds=4, rounds=20)
    warehouses, seconds, rounds = (
        (1, 1, 2) if asked.small else (asked.warehouses, asked.seconds, asked.rounds)
    )
    report(
        [_figure(name, warehouses, seconds, rounds) for name in GRAFTS],
        asked.json,
    )


def _figure(name: str, warehouses: int, seconds: float, rounds: int) -> Figure:
    with ExitStack() as stack:
        servers = {
            "without": stack.enter_context(start_mysql()),
            "with": stack.enter_context(grafts.start(GRAFTS[name])),
        }
        for server in servers.values():
            load(server.url, warehouses)
        rates: dict[str, list[float]] = {arm: [] for arm in servers}
        chance = random.Random(1)
        for _ in range(rounds):
            for arm in chance.sample(list(servers), len(servers)):
                run = send(servers[arm].url, closed(CONNECTIONS, seconds, 0.5))
                rates[arm].append(run.rate)
    found = ratio_over_blocks(rates["without"], rates["with"])
    assert found is not None, "two rounds or more"
    return Figure(
        f"TPC-C, {warehouses} warehouses, {CONNECTIONS} connections: rate with {name}, off, over without",
        found.ratio,
        "",
        LOSS,
        at_most=False,
        spread=f"95% interval {found.low:.3f} to {found.high:.3f} over {found.blocks} rounds",
    )


if __name__ == "__main__":
    main()
