"""The few things an adapter asks /proc about one process, to know whether a server's is here."""

from __future__ import annotations

import ipaddress
import os
from pathlib import Path


def parent_of(pid: int) -> int | None:
    """ppid, or None if the process is gone. The name may hold spaces and brackets."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return None
    return int(stat.rpartition(")")[2].split()[1])


def born_at(pid: int) -> int | None:
    """Start time in ticks since boot: with the pid it names one life of a process."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return None
    return int(stat.rpartition(")")[2].split()[19])


def is_alive(pid: int, born: int | None) -> bool:
    """The very process that was born then: ids are used again. A zombie is not alive."""
    return born is not None and born_at(pid) == born and command_line(pid)[:1] not in ([], [""])


def process_of_thread(tid: int) -> int | None:
    """The process a thread belongs to, or None if there is no such thread here."""
    try:
        status = Path(f"/proc/{tid}/status").read_text(errors="replace")
    except OSError:
        return None
    return next((int(line.split()[1]) for line in status.splitlines() if line.startswith("Tgid:")), None)


def command_name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text(errors="replace").strip()
    except OSError:
        return ""


def command_line(pid: int) -> list[str]:
    try:
        raw = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return []
    return [part.decode(errors="replace") for part in raw.rstrip(b"\0").split(b"\0")]


def executable(pid: int) -> Path | None:
    """The running binary; None without the right to see it."""
    try:
        return Path(os.readlink(f"/proc/{pid}/exe").removesuffix(" (deleted)"))  # noqa: PTH115
    except OSError:
        return None


def is_loopback(host: str | None) -> bool:
    """True for no host, a socket directory, `localhost` and the loopback addresses."""
    if not host or host.startswith(("/", "@")) or host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
