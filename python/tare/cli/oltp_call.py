"""Options that all commands of `tare bench oltp` share, and the database: by URL, or one that Tare starts and keeps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

from tare.dbms.postgresql.answering import answering
from tare.dbms.url import file_path, redacted, scheme_of, shown_name
from tare.errors import UsageError
from tare.experiment.specification import DbmsSpec
from tare.experiment.target import Target, home, make_file
from tare.meant import meant
from tare.workload.oltp.request import Check, Drop, Load, Request, Run
from tare.workload.oltp.workloads import known

STARTED = ("postgresql", "mariadb", "sqlite")
_SCHEMES = ("postgresql", "postgres", "mariadb", "mysql", "sqlite")


@contextmanager
def database(db: str, workload: str, lab: str, dir_: Path | None, *, make: bool = False) -> Iterator[str]:
    """Its URL; within the block its server runs, and no other run of this machine uses it.

    `make`: it may be a new one. Raises UsageError, DatabaseInUse and ServerFailed."""
    place = (dir_.absolute() if dir_ else home(lab)) / f"oltp-{workload}-{db}"
    if db in STARTED:
        there = place.with_name(f"{place.name}.db") if db == "sqlite" else place
        if not make and not there.exists():
            raise UsageError(
                f"nothing was loaded into a {db} of Tare's here ({there} is not there)",
                f"load it first: tare bench oltp load {workload} --db {db}, with the same --lab or --dir",
            )
        start = cast(Literal["postgresql", "mariadb", "sqlite"], db)
        spec = DbmsSpec(name=db, start=start)
    else:
        _known(db)
        db = answering(db)
        spec = DbmsSpec(name=scheme_of(db), url=db)
        if scheme_of(db) == "sqlite" and not (file := file_path(db)).exists():
            if not make:
                raise UsageError(f"there is no database {file}", f"load one: tare bench oltp load {workload}")
            make_file(file, "sqlite")
    with Target(spec, place) as target:
        yield target.url


def _known(db: str) -> None:
    if "://" not in db:
        raise UsageError(
            f"--db {shown_name(db)}: neither a URL nor a DBMS that Tare starts",
            meant(db, STARTED, f"give a URL, or one of {', '.join(STARTED)}"),
        )
    if scheme_of(db) not in _SCHEMES:
        raise UsageError(
            f"transactional workloads do not run on {redacted(db)}",
            f"give a URL of {', '.join(f'{one}://' for one in _SCHEMES)}",
        )


@dataclass(frozen=True)
class Call:
    """Request of a command. Raises UsageError for a workload that nobody knows."""

    workload: str
    db: str
    lab: str
    dir: Path | None
    connect_timeout_s: float
    json: bool

    def __post_init__(self) -> None:
        known(self.workload)

    @contextmanager
    def at(self, *, make: bool = False) -> Iterator[str]:
        """The URL of the database, whose server runs within the block."""
        with database(self.db, self.workload, self.lab, self.dir, make=make) as url:
            yield url

    def request(
        self,
        action: Load | Check | Drop | Run,
        seed: int = 0,
        scale: float | None = None,
        options: Mapping[str, str] | None = None,
    ) -> Request:
        """Without the URL, which is known once the server runs: see `bound`."""
        return Request(
            url="",
            workload=self.workload,
            scale=scale,
            options=dict(options or {}),
            seed=seed,
            connect_timeout_s=self.connect_timeout_s,
            action=action,
        )


def bound(request: Request, url: str) -> Request:
    return request.model_copy(update={"url": url})
