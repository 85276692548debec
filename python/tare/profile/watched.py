"""Beside a profile's `about.json`: what was watched, so that another profile can go on from it while it still runs."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field, ValidationError

from tare.errors import ProfileDamaged, ServerLost
from tare.files import write
from tare.profile import launch
from tare.profile.server import Server
from tare.records import TolerantRecord

NAME = "watched.json"


class Watched(TolerantRecord):
    pid: int
    born: int | None
    dbms: str | None
    version: str
    library: str = ""
    folder: str = ""  # of the shared memory that an agent talks by
    settings: dict[str, str] = Field(default={})
    children: bool | None = None
    settled: bool = False  # refinement ended because nothing was left to divide
    naive_rounds: int | None = None

    def server(self) -> Server:
        """Raises ServerLost where it has ended."""
        found = Server(
            self.pid, self.born, self.dbms, self.version, self.library, self.settings, self.children
        )
        if not found.alive:
            launch.forget(self.folder)
            raise ServerLost(
                f"the server of this profile (process {self.pid}) has ended: no round can be added",
                "profile the one that runs now: tare profile attach, with --functions for what was found",
            )
        return found


def of_server(server: Server, folder: Path | None) -> Watched:
    return Watched(
        pid=server.pid,
        born=server.born,
        dbms=server.dbms,
        version=server.version,
        library=server.library,
        folder=str(folder) if folder else "",
        settings=dict(server.settings),
        children=server.children,
    )


def save(run: Path, watched: Watched) -> None:
    write(run / NAME, watched.model_dump_json(indent=1) + "\n")


def read(run: Path) -> Watched:
    """Raises ProfileDamaged."""
    file = run / NAME
    try:
        return Watched.model_validate_json(file.read_text(encoding="utf-8"))
    except (OSError, ValidationError) as error:
        raise ProfileDamaged(
            f"{file} does not say what was watched: {(str(error).splitlines() or [''])[0]}",
            "begin a new profile: tare profile attach",
        ) from error
