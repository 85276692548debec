"""Disk space: estimated first, and refused with figures."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path

import pytest

from tare.dbms.base import Server
from tare.errors import NotEnoughDisk
from tare.workload.wisconsin.kinds import Generation
from tare.workload.wisconsin.layout import layout_of
from tare.workload.wisconsin.relations import relations
from tare.workload.wisconsin.space import check_space, needed

DBMSES = ("postgresql", "mariadb", "sqlite", "duckdb")


def server(directory: Path) -> Server:
    return Server("sqlite", "3", {}, "sqlite:///w.db", local=True, data_directory=directory)


def at(rows: int, dbms: str) -> int:
    wanted = {one: one.tuples(rows) for one in relations(Generation.Y1993)}
    return needed(layout_of(dbms), wanted)


@pytest.mark.parametrize("dbms", DBMSES)
def test_the_need_grows_with_the_tuples_and_covers_their_bytes_where_they_are_not_packed(dbms: str) -> None:
    bare = 2.2 * 10**7 * (13 * 4 + 3 * 52)
    assert (0.5 if dbms == "duckdb" else 1) * bare < at(10**7, dbms) < 8 * bare
    assert at(10**8, dbms) > 8 * at(10**7, dbms)


def test_what_fits_is_not_refused(tmp_path: Path) -> None:
    check_space(server(tmp_path), shutil.disk_usage(tmp_path).free // 2, there=0)


def test_what_does_not_fit_is_refused_with_need_room_and_place(tmp_path: Path) -> None:
    free = shutil.disk_usage(tmp_path).free
    with pytest.raises(NotEnoughDisk) as refused:
        check_space(server(tmp_path), free + 5_000_000_000, there=0)
    assert f"{(free + 5e9) / 1e9:,.2f} GB in {tmp_path}" in refused.value.what
    assert "are free" in refused.value.what
    assert "make 5.0" in refused.value.next_step


def test_what_is_there_already_gives_its_room_back(tmp_path: Path) -> None:
    free = shutil.disk_usage(tmp_path).free
    check_space(server(tmp_path), free + 5_000_000_000, there=6_000_000_000)


def test_a_disk_that_cannot_be_seen_is_not_judged(tmp_path: Path) -> None:
    far = dataclasses.replace(server(tmp_path), local=False)
    check_space(far, 10**18, there=0)
    check_space(dataclasses.replace(server(tmp_path), data_directory=None), 10**18, there=0)
    check_space(server(tmp_path / "closed"), 10**18, there=0)
