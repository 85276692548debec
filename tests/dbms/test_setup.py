"""What --setup puts into a session is in force in each run, whatever was emptied before it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tare.dbms.registry import find
from tare.errors import BadStatement, TareError
from tare.interruption import Interrupts
from tare.measure.answer import answer_hash
from tare.measure.arms import Arm
from tare.measure.backoff import Patience
from tare.measure.choices import CacheState
from tare.measure.phases import Phases
from tare.measure.query import Query
from tare.measure.records import QE
from tare.measure.rig_keeper import RigKeeper
from tare.measure.weigh import Conditions, Weigher

# Statement, query that shows its effect, what it shows then and in a session of the default.
SETTINGS = {
    "postgresql": ("SET work_mem = '77MB'", "SELECT current_setting('work_mem')", "77MB"),
    "mariadb": ("SET SESSION sort_buffer_size = 1234944", "SELECT @@sort_buffer_size", 1234944),
    "sqlite": ("PRAGMA cache_size = -777", "SELECT cache_size FROM pragma_cache_size", -777),
    "duckdb": ("SET threads = 1", "SELECT current_setting('threads')", 1),
}
TEMPORARY = {
    "postgresql": "CREATE TEMPORARY TABLE mine AS SELECT 3 AS a; INSERT INTO mine VALUES (4)",
    "mariadb": "CREATE TEMPORARY TABLE mine AS SELECT 3 AS a; INSERT INTO mine VALUES (4)",
    "sqlite": "CREATE TEMP TABLE mine AS SELECT 3 AS a; INSERT INTO mine VALUES (4)",
    "duckdb": "CREATE TEMP TABLE mine AS SELECT 3 AS a; INSERT INTO mine VALUES (4)",
}
for settings in (SETTINGS, TEMPORARY):
    settings["mysql"] = settings["mariadb"]
SERVERS = ("postgresql", "postgresql15", "mariadb", "mysql", "sqlite", "duckdb")


class Silent:
    def say(self, what: str) -> None: ...
    def done(self, query: Query, qe: QE) -> None: ...


def weigh(url: str, sql: str, phases: Phases, cache: CacheState, *, writes: bool = False) -> Sequence[QE]:
    conditions = Conditions(runs=2, cache=cache, phases=phases, warmup=1)
    observer = Silent()
    patience = Patience(Interrupts(), observer.say)
    with RigKeeper(lambda: find(url).connect(url, allow_writes=writes, allow_restart=True), patience) as rigs:
        weigher = Weigher(
            [Arm("A", rigs)], [Query("q", sql)], conditions, lambda qes: False, observer, patience
        )
        weigher.check()
        weigher.one_after_another()
        return weigher.qes


@pytest.fixture(params=SERVERS)
def url(request: pytest.FixtureRequest) -> str:
    return str(request.getfixturevalue(f"{request.param}_url"))


@pytest.mark.parametrize("cache", list(CacheState))
def test_a_setting_is_in_force_in_each_run(url: str, cache: CacheState) -> None:
    statement, sql, value = SETTINGS[url.partition(":")[0]]
    qes = weigh(url, sql, Phases(setup=(statement,)), cache)
    assert len(qes) == 3
    assert {qe.answer_hash for qe in qes} == {answer_hash([(value,)])}


@pytest.mark.parametrize("cache", [CacheState.WARM, CacheState.COLD])
def test_a_setting_of_prepare_is_in_force_too(url: str, cache: CacheState) -> None:
    statement, sql, value = SETTINGS[url.partition(":")[0]]
    qes = weigh(url, sql, Phases(setup=("SELECT 1",), prepare=(statement,)), cache)
    assert {qe.answer_hash for qe in qes} == {answer_hash([(value,)])}


@pytest.mark.parametrize("cache", [CacheState.WARM, CacheState.COLD])
def test_a_temporary_table_is_there_in_each_run(url: str, cache: CacheState) -> None:
    setup = (TEMPORARY[url.partition(":")[0]],)
    qes = weigh(url, "SELECT sum(a) FROM mine", Phases(setup=setup), cache, writes=True)
    assert len({qe.answer_hash for qe in qes}) == 1
    assert all(qe.row_count == 1 and qe.error is None for qe in qes)


def test_a_file_attached_to_sqlite_is_there_in_each_run(sqlite_url: str, tmp_path: Path) -> None:
    other = sqlite_url.removeprefix("sqlite:///")
    setup = (f"ATTACH '{other}' AS other",)
    qes = weigh(sqlite_url, "SELECT count(*) FROM other.numbers", Phases(setup=setup), CacheState.COLD)
    assert {qe.answer_hash for qe in qes} == {answer_hash([(20_000,)])}


def test_a_setting_that_a_new_session_does_not_take_stops_the_run(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tare.measure.phases.run_phase", _only_the_first_time())
    with pytest.raises(TareError, match=r"cache_size is -?\d+ in the new session of .*, and was -777"):
        weigh(sqlite_url, "SELECT 1", Phases(setup=("PRAGMA cache_size = -777",)), CacheState.COLD)


def _only_the_first_time() -> object:
    done = []

    def run(session: object, name: str, texts: tuple[str, ...]) -> None:
        if name == "setup" and not done:
            done.append(name)
            for text in texts:
                session.run(text)  # type: ignore[attr-defined]

    return run


def test_set_local_is_refused_where_it_has_no_effect(postgresql_url: str) -> None:
    with pytest.raises(BadStatement, match="ends with its own transaction"):
        weigh(postgresql_url, "SELECT 1", Phases(setup=("SET LOCAL work_mem = '1MB'",)), CacheState.WARM)
