"""Servers that `tare isolate` takes in: those of the command's own addresses."""

from __future__ import annotations

import pytest

from tare.dbms.registry import find
from tare.errors import ConnectionFailed
from tare.measure.machine.isolation.servers import addresses, server_of
from tests.dbms.processes import children

URL, OTHER = "postgresql://u@127.0.0.1:1/d", "mariadb://u@127.0.0.1:2/d"


@pytest.mark.parametrize(
    ("command", "urls"),
    [
        (["tare", "time", "--db", URL, "SELECT 1"], [URL]),
        (["/opt/bin/tare", "time", f"--db={URL}", "SELECT 1"], [URL]),
        (["python3", "-m", "tare", "compare", "--db", URL, "-f", "a.sql"], [URL]),
        (["tare", "time", "SELECT 1"], [OTHER]),
        (["tare", "time", "--db"], [OTHER]),
        (["psql", "--db", URL], []),
        (["true"], []),
    ],
)
def test_the_option_comes_before_the_variable_and_other_programs_have_neither(
    command: list[str], urls: list[str]
) -> None:
    assert addresses(command, {"TARE_DB": OTHER}) == urls


def test_no_address_is_no_server() -> None:
    assert addresses(["tare", "doctor"], {}) == []


def test_a_server_is_taken_in_with_all_its_backends(postgresql_url: str) -> None:
    pid = server_of(postgresql_url)
    assert pid is not None
    session = find(postgresql_url).connect(postgresql_url)
    try:
        leader = session.leader()
        assert leader is not None
        assert leader.pid in children(pid)
    finally:
        session.close()


def test_a_server_with_threads_is_its_process(mariadb_url: str) -> None:
    session = find(mariadb_url).connect(mariadb_url)
    try:
        leader = session.leader()
        assert leader is not None
        assert server_of(mariadb_url) == leader.pid
    finally:
        session.close()


def test_a_library_has_no_server(sqlite_url: str) -> None:
    assert server_of(sqlite_url) is None


def test_a_server_that_does_not_answer_is_an_error(free_port: int) -> None:
    with pytest.raises(ConnectionFailed):
        server_of(f"postgresql://u@127.0.0.1:{free_port}/d")
