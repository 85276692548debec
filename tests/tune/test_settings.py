"""Settings as real servers describe, take and give them back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from tare.dbms.servers import RunningServer
from tare.errors import UsageError
from tare.tune.safety import check_server, check_settings
from tare.tune.settings.connecting import connect
from tare.tune.settings.postgresql import PostgreSQLSettings
from tare.tune.settings.setting import ChangeFailed, Reach, SettingServer


@pytest.fixture
def pg(postgresql: RunningServer) -> Iterator[SettingServer]:
    with closing(connect(postgresql.url)) as server:
        yield server


@pytest.fixture
def maria(mariadb: RunningServer) -> Iterator[SettingServer]:
    with closing(connect(mariadb.url)) as server:
        yield server


def test_postgresql_says_what_each_setting_needs(pg: SettingServer) -> None:
    facts = pg.settings(
        ["synchronous_commit", "commit_delay", "wal_writer_delay", "shared_buffers", "block_size"]
    )
    assert [fact.reach for fact in facts.values()] == [
        Reach.AT_ONCE,
        Reach.AT_ONCE,
        Reach.AT_ONCE,
        Reach.RESTART,
        Reach.FIXED,
    ]
    assert "remote_apply" in facts["synchronous_commit"].choices
    assert facts["shared_buffers"].unit == "8kB"
    assert (facts["commit_delay"].low, facts["commit_delay"].high) == ("0", "100000")


def test_mariadb_says_what_each_setting_needs(maria: SettingServer) -> None:
    facts = maria.settings(["innodb_flush_log_at_trx_commit", "sort_buffer_size", "innodb_page_size"])
    assert [fact.reach for fact in facts.values()] == [Reach.AT_ONCE, Reach.NEW_SESSIONS, Reach.RESTART]
    assert facts["innodb_flush_log_at_trx_commit"].high == "3"


def test_a_change_reaches_sessions_of_postgresql_that_are_open(
    postgresql: RunningServer, pg: SettingServer
) -> None:
    with closing(connect(postgresql.url)) as load:
        assert isinstance(load, PostgreSQLSettings)
        kept = pg.keep(["synchronous_commit"])
        pg.change({"synchronous_commit": "off"})
        assert load.settings(["synchronous_commit"])["synchronous_commit"].value == "off"
        pg.put_back(kept)
        assert pg.keep(["synchronous_commit"]) == kept
        assert kept[0].stored is None


def test_what_postgresql_auto_conf_held_is_put_back_word_for_word(pg: SettingServer) -> None:
    pg.change({"work_mem": "7MB"})
    kept = pg.keep(["work_mem"])
    assert kept[0].stored == "7MB"
    pg.change({"work_mem": "9MB"})
    assert pg.settings(["work_mem"])["work_mem"].value == "9216"
    pg.put_back(kept)
    assert pg.keep(["work_mem"]) == kept


def test_mariadb_takes_sizes_with_suffixes_and_gives_them_back(maria: SettingServer) -> None:
    kept = maria.keep(["innodb_io_capacity", "max_allowed_packet"])
    maria.change({"max_allowed_packet": "32M", "innodb_io_capacity": "400"})
    assert maria.settings(["max_allowed_packet"])["max_allowed_packet"].value == str(32 << 20)
    maria.put_back(kept)
    assert maria.keep(["innodb_io_capacity", "max_allowed_packet"]) == kept


def test_a_value_that_the_server_clamps_is_no_change(maria: SettingServer) -> None:
    kept = maria.keep(["innodb_spin_wait_delay", "innodb_sync_spin_loops", "table_open_cache"])
    try:
        with pytest.raises(ChangeFailed, match="took table_open_cache"):
            maria.change({"table_open_cache": "99999999"})
    finally:
        maria.put_back(kept)


def test_a_value_that_the_server_refuses_is_named(server: RunningServer) -> None:
    with closing(connect(server.url)) as settings:
        name = "commit_delay" if isinstance(settings, PostgreSQLSettings) else "innodb_flush_method"
        with pytest.raises(ChangeFailed, match=name):
            settings.change({name: "many"})


def test_an_unknown_setting_is_refused(server: RunningServer) -> None:
    with closing(connect(server.url)) as settings, pytest.raises(UsageError, match="no_such_setting"):
        settings.settings(["no_such_setting"])


def test_a_server_of_ours_without_clients_may_be_changed(server: RunningServer) -> None:
    with closing(connect(server.url)) as settings:
        record = check_server(settings, allow_changes=False, allow_clients=False)
        assert record is not None
        assert record.directory == server.directory
        with closing(connect(server.url)), pytest.raises(UsageError, match="other sessions: "):
            check_server(settings, allow_changes=False, allow_clients=False)


def test_fixed_settings_and_values_outside_the_choices_are_refused(pg: SettingServer) -> None:
    with pytest.raises(UsageError, match="block_size"):
        check_settings(pg.settings(["block_size"]), {})
    with pytest.raises(UsageError, match="choose one of"):
        check_settings(pg.settings(["synchronous_commit"]), {"synchronous_commit": ["sometimes"]})


def test_a_setting_of_the_role_is_refused_since_the_configuration_file_would_not_win(
    postgresql: RunningServer,
) -> None:
    with closing(connect(postgresql.url)) as settings:
        assert isinstance(settings, PostgreSQLSettings)
        settings.execute("ALTER ROLE postgres SET work_mem = '5MB'")
        try:
            with (
                closing(connect(postgresql.url)) as later,
                pytest.raises(UsageError, match="set by the user"),
            ):
                check_settings(later.settings(["work_mem"]), {})
        finally:
            settings.execute("ALTER ROLE postgres RESET work_mem")
