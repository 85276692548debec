"""Roles of threads by rules, and mistakes in a user's rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from tare.dbms.base import Leader
from tare.errors import UsageError
from tare.os.roles import Roles, built_in, read_rules
from tests.unit.os.planted import Thread


def role(dbms: str | None, title: str, comm: str = "postgres") -> str:
    return Roles.of(dbms).role(5, 5, comm, title)


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("postgres: checkpointer ", "checkpointer"),
        ("postgres: 15/main: checkpointer ", "checkpointer"),
        ("postgres: background writer ", "background writer"),
        ("postgres: walwriter ", "WAL writer"),
        ("postgres: io worker 2", "prefetcher (I/O worker)"),
        ("postgres: parallel worker for PID 812 ", "parallel worker"),
        ("postgres: autovacuum launcher ", "autovacuum"),
        ("postgres: autovacuum worker shop", "autovacuum"),
        ("postgres: logical replication launcher ", "launcher"),
        ("postgres: ada shop [local] idle", "backend"),
        ("postgres: ada shop 127.0.0.1(51022) SELECT", "backend"),
        ("postgres: 15/main: ada shop ::1(51022) COMMIT", "backend"),
        ("/usr/lib/postgresql/15/bin/postgres -D /data", "postmaster"),
        ("postgres -D /data", "postmaster"),
    ],
)
@pytest.mark.parametrize("dbms", ["postgresql", None])
def test_processes_of_postgresql_have_their_role(dbms: str | None, title: str, expected: str) -> None:
    assert role(dbms, title) == expected


def test_threads_of_mariadb_are_in_the_background() -> None:
    assert role("mariadb", "/usr/sbin/mariadbd --defaults-file=my.cnf", "mariadbd") == "background"


def test_threads_of_an_unknown_dbms_keep_their_name() -> None:
    assert role(None, "/usr/sbin/mariadbd --defaults-file=my.cnf", "mariadbd") == "mariadbd"
    assert role("postgresql", "sleep 60", "sleep") == "sleep"


def test_the_leader_runs_the_query() -> None:
    roles = Roles.of("mariadb", Leader(pid=4, tid=9, how="", whole_process=False))
    assert roles.role(9, 4, "mariadbd", "") == "query"
    assert roles.role(10, 4, "mariadbd", "") == "background"


def test_all_threads_of_an_embedded_engine_run_the_query() -> None:
    roles = Roles.of("duckdb", Leader(pid=4, tid=4, how="", whole_process=True))
    assert roles.role(10, 4, "python3", "") == "query"


def test_a_thread_that_ended_is_named_by_its_title() -> None:
    name = Roles.of("postgresql").naming()
    assert (
        name(Thread(2**22 + 5, title="postgres: parallel worker for PID 7", ended=True)) == "parallel worker"
    )


def test_every_built_in_rule_can_be_read() -> None:
    assert {"postgresql", "mariadb", "mysql", "any"} <= built_in().keys()


def test_rules_of_the_user_come_first(tmp_path: Path) -> None:
    file = tmp_path / "roles.toml"
    file.write_text("[[postgresql]]\ntitle = 'checkpointer'\nrole = 'disk writer'\n")
    roles = Roles.of("postgresql", more=read_rules(file))
    assert roles.role(5, 5, "postgres", "postgres: checkpointer ") == "disk writer"
    assert roles.role(5, 5, "postgres", "postgres: walwriter ") == "WAL writer"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[postgresql]\n", ["not TOML", "line 1"]),
        ("postgresql = 3\n", ["line 1", "postgresql"]),
        ("# rules\n[[any]]\ntitel = 'x'\nrole = 'y'\n", ["line 3", "titel", "did you mean title?"]),
        ("[[any]]\nthread = '('\nrole = 'y'\n", ["line 2", "thread is no regular expression"]),
        ("[[any]]\nthread = 'x'\nrole = 3\n", ["line 3", "role is no text"]),
        ("[[any]]\nthread = 'x'\n", ["line 1", "lacks the key role"]),
        ("\n[[any]]\nthread = 'x'\ntitle = 'x'\nrole = 'y'\n", ["line 2", "2 of the keys title and thread"]),
        ("[[any]]\nrole = 'y'\n", ["line 1", "0 of the keys title and thread"]),
    ],
)
def test_a_mistake_is_named_with_its_line(tmp_path: Path, text: str, words: list[str]) -> None:
    file = tmp_path / "roles.toml"
    file.write_text(text)
    with pytest.raises(UsageError) as raised:
        read_rules(file)
    assert all(word in str(raised.value) for word in words), str(raised.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none\.toml cannot be read"):
        read_rules(tmp_path / "none.toml")
