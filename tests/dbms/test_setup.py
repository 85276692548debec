"""Settings and objects of --setup are in force in each run, whatever was emptied before it."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from tare.dbms.registry import find
from tare.errors import BadStatement, TareError
from tare.experiment.ledger import rows
from tare.measure.answer import answer_hash
from tare.measure.arms import Arm
from tare.measure.choices import CacheState
from tare.measure.phases import Phases
from tare.measure.query import Query
from tare.measure.records import QE
from tare.measure.rig import Rig
from tare.measure.weigh import Conditions, Weigher


class Setting(NamedTuple):
    statement: str
    shows: str  # expression
    value: object  # that it then has


SETTINGS = {  # one for set-up, another for `prepare`
    "postgresql": (
        Setting("SET work_mem = '77MB'", "current_setting('work_mem')", "77MB"),
        Setting("SET maintenance_work_mem = '78MB'", "current_setting('maintenance_work_mem')", "78MB"),
    ),
    "mariadb": (
        Setting("SET SESSION sort_buffer_size = 1234944", "@@sort_buffer_size", 1234944),
        Setting("SET SESSION join_buffer_size = 1234944", "@@join_buffer_size", 1234944),
    ),
    "sqlite": (
        Setting("PRAGMA cache_size = -777", "(SELECT cache_size FROM pragma_cache_size)", -777),
        Setting("PRAGMA temp_store = 2", "(SELECT temp_store FROM pragma_temp_store)", 2),
    ),
    "duckdb": (
        Setting("SET threads = 1", "current_setting('threads')", 1),
        Setting("SET preserve_insertion_order = false", "current_setting('preserve_insertion_order')", False),
    ),
}
TEMPORARY = {
    "postgresql": "CREATE TEMPORARY TABLE mine AS SELECT 3 AS a; INSERT INTO mine VALUES (4)",
    "mariadb": "CREATE TEMPORARY TABLE mine AS SELECT 3 AS a; INSERT INTO mine VALUES (4)",
    "sqlite": "CREATE TEMP TABLE mine AS SELECT 3 AS a; INSERT INTO mine VALUES (4)",
    "duckdb": "CREATE TEMP TABLE mine AS SELECT 3 AS a; INSERT INTO mine VALUES (4)",
}
SERVERS = ("postgresql", "postgresql15", "mariadb", "sqlite", "duckdb")


class Silent:
    def phase(self, query: Query, what: str) -> None: ...
    def done(self, query: Query, qe: QE) -> None: ...


def weigh(
    url: str, sql: str, phases: Phases, cache: CacheState, *, writes: bool = False, warmup: int = 1
) -> list[QE]:
    """Two runs: where their caches are emptied, each begins in a session of its own."""
    conditions = Conditions(runs=2, cache=cache, phases=phases, warmup=warmup)
    with Rig(lambda: find(url).connect(url, allow_writes=writes, allow_restart=True)) as rig:
        weigher = Weigher([Arm("A", rig, phases)], [Query("q", sql)], conditions, lambda qes: False, Silent())
        weigher.check()
        weigher.one_after_another()
        return weigher.qes


@pytest.fixture(params=SERVERS)
def url(request: pytest.FixtureRequest) -> str:
    return str(request.getfixturevalue(f"{request.param}_url"))


@pytest.mark.parametrize("cache", list(CacheState))
def test_settings_of_set_up_and_of_prepare_are_in_force_in_each_run(url: str, cache: CacheState) -> None:
    of_setup, of_prepare = SETTINGS[url.partition(":")[0]]
    phases = Phases(setup=(of_setup.statement,), prepare=(of_prepare.statement,))
    qes = weigh(url, f"SELECT {of_setup.shows}, {of_prepare.shows}", phases, cache)
    assert len(qes) == 3
    assert {qe.answer_hash for qe in qes} == {answer_hash([(of_setup.value, of_prepare.value)])}


def test_a_temporary_table_is_there_in_each_run(url: str) -> None:
    setup = (TEMPORARY[url.partition(":")[0]],)
    qes = weigh(url, "SELECT sum(a) FROM mine", Phases(setup=setup), CacheState.WARM, writes=True)
    assert {qe.answer_hash for qe in qes} == {answer_hash([(7,)])}
    assert all(qe.row_count == 1 and qe.error is None for qe in qes)


def test_a_file_attached_to_sqlite_is_there_in_each_run(sqlite_url: str, tmp_path: Path) -> None:
    other = sqlite_url.removeprefix("sqlite:///")
    phases = Phases(setup=(f"ATTACH '{other}' AS other",))
    qes = weigh(sqlite_url, "SELECT count(*) FROM other.numbers", phases, CacheState.COLD, warmup=0)
    assert {qe.answer_hash for qe in qes} == {answer_hash([(20_000,)])}


@pytest.mark.parametrize(
    ("name", "setup", "sql", "values"),
    [
        (
            "postgresql15",
            (
                "DO $$ BEGIN EXECUTE $q$SET work_mem = '77MB'$q$; END $$; SELECT 1",
                r"SET application_name = E'a\'; b'; SET maintenance_work_mem = '78MB'",
                "SET ROLE pg_monitor",
            ),
            "SELECT current_setting('work_mem'), current_setting('maintenance_work_mem'), current_user::text",
            ("77MB", "78MB", "pg_monitor"),
        ),
        pytest.param(
            "mariadb",
            (
                "SELECT @x := 5",
                "SET GLOBAL sort_buffer_size = 1234944",
                "BEGIN NOT ATOMIC SET @y = 1; SET @y = @y + 1; END",
            ),
            "SELECT @x, @@GLOBAL.sort_buffer_size, @y",
            (5, 1234944, 2),
            marks=pytest.mark.mariadb,
        ),
        (
            "sqlite",
            (
                "PRAGMA query_only = off; CREATE TEMP TABLE seen (a); CREATE TEMP TABLE made (a); "
                "CREATE TEMP TRIGGER r AFTER INSERT ON made BEGIN INSERT INTO seen VALUES (1); "
                "INSERT INTO seen VALUES (';'); END; INSERT INTO made VALUES (1)",
            ),
            "SELECT count(*) FROM seen",
            (2,),
        ),
        ("duckdb", ("SET VARIABLE mine = 5",), "SELECT getvariable('mine')", (5,)),
    ],
    ids=["postgresql15", "mariadb", "sqlite", "duckdb"],
)
@pytest.mark.parametrize("writes", [False, True], ids=["read-only", "writes allowed"])
def test_all_of_set_up_is_in_force_in_each_session(
    name: str,
    setup: tuple[str, ...],
    sql: str,
    values: tuple[object, ...],
    writes: bool,
    request: pytest.FixtureRequest,
) -> None:
    url = request.getfixturevalue(f"{name}_url")
    qes = weigh(url, sql, Phases(setup=setup), CacheState.COLD, writes=writes, warmup=0)
    assert {qe.answer_hash for qe in qes} == {answer_hash([values])}


def test_what_set_up_has_changed_for_good_is_not_changed_again(url: str) -> None:
    """The rows would be there twice."""
    setting = SETTINGS[url.partition(":")[0]][0]
    setup = (
        f"CREATE TABLE lasting (a int); {setting.statement}; INSERT INTO lasting VALUES (1)",
        f"{TEMPORARY[url.partition(':')[0]]}; INSERT INTO lasting SELECT 2",
    )
    phases = Phases(setup=setup, cleanup=("DROP TABLE lasting",))
    sql = f"SELECT (SELECT count(*) FROM lasting), (SELECT sum(a) FROM mine), {setting.shows}"
    qes = weigh(url, sql, phases, CacheState.COLD, writes=True, warmup=0)
    assert len(qes) == 2
    assert {qe.answer_hash for qe in qes} == {answer_hash([(2, 7, setting.value)])}


@pytest.mark.parametrize("name", SERVERS[:-1])
def test_a_transaction_around_each_run_is_rolled_back(name: str, request: pytest.FixtureRequest) -> None:
    """Also where `prepare` is run again, since emptying the caches has ended its session. DuckDB writes nothing out
    while a transaction is open, and says so."""
    url = request.getfixturevalue(f"{name}_url")
    sql = "UPDATE numbers SET grp = grp + 1 WHERE id <= 100"
    phases = Phases(prepare=("BEGIN",), conclude=("ROLLBACK",))
    qes = weigh(url, sql, phases, CacheState.COLD, writes=True, warmup=0)
    assert [qe.row_count for qe in qes] == [100, 100]
    session = find(url).connect(url)
    left = rows(session, "SELECT sum(grp) FROM numbers")
    session.close()
    assert answer_hash(left) == answer_hash([(sum(i % 100 for i in range(1, 20_001)),)])


@pytest.mark.parametrize(
    ("name", "statement", "message"),
    [
        ("sqlite", "PRAGMA cache_size = -777", r"cache_size is -?\d+ in the new session of .*, and was -777"),
        ("postgresql15", "DO $$ BEGIN SET work_mem = 100; END $$", r"work_mem is not set in the new .*, and was 100"),
        pytest.param(
            "mariadb", "SELECT @x := 5", r"@x is not set in the new .*, and was 5", marks=pytest.mark.mariadb
        ),
        ("duckdb", "SET threads = 1", r"threads is \d+ in the new session of .*, and was 1"),
    ],
)  # fmt: skip
def test_a_setting_that_a_new_session_does_not_take_stops_the_run(
    name: str,
    statement: str,
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    monkeypatch.setattr("tare.measure.phases.repeat_phase", lambda session, name, texts: None)
    url = request.getfixturevalue(f"{name}_url")
    with pytest.raises(TareError, match=message):
        weigh(url, "SELECT 1", Phases(setup=(statement,)), CacheState.COLD)


def test_set_local_is_refused_where_it_has_no_effect(postgresql_url: str) -> None:
    with pytest.raises(BadStatement, match="ends with its own transaction"):
        weigh(postgresql_url, "SELECT 1", Phases(setup=("SET LOCAL work_mem = '1MB'",)), CacheState.WARM)
