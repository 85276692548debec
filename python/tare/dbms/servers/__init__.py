"""Throw-away servers: found binaries, an ordinary user, a directory of their own, loopback or socket only."""

from tare.dbms.servers.record import ServerRecord, of_data_directory
from tare.dbms.servers.running import (
    RunningServer,
    restart,
    start_mariadb,
    start_mysql,
    start_postgresql,
    stop,
)

__all__ = [
    "RunningServer",
    "ServerRecord",
    "of_data_directory",
    "restart",
    "start_mariadb",
    "start_mysql",
    "start_postgresql",
    "stop",
]
