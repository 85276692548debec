"""DBMSes that keep results, and runs that a result cache answers."""

from __future__ import annotations

import pytest

from tare.dbms.base import Session
from tare.dbms.registry import find
from tests.cli.running import tare
from tests.servers import fill_server, own_server

HEAVY = "SELECT count(*) FROM numbers a JOIN numbers b ON a.grp = b.grp WHERE a.id <= 200"


def test_no_session_of_ours_keeps_results(session: Session) -> None:
    assert session.keeps_results() is False


@pytest.mark.mariadb
def test_a_result_cache_that_the_user_turns_on_is_seen_and_named() -> None:
    with own_server("mariadb") as server:
        fill_server(server.url)
        administrator = find(server.url).connect(server.url, allow_writes=True)
        try:
            administrator.run("SET GLOBAL query_cache_size = 1048576; SET GLOBAL query_cache_type = ON")
            assert administrator.keeps_results() is False
            administrator.run("SET SESSION query_cache_type = ON")
            assert administrator.keeps_results() is True
        finally:
            administrator.close()
        words = ["time", HEAVY, "--db", server.url, "--runs", "6", "--warmup", "0", "--json", "-"]
        warned = tare(*words, "--setup", "SET SESSION query_cache_type = ON")
        plain = tare(*words)
    assert warned.code == plain.code == 0, warned.err + plain.err
    assert "possible-result-cache" in {one["type"] for one in warned.result["warnings"]}
    assert "possible-result-cache" not in {one["type"] for one in plain.result["warnings"]}
    assert not [one for one in plain.result["results"][0]["checks"] if "result cache" in one["name"]]
