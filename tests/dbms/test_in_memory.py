"""Databases in memory: empty in each session, filled by set-up, always warm."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from tare.dbms.base import Session
from tare.dbms.registry import find
from tare.errors import BadStatement, UsageError
from tare.experiment.specification import DbmsSpec
from tare.experiment.target import Target
from tare.measure.caches import check_state
from tare.measure.choices import CacheState

_MAKE = "CREATE TABLE t (i integer); INSERT INTO t VALUES (1), (2), (4)"


@pytest.fixture(params=["sqlite", "duckdb"])
def memory_url(request: pytest.FixtureRequest) -> str:
    return f"{request.param}:///:memory:"


def _sum(session: Session) -> object:
    ((total,),) = session.prepare("SELECT sum(i) FROM t").execute(None).rows()
    return total


@pytest.mark.parametrize("allow_writes", [False, True])
def test_set_up_makes_the_tables_of_each_session(memory_url: str, allow_writes: bool) -> None:
    adapter = find(memory_url)
    with closing(adapter.connect(memory_url, allow_writes=allow_writes)) as first:
        first.run(_MAKE)
        assert _sum(first) == 7
    with closing(adapter.connect(memory_url, allow_writes=allow_writes)) as second:
        second.repeat(_MAKE)
        assert _sum(second) == 7


def test_a_timed_change_needs_leave(memory_url: str) -> None:
    with closing(find(memory_url).connect(memory_url)) as session:
        session.run(_MAKE)
        with pytest.raises(BadStatement, match="may change data"):
            session.prepare("INSERT INTO t VALUES (8)")


@pytest.mark.parametrize("state", [one for one in CacheState if one is not CacheState.WARM])
def test_no_cache_of_it_can_be_emptied(memory_url: str, state: CacheState) -> None:
    with closing(find(memory_url).connect(memory_url)) as session:
        check_state(session, CacheState.WARM)
        with pytest.raises(UsageError, match="in memory"):
            check_state(session, state)


def test_no_file_is_made(memory_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with closing(find(memory_url).connect(memory_url, allow_writes=True)) as session:
        session.run(_MAKE)
        assert not session.data_files()
    assert not list(tmp_path.iterdir())


def test_what_needs_several_sessions_refuses_it(memory_url: str, tmp_path: Path) -> None:
    target = Target(DbmsSpec(name="x", url=memory_url), tmp_path / "x")
    with pytest.raises(UsageError, match="ends with its session"), target:
        pass
