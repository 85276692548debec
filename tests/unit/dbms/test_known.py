"""Another DBMS's server is told from a daemon by its name."""

import pytest

from tare.dbms.known import PREFIXES, SERVERS, server_of


@pytest.mark.parametrize(
    ("comm", "dbms"),
    [
        ("postgres", "postgresql"),
        ("mariadbd", "mariadb"),
        ("mysqld", "mysql"),
        ("oracle_4711_orc", "oracle"),
        ("ora_dbw0_ORCL", "oracle"),
        ("db2sysc", "db2"),
        ("clickhouse-serv", "clickhouse"),
        ("cron", None),
        ("postgres_exporte", None),
        ("oracular", None),
        ("", None),
    ],
)
def test_a_server_is_known_by_its_name(comm: str, dbms: str | None) -> None:
    assert server_of(comm) == dbms


def test_no_name_is_longer_than_the_kernel_keeps() -> None:
    assert [name for name in (*SERVERS, *PREFIXES) if len(name) > 15] == []
