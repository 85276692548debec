"""The database of a transactional workload: one by URL, or one that Tare starts and whose data it keeps."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, cast

from tare.dbms.postgresql.answering import answering
from tare.dbms.url import file_path, redacted, scheme_of, shown_name
from tare.errors import UsageError
from tare.experiment.specification import DbmsSpec
from tare.experiment.target import Target, home, make_file
from tare.meant import meant

STARTED = ("postgresql", "mariadb", "sqlite")
_SCHEMES = ("postgresql", "postgres", "mariadb", "mysql", "sqlite")


@contextmanager
def database(
    db: str, workload: str, lab: str, dir_: Path | None, *, make: bool = False, shared: bool = False
) -> Iterator[str]:
    """Its URL; within the block its server runs, and no other command of this machine changes its tables.

    `make`: it may be a new one. `shared`: other clients may load it too. Raises UsageError, DatabaseInUse and
    ServerFailed."""
    place = (dir_.absolute() if dir_ else home(lab)) / f"oltp-{workload}-{db}"
    if db in STARTED:
        there = place.with_name(f"{place.name}.db") if db == "sqlite" else place
        if not make and not there.exists():
            raise UsageError(
                f"no data are loaded into Tare's {db} here ({there} does not exist)",
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
    with Target(spec, place, shared=shared) as target:
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
