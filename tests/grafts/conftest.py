"""A server for each graft; a test that ends its server starts its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tare.dbms.servers import RunningServer, binaries
from tare.errors import ServerMissing
from tare.grafts import server
from tare.grafts.catalogue import LAZY_LRU, LOCK_ORDER, Graft

SETTINGS = {
    "innodb-flush-log-at-trx-commit": "2",
    "innodb-lock-wait-timeout": "20",
    "max-connections": "300",
}


@pytest.fixture(scope="session")
def needs_mysql() -> None:
    pytest.importorskip("mariadb", reason="the MariaDB connector is not installed")
    try:
        binaries.mysql()
    except ServerMissing as error:
        pytest.skip(f"{error.what}: {error.next_step}")


def grafted(graft: Graft, **more: str) -> RunningServer:
    return server.start(graft, settings=SETTINGS | more)


@pytest.fixture(scope="session")
def lock_order(needs_mysql: None) -> Iterator[RunningServer]:
    with grafted(LOCK_ORDER) as running:
        yield running


@pytest.fixture(scope="session")
def lazy_lru(needs_mysql: None) -> Iterator[RunningServer]:
    with grafted(LAZY_LRU, **{"innodb-buffer-pool-size": "8M"}) as running:
        yield running
