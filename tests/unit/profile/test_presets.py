"""Presets are data that a reader can hold against the servers' own headers."""

from __future__ import annotations

import pytest

from tare.errors import UsageError
from tare.profile.functions import NoSuchFunction
from tare.profile.presets import PRESETS, of_dbms, preset
from tare.profile.presets.base import Preset
from tare.profile.transactions import transactions
from tests.unit.profile.test_names import Binary, functions


@pytest.mark.parametrize(
    ("major", "running", "pausing", "ended"),
    [(12, [2, 4], [3, 5], [1]), (17, [2, 4], [3, 5], [1]), (18, [3, 5], [4, 6], [2])],
)
def test_postgresql_states_moved_by_one_in_18(
    major: int, running: list[int], pausing: list[int], ended: list[int]
) -> None:
    rules = preset("postgresql", "commit").rules({"state": 7}, major)
    assert rules == {"rule": "state", "marker": 7, "running": running, "pausing": pausing, "ended": ended}


def test_a_postgresql_statement_ends_within_a_transaction_block_too() -> None:
    rules = preset("postgresql", "statement").rules({"state": 7}, 17)
    assert rules == {"rule": "state", "marker": 7, "running": [2, 4], "pausing": [], "ended": [1, 3, 5]}


def test_a_mariadb_transaction_goes_on_until_it_is_closed() -> None:
    functions = {"root": 1, "begin": 2, "commit": 3, "rollback": 4, "implicit": 5}
    rules = preset("mariadb", "commit").rules(functions, 10)
    assert rules == {"rule": "dispatch", "root": 1, "labelled": [3], "opens": [2], "closes": [3, 4, 5]}


def test_an_optional_marker_may_be_missing() -> None:
    rules = preset("mariadb", "commit").rules({"root": 1, "begin": 2, "commit": 3, "rollback": 4}, 10)
    assert rules["closes"] == [3, 4]


def test_a_library_that_lacks_a_preset_s_markers_is_told_by_what_it_has() -> None:
    c_alone = Binary("/libduckdb.so", "duckdb_query")
    found = transactions("statement", "duckdb", 0, functions(c_alone))
    assert found.rules == {"rule": "function", "root": found.markers[0][0]}
    names = (
        "duckdb::ClientContext::BeginQueryInternal(int)",
        "duckdb::ClientContext::EndQueryInternal(bool)",
    )
    whole = transactions("statement", "duckdb", 0, functions(Binary("/libduckdb.so", "duckdb_query", *names)))
    assert whole.rules["rule"] == "marks"
    assert len(whole.markers) == 2
    with pytest.raises(NoSuchFunction, match="duckdb_query or duckdb_execute_prepared"):
        transactions("statement", "duckdb", 0, functions(Binary("/libduckdb.so", "main")))


@pytest.mark.parametrize("one", PRESETS, ids=lambda one: f"{one.dbms}-{one.txn}")
def test_every_preset_names_no_function_twice_and_has_rules(one: Preset) -> None:
    assert len(set(one.seeds)) == len(one.seeds)
    required = [role for role, marker in one.markers.items() if not marker.optional]
    assert one.rules({role: number for number, role in enumerate(required)}, 18)["rule"]


@pytest.mark.parametrize(
    ("dbms", "txn", "says"),
    [
        ("postgresql", "comit", "did you mean commit?"),
        ("sqlite", "commit", "take statement, function:NAME"),
        (None, "commit", "name it: --txn function:NAME"),
    ],
)
def test_a_preset_that_there_is_not_says_what_there_is(dbms: str | None, txn: str, says: str) -> None:
    with pytest.raises(UsageError, match=f"--txn {txn}") as raised:
        preset(dbms, txn)
    assert says in str(raised.value)


def test_mysql_has_the_transactions_of_mariadb() -> None:
    assert of_dbms("mysql") == of_dbms("mariadb")
    assert preset("mysql", "commit") is preset("mariadb", "commit")


DISPATCHER = ("dispatch_command", "trans_begin", "trans_commit", "trans_rollback")


@pytest.mark.parametrize(
    ("named", "waits"), [(("os_event_wait_low",), "os_event_wait_low"), ((), "pthread_cond_wait")]
)
def test_the_c_library_s_wait_is_known_where_innodb_s_own_has_no_name(
    named: tuple[str, ...], waits: str
) -> None:
    of = functions(Binary("/mysqld", *DISPATCHER, *named), Binary("/libc.so.6", "pthread_cond_wait"))
    found = transactions("commit", "mysql", 5, of)
    assert [of[one].name for one in found.waits] == [waits]
