"""`tare graft`: only on servers that Tare starts."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.grafted.sessions import execute
from typer.testing import CliRunner

from tare.cli.app import app
from tare.dbms.servers import RunningServer, restart, start_postgresql, stop
from tare.grafts import server


def call(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["graft", *arguments])
    shown = done.output + (str(done.exception) if done.exception else "")
    return done.exit_code, shown


def test_list_names_grafts_and_policies() -> None:
    code, shown = call("list")
    assert code == 0
    assert "lock-order" in shown
    assert "eldest-strict" in shown


def test_a_server_is_started_switched_and_read(needs_mysql: None) -> None:
    code, shown = call("start", "lock-order", "--policy", "eldest", "--json")
    assert code == 0, shown
    record = json.loads(shown[shown.index("{") : shown.rindex("}") + 1])
    directory = Path(record["directory"])
    try:
        assert record["policy"] == "eldest"
        assert call("switch", "age-power", "--power", "3", "--dir", str(directory))[0] == 0
        code, shown = call("status", "--dir", str(directory))
        assert code == 0
        assert "age-power (p = 3)" in shown
        assert "record calls" in shown
        code, shown = call("start", "lock-order", "--dir", str(directory))
        assert code != 0
        assert "runs already" in shown
    finally:
        stop(directory)
    assert not directory.exists()


def test_a_grafted_server_that_is_started_again_keeps_its_graft(lock_order: RunningServer) -> None:
    server.switch(lock_order.directory, "eldest")
    restarted = restart(lock_order.record)
    _, state = server.status(lock_order.directory)
    assert (state.policy, state.pid) == ("eldest", restarted.pid)
    assert execute(lock_order.url, "SELECT 1") == [(1,)]
    server.switch(lock_order.directory, "first-come")


def test_a_server_of_another_kind_is_refused() -> None:
    with start_postgresql() as other:
        code, shown = call("start", "lock-order", "--dir", str(other.directory))
        assert code != 0
        assert "grafts are for MySQL 5.6" in shown
        code, shown = call("status", "--dir", str(other.directory))
        assert code != 0
        assert "has no graft" in shown


def test_a_folder_that_is_not_of_tare_is_refused(needs_mysql: None, tmp_path: Path) -> None:
    (tmp_path / "ibdata1").write_bytes(b"x")
    code, _ = call("start", "lock-order", "--dir", str(tmp_path))
    assert code != 0
    assert (tmp_path / "ibdata1").read_bytes() == b"x"
    assert list(tmp_path.iterdir()) == [tmp_path / "ibdata1"]
