"""Programs that make a cluster: each in a cgroup of the cluster, and with its lock until it has ended."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from tare.cluster import cgroup, namespace, rights
from tare.cluster.lock import Lock
from tare.cluster.record import Cluster, Node
from tare.dbms.servers import program
from tare.dbms.servers.owner import Owner
from tare.errors import ServerFailed

LIMIT_S = 60.0
_ENTER = (
    'count=$1; shift; while [ "$count" -gt 0 ]; do echo $$ > "$1/cgroup.procs" || exit 125; shift; '
    "count=$((count - 1)); done; "
)
_RUN = _ENTER + 'exec "$@"'
_SERVE = _ENTER + 'exec "$@" </dev/null'
"""The lock is the standard input, so a server gives it back when it begins; by then it is in its cgroup."""


class Helpers:
    """Runs programs for a cluster. Use while its lock is held."""

    def __init__(self, cluster: Cluster, lock: Lock, where: cgroup.Layout) -> None:
        self.cluster, self.layout = cluster, where
        self._lock = lock

    def group(self, node: Node | None) -> cgroup.Group:
        """Return the cgroup of a node, or that of programs of no node."""
        return cgroup.Group(node.cgroup if node else self.cluster.helpers, self.layout)

    def run(
        self,
        words: Sequence[str | Path],
        *,
        what: str,
        node: Node | None = None,
        within: str | None = None,
        owner: Owner | None = None,
        advice: str = "",
        limit_s: float = LIMIT_S,
    ) -> str:
        """Run a program in the cgroup of `node` and the namespace `within`, and return its output.

        Raises ServerFailed with its messages."""
        try:
            done = subprocess.run(
                self._command(_RUN, node, within, owner, words),
                stdin=self._lock.descriptor,
                capture_output=True,
                text=True,
                errors="replace",
                cwd="/",
                env=program.environment(),
                timeout=limit_s,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise ServerFailed(f"{what}: no end within {limit_s:g} s", advice) from error
        if done.returncode != 0:
            failure = program.failed(what, f"{done.stdout}\n{done.stderr}", None)
            raise ServerFailed(failure.what, advice or failure.next_step)
        return done.stdout.strip()

    def serve(self, words: Sequence[str | Path], node: Node, owner: Owner) -> subprocess.Popen[bytes]:
        """Start the server of a node, which outlives this process."""
        with node.log.open("ab") as log:
            return subprocess.Popen(
                self._command(_SERVE, node, node.namespace, owner, words),
                stdin=self._lock.descriptor,
                stdout=log,
                stderr=log,
                cwd="/",
                env=program.environment(),
                start_new_session=True,
            )

    def _command(
        self,
        script: str,
        node: Node | None,
        within: str | None,
        owner: Owner | None,
        words: Sequence[str | Path],
    ) -> list[str]:
        groups = self.group(node).directories
        command = ["/bin/sh", "-c", script, "sh", str(len(groups)), *map(str, groups)]
        if within is not None:
            command += [rights.program("nsenter"), f"--net={namespace.path(within)}", "--"]
        if owner is not None:
            # Shared memory of System V that a killed server leaves ends with its namespace.
            command += [rights.program("unshare"), "--ipc", "--"]
        if owner is not None and owner.switch:
            user = (f"--reuid={owner.uid}", f"--regid={owner.gid}", "--clear-groups")
            command += [rights.program("setpriv"), *user, "--"]
        return [*command, *map(str, words)]
