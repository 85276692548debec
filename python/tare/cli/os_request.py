"""Options of `tare os` as a subject and a request."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tare.cli.values import long_enough
from tare.dbms.base import Session
from tare.dbms.registry import find
from tare.errors import UsageError
from tare.measure.namespace import check_namespace
from tare.os.nodes import NodeSpec, parse_node
from tare.os.roles import Rules, read_rules
from tare.os.subject import Subject, of_nodes, of_processes, of_server

LEAST_INTERVAL_S = 0.05
"""Shortest window: reading the counts takes milliseconds."""


@dataclass(frozen=True, slots=True)
class SubjectOptions:
    """The subject as it was given."""

    pids: tuple[int, ...]
    nodes: tuple[NodeSpec, ...]
    db: str | None
    connect_timeout_s: float

    @staticmethod
    def of(
        pids: Sequence[int] | None, nodes: Sequence[str] | None, db: str | None, connect_timeout_s: float
    ) -> SubjectOptions:
        """Raises UsageError for options that name no subject, or several."""
        specs = tuple(parse_node(text) for text in nodes or ())
        if pids and (specs or db):
            other = "--node" if specs else "--db"
            raise UsageError(
                f"--pid and {other} both name what is observed",
                "leave one out, or name the process as a node: --node NAME=pid:P",
            )
        if not (pids or specs or db):
            raise UsageError(
                "nothing to observe is named", "give --pid P, --node NAME=pid:P or --db URL of a server"
            )
        return SubjectOptions(tuple(pids or ()), specs, db, connect_timeout_s)

    def subject(self) -> Subject:
        """Return the processes to watch. Raises UsageError, and what connecting raises."""
        check_namespace()
        if self.pids:
            return of_processes(self.pids)
        if self.db is None:
            return of_nodes(self.nodes)
        return of_server(connecting(self.db, self.connect_timeout_s)(), self.nodes)


def connecting(
    url: str, timeout_s: float, *, allow_writes: bool = False, allow_restart: bool = False
) -> Callable[[], Session]:
    """Return a function that opens a session. Raises UnknownScheme."""
    adapter = find(url)
    return lambda: adapter.connect(
        url, timeout_s=timeout_s, allow_writes=allow_writes, allow_restart=allow_restart
    )


def nodes(given: Sequence[str] | None, cluster: str | None) -> list[str]:
    """Return the nodes of --node or of --cluster. Raises UsageError for both, and for a cluster that there is not."""
    if cluster is None:
        return list(given or ())
    if given:
        raise UsageError("--cluster and --node both name nodes", "leave one out")
    from tare.cli.os_cluster import node_texts

    return node_texts(cluster)


def url_of(db: str | None, cluster: str | None) -> str:
    """Return the URL of --db, or of the cluster's coordinator. Raises UsageError for neither."""
    if db is not None:
        return db
    if cluster is None:
        raise UsageError("no database is named", "give --db URL, or --cluster NAME")
    from tare.cli.os_cluster import coordinator_url

    return coordinator_url(cluster)


def duration(text: str | None) -> float | None:
    """Seconds of --duration; None where it was not given. Raises UsageError."""
    return None if text is None else long_enough(text, "--duration")


def interval(text: str | None, duration_s: float | None) -> float | None:
    """Seconds of --interval; None where it was not given. Raises UsageError."""
    if text is None:
        return None
    seconds = long_enough(text, "--interval")
    if seconds < LEAST_INTERVAL_S:
        raise UsageError(
            f"--interval {text} is too short to read the counts in",
            f"give {LEAST_INTERVAL_S * 1e3:.0f}ms or more",
        )
    if duration_s is not None and seconds > duration_s:
        raise UsageError(
            f"--interval {text} is longer than --duration", "give a shorter interval, or a longer duration"
        )
    return seconds


def rules(file: Path | None) -> Rules | None:
    """Return the rules of --roles; None where it was not given. Raises UsageError."""
    return None if file is None else read_rules(file)
