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

_PRIVATE = (
    'own=$1; shift; mounts=$(cat /proc/mounts); printf "%s\\n" "$mounts" | while read -r device place rest; do '
    'case $device in /dev/loop*) [ "$place" = "$own" ] || umount -l "$place" || :;; esac; done; '
    'mount -t tmpfs tmpfs /dev/shm || exit 125; exec "$@"'
)
"""Shared memory of its own for a program that may be killed. Copies of other mounts are dropped: they would keep the
disks of other clusters in use."""


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
        """Run a program in the cgroup of `node` and the namespace `within`, and return its output. `owner`: as this
        user, with shared memory that ends with it.

        Raises ServerFailed with its messages."""
        if owner is not None and node is not None:
            words = [
                *(rights.program("unshare"), "--ipc", "--mount", "--propagation", "slave", "--"),
                *("/bin/sh", "-c", _PRIVATE, "sh", node.mount, *_as_user(owner), *words),
            ]
        try:
            done = subprocess.run(
                self._command(_RUN, node, within, words),
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
        """Start the server of a node, which outlives this process. Shared memory of System V ends with the server."""
        words = [rights.program("unshare"), "--ipc", "--", *_as_user(owner), *words]
        with node.log.open("ab") as log:
            return subprocess.Popen(
                self._command(_SERVE, node, node.namespace, words),
                stdin=self._lock.descriptor,
                stdout=log,
                stderr=log,
                cwd="/",
                env=program.environment(),
                start_new_session=True,
            )

    def _command(
        self, script: str, node: Node | None, within: str | None, words: Sequence[str | Path]
    ) -> list[str]:
        groups = self.group(node).directories
        command = ["/bin/sh", "-c", script, "sh", str(len(groups)), *map(str, groups)]
        if within is not None:
            command += [rights.program("nsenter"), f"--net={namespace.path(within)}", "--"]
        return [*command, *map(str, words)]


def _as_user(owner: Owner) -> list[str]:
    if not owner.switch:
        return []
    user = (f"--reuid={owner.uid}", f"--regid={owner.gid}", "--clear-groups")
    return [rights.program("setpriv"), *user, "--"]
