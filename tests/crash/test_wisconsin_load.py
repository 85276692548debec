"""A load of the benchmark's relations that is cut short, on either side: half a table is never used."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from tare.dbms.base import Session
from tare.dbms.registry import find
from tare.dbms.servers import restart
from tare.errors import ConnectionFailed, ServerLost
from tare.experiment.ledger import Ledger, rows
from tare.workload.wisconsin import laying
from tare.workload.wisconsin.checksum import checksum, checksum_sql
from tare.workload.wisconsin.kinds import Generation
from tare.workload.wisconsin.layout import Setting
from tare.workload.wisconsin.relations import Relation, relations
from tare.workload.wisconsin.rows import write_csv
from tare.workload.wisconsin.specification import WisconsinSpec
from tare.workload.wisconsin.tables import WisconsinTables
from tests.cli.running import start
from tests.dbms.databases import empty_duckdb, empty_sqlite
from tests.servers import own_server

SEED = int(os.environ.get("TARE_CRASH_SEED", "19830401"))
ROWS = 40_000
KILLS = 6
SPEC = WisconsinSpec(generation=Generation.Y1993, rows=(ROWS,))


@dataclass(frozen=True)
class Place:
    url: str
    revive: Callable[[], object]  # starts a killed server again, where that is not its own doing


@pytest.fixture(params=["postgresql", pytest.param("mariadb", marks=pytest.mark.mariadb), "sqlite", "duckdb"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    """An empty database whose server may be killed."""
    if request.param in ("sqlite", "duckdb"):
        make = empty_sqlite if request.param == "sqlite" else empty_duckdb
        yield Place(make(tmp_path), lambda: None)
        return
    with own_server(request.param) as server:
        yield Place(server.url, lambda: restart(server.record) if request.param == "mariadb" else None)


def opened(url: str) -> Session:
    """Also while the server recovers, or a killed executor's engine still holds the file."""
    deadline = time.monotonic() + 30
    while True:
        try:
            return find(url).connect(url, allow_writes=True)
        except (ConnectionFailed, ServerLost):
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


def assert_settled(session: Session) -> None:
    for one in relations(Generation.Y1993):
        (found,) = rows(session, checksum_sql(one.name))
        assert tuple(int(str(value)) for value in found) == checksum(one, ROWS)


def test_an_executor_killed_in_mid_load_leaves_no_half_table_in_use(place: Place) -> None:
    print(f"TARE_CRASH_SEED={SEED}")  # shown when the test fails
    draw = random.Random(SEED)
    unfinished = 0
    for kill in range(KILLS):
        setting = (Setting.HEAP, Setting.INDEXED)[kill % 2]
        loader = start(place.url, str(ROWS), setting, program="tests.crash.wisconsin_loader")
        assert loader.stdout is not None
        begun = draw.choice([f"{one.name} 0" for one in relations(Generation.Y1993)])
        for line in loader.stdout:
            if line.strip() == begun:
                break
        time.sleep(draw.uniform(0.0, 0.2))
        loader.kill()
        loader.communicate(timeout=60)
        session = opened(place.url)
        unfinished += unfinished_among_whole(session)
        session.close()
    assert unfinished > 0, "no load was cut short"
    session = opened(place.url)
    tables = WisconsinTables(session, SPEC)
    tables.prepare()
    tables.settle(ROWS, Setting.HEAP)
    assert_settled(session)
    session.close()


def unfinished_among_whole(session: Session) -> int:
    """How many relations are entered as unfinished; those that are entered as whole must be."""
    unfinished = 0
    for one in relations(Generation.Y1993):
        entry = Ledger(session).entry(one.name)
        if entry is not None and entry.whole:
            (found,) = rows(session, checksum_sql(one.name))
            assert tuple(int(str(value)) for value in found) == checksum(one, ROWS)
        else:
            unfinished += 1
    return unfinished


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to kill a server that runs as another user")
def test_a_server_killed_in_mid_load_is_a_lost_server_and_its_relation_is_loaded_anew(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = find(place.url).connect(place.url, allow_writes=True)
    leader = session.leader()
    assert leader is not None

    def half_then_kill(of: Relation, large: int, to: Path) -> int:
        if of.name != "tenktup1":
            return write_csv(of, large, to)
        whole = to.with_name("whole.csv")
        write_csv(of, large, whole)
        text = whole.read_bytes()
        with to.open("wb") as pipe:
            pipe.write(text[: len(text) // 2])
            os.kill(leader.pid, signal.SIGKILL)
            pipe.write(text[len(text) // 2 :])
        return large

    with monkeypatch.context() as patched:
        patched.setattr(laying, "write_csv", half_then_kill)
        began = time.monotonic()
        with pytest.raises(ServerLost):
            WisconsinTables(session, SPEC).settle(ROWS, Setting.INDEXED)
        assert time.monotonic() - began < 30
    with suppress(ServerLost):
        session.close()
    place.revive()
    session = opened(place.url)
    entry = Ledger(session).entry("tenktup1")
    assert entry is not None
    assert not entry.whole
    tables = WisconsinTables(session, SPEC)
    tables.prepare()
    tables.settle(ROWS, Setting.INDEXED)
    assert_settled(session)
    session.close()
