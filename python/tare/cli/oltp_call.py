"""Options that all commands of `tare bench oltp` share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tare.cli.oltp_database import database
from tare.workload.oltp.request import Check, Drop, Load, Request, Run
from tare.workload.oltp.workloads import known


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
