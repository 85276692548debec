"""`tare-server.json`: the marker that a directory holds a server of ours, and how it was started."""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from tare.errors import ServerFailed

NAME = "tare-server.json"
FORMAT = 1

_NAMES = {"postgresql": "PostgreSQL", "mariadb": "MariaDB", "mysql": "MySQL"}
_PATHS = ("directory", "data_directory", "binaries", "socket_directory", "log")


@dataclass(frozen=True, slots=True)
class ServerRecord:
    kind: str  # "postgresql", "mariadb" or "mysql"
    version: str
    url: str  # of its first database; holds no password
    directory: Path  # all that the server owns, and this record
    data_directory: Path
    binaries: Path  # the folder of its programs
    socket_directory: Path
    log: Path
    port: int | None  # on 127.0.0.1; None: socket only
    pid: int
    temporary: bool  # the directory goes when the server is stopped

    @property
    def name(self) -> str:
        """The DBMS and its version, for a reader."""
        return f"{_NAMES.get(self.kind, self.kind)} {self.version}"

    @property
    def outside(self) -> Path | None:
        """A socket folder elsewhere, because the directory's path is too long for a socket."""
        return None if self.socket_directory == self.directory else self.socket_directory


def write(record: ServerRecord) -> None:
    """Whole or not at all (temporary file and rename)."""
    values = {key: str(value) if isinstance(value, Path) else value for key, value in asdict(record).items()}
    handle, name = tempfile.mkstemp(dir=record.directory, prefix=NAME)
    with os.fdopen(handle, "w") as out:
        json.dump({"format": FORMAT} | values, out, indent=2)
        out.flush()
        os.fchmod(out.fileno(), 0o644)
    Path(name).replace(record.directory / NAME)


def read(directory: Path) -> ServerRecord | None:
    """None if the directory is not one of ours. Raises ServerFailed for a record that cannot be read."""
    path = directory / NAME
    try:
        values: dict[str, Any] = json.loads(path.read_text())
        if values.pop("format") != FORMAT:
            raise ValueError(f"its format is not {FORMAT}")
        values |= {name: Path(values[name]) for name in _PATHS}
        return ServerRecord(**{field.name: values[field.name] for field in fields(ServerRecord)})
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return None
    except (ValueError, KeyError, TypeError) as error:
        raise ServerFailed(
            f"{path} cannot be read: {error!r}", "stop the server by its own means and remove the directory"
        ) from error


def of_data_directory(data_directory: Path) -> ServerRecord | None:
    """The record of the server whose data lie here, if it is ours."""
    record = read(data_directory.parent)
    return record if record and record.data_directory == data_directory else None
