"""Names of files: of those that a process has open or mapped, and of those that a server names."""

from __future__ import annotations

import mmap
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from tare.dbms.mariadb import caches
from tare.dbms.postgresql import relation_files
from tare.errors import ServerLost
from tare.os.files import Files, KnownFile, key_of, unknown_file
from tests.unit.os.planted import Read

if TYPE_CHECKING:
    from tare._probe import OsRead


def no_names() -> Mapping[Path, str]:
    return {}


def file(folder: Path, name: str = "data") -> Path:
    path = folder / name
    path.write_bytes(b"x" * 4096)
    return path


def read_of(path: Path) -> OsRead:
    device, inode = key_of(path.stat())
    return cast("OsRead", Read(0, device=device, inode=inode))


def test_a_device_is_numbered_as_the_kernel_does(tmp_path: Path) -> None:
    status = file(tmp_path).stat()
    large = os.stat_result((0, 7, os.makedev(259, 70_000), 1, 0, 0, 0, 0, 0, 0))
    assert key_of(status) == (os.major(status.st_dev) << 20 | os.minor(status.st_dev), status.st_ino)
    assert key_of(large) == (259 << 20 | 70_000, 7)


def test_a_file_without_a_name_is_named_by_its_numbers() -> None:
    assert unknown_file((253 << 20 | 16, 77)) == KnownFile("file 77 on 253:16", None)


def test_an_open_file_has_its_own_name(tmp_path: Path) -> None:
    path, files = file(tmp_path), Files(no_names)
    key = key_of(path.stat())
    with path.open("rb"):
        files.look([os.getpid()])
    assert files.file_of(key) == KnownFile("data", str(path))
    assert files.file_of((key[0], 0)).path is None


def test_a_mapped_file_has_its_own_name(tmp_path: Path) -> None:
    path, files = file(tmp_path), Files(no_names)
    with path.open("rb") as stream:
        mapped = mmap.mmap(stream.fileno(), 4096, access=mmap.ACCESS_READ)
    if not os.access("/proc/self/map_files", os.R_OK) or os.geteuid():
        pytest.skip("links of mapped files are root's")
    files.look([os.getpid()])
    mapped.close()
    assert files.file_of(key_of(path.stat())).name == "data"


def test_a_deleted_file_keeps_its_name(tmp_path: Path) -> None:
    path, files = file(tmp_path), Files(no_names)
    with path.open("rb"):
        key = key_of(path.stat())
        path.unlink()
        files.look([os.getpid()])
    assert files.file_of(key) == KnownFile("data", str(path))


def test_a_process_that_has_ended_has_no_files() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
        Files(no_names).look([process.pid])


def test_the_servers_name_comes_first(tmp_path: Path) -> None:
    path = file(tmp_path, "16384")
    files = Files(lambda: {path: "lineitem", tmp_path / "gone": "orders"})
    with path.open("rb"):
        files.look([os.getpid()])
    assert files.file_of(key_of(path.stat())) == KnownFile("lineitem", str(path))


def test_the_server_is_asked_again_for_a_file_that_is_new(tmp_path: Path) -> None:
    calls: list[int] = []
    old, new = file(tmp_path, "1"), file(tmp_path, "2")
    names = {old: "old"}

    def ask() -> Mapping[Path, str]:
        calls.append(1)
        return names

    files = Files(ask)
    names[new] = "new"
    files.resolve([read_of(old)], [])
    assert len(calls) == 1
    files.resolve([read_of(old), read_of(new)], [])
    assert len(calls) == 2
    assert files.file_of(key_of(new.stat())).name == "new"


def lost() -> Mapping[Path, str]:
    raise ServerLost("it went away")


def closed() -> Mapping[Path, str]:
    raise PermissionError


@pytest.mark.parametrize("ask", [lost, closed])
def test_a_server_that_does_not_answer_names_no_file(
    ask: Callable[[], Mapping[Path, str]], tmp_path: Path
) -> None:
    files = Files(ask)
    key = key_of(file(tmp_path).stat())
    assert files.file_of(key) == unknown_file(key)


def test_files_of_postgresql_are_named_by_their_relations(tmp_path: Path) -> None:
    base = tmp_path / "base" / "5"
    base.mkdir(parents=True)
    for name in ("16384", "16384.1", "16384_fsm", "16384_vm.2", "t3_16390", "16391", "PG_VERSION"):
        file(base, name)
    relations = [
        ("lineitem", "base/5/16384"),
        ("pg_temp_3.sorted", "base/5/t3_16390"),
        ("gone", "pg_tblspc/1/PG_18/5/7"),
    ]
    assert relation_files.names(tmp_path, relations) == {
        base / "16384": "lineitem",
        base / "16384.1": "lineitem (segment 1)",
        base / "16384_fsm": "lineitem (free space map)",
        base / "16384_vm.2": "lineitem (visibility map, segment 2)",
        base / "t3_16390": "pg_temp_3.sorted",
        base / "PG_VERSION": "PG_VERSION",
    }


def test_files_of_mariadb_are_named_by_their_tables() -> None:
    data = Path("/data")
    files = [data / "ibdata1", data / "my@002dshop" / "or@0020ders.ibd", data / "my@002dshop" / "old.MAI"]
    assert list(caches.file_names(files, "my-shop").values()) == [
        "ibdata1",
        "my-shop.or ders",
        "my-shop.old (indexes)",
    ]
