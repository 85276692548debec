"""`tare compare --blocks restart` restarts a server before each block, and only one that Tare may restart."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tare.dbms.servers import RunningServer, start_postgresql
from tests.cli.running import tare
from tests.cli.test_compare import FAST, SLOW, WARM


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    """A server that no other test uses."""
    with start_postgresql() as running:
        yield running


def starts(server: RunningServer) -> int:
    return server.record.log.read_text().count("database system is ready to accept connections")


@pytest.mark.parametrize(
    "arms",
    [(FAST, SLOW), (FAST, "--a-set", "work_mem=4MB", "--b-set", "work_mem=64MB")],
    ids=["two queries", "two settings"],
)
def test_each_block_has_a_server_that_was_restarted_once(
    arms: tuple[str, ...], server: RunningServer
) -> None:
    before = starts(server)
    words = ("--db", server.url, "--blocks", "restart", "--runs", "3", "--json", "-", *WARM)
    said = tare("compare", *arms, *words, timeout=240)
    assert said.code == 0, said.err
    assert said.result["comparison"]["blocks"] == "restart"
    assert starts(server) - before == 3


def test_a_server_that_is_not_tares_is_restarted_only_if_that_is_allowed(server: RunningServer) -> None:
    """The same server without its marker is a stranger's."""
    marker = server.directory / "tare-server.json"
    hidden = marker.with_suffix(".hidden")
    words = ("compare", FAST, SLOW, "--db", server.url, "--blocks", "restart", "--runs", "2", *WARM)
    before = starts(server)
    marker.rename(hidden)
    try:
        refused = tare(*words)
        assert refused.code == 2
        assert "Tare did not start it" in refused.err
        assert "--allow-restart" in refused.err
        assert starts(server) == before
        said = tare(*words, "--allow-restart", timeout=240)
        assert said.code == 0, said.err
        assert starts(server) - before == 2
    finally:
        hidden.rename(marker)


def test_an_engine_without_a_server_is_not_restarted(sqlite_url: str) -> None:
    said = tare("compare", "SELECT 1", "SELECT 2", "--db", sqlite_url, "--blocks", "restart")
    assert said.code == 2
    assert "leave --blocks out" in said.err
