"""Options that all commands of `tare bench oltp` share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tare.cli import destinations
from tare.cli.oltp_database import database
from tare.workload.oltp.request import Check, Drop, Load, Protocol, Request, Run
from tare.workload.oltp.workloads import known


@dataclass(frozen=True)
class Call:
    """Options of one command. Raises UsageError for an unknown workload, and for a file that cannot be written."""

    workload: str
    db: str
    lab: str
    dir: Path | None
    connect_timeout_s: float
    json: str | None
    protocol: Protocol | None = None

    def __post_init__(self) -> None:
        known(self.workload)
        destinations.check({"json": self.json})

    @property
    def quiet(self) -> bool:
        """Whether standard output carries JSON."""
        return self.json == "-"

    @contextmanager
    def at(self, *, make: bool = False, shared: bool = False) -> Iterator[str]:
        """The URL of the database, whose server runs within the block. `shared`: beside other clients."""
        with database(self.db, self.workload, self.lab, self.dir, make=make, shared=shared) as url:
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
            protocol=self.protocol,
            connect_timeout_s=self.connect_timeout_s,
            action=action,
        )


def protocol_of(word: str | None) -> Protocol | None:
    """Protocol of an option's word."""
    return None if word is None else Protocol(word)


def bound(request: Request, url: str) -> Request:
    return request.model_copy(update={"url": url})
