"""The few things an adapter asks /proc about one process, to know whether a server's is here."""

from __future__ import annotations

import ipaddress
import os
import socket
import struct
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_LISTEN = "0A"  # state of a socket in /proc/net/tcp
_ESTABLISHED = "01"
_ACCEPTING = "00010000"  # flags of one in /proc/net/unix
_CONNECTED = "03"  # state of one there
ENDED = ("Z", "X")  # states in /proc/PID/stat
_TRIES = 100
_PAUSE_S = 0.001
_LOOKS = 10
_LOOK_PAUSE_S = 0.002


def parent_of(pid: int) -> int | None:
    """ppid, or None if the process is gone."""
    stat = _stat(pid)
    return None if stat is None else int(stat[1])


def born_at(pid: int) -> int | None:
    """Start time in ticks since boot: with the pid it names one life of a process."""
    stat = _stat(pid)
    return None if stat is None else int(stat[19])


@dataclass(frozen=True, slots=True)
class Life:
    """A process from its birth to the moment at which its parent has taken notice of its end: ids are used again."""

    pid: int
    born: int | None

    @staticmethod
    def of(pid: int) -> Life:
        return Life(pid, born_at(pid))

    def lasts(self) -> bool:
        return self.born is not None and born_at(self.pid) == self.born


def is_alive(pid: int, born: int | None) -> bool:
    """The very process that was born then: ids are used again. A zombie is not alive."""
    stat = _stat(pid)
    return born is not None and stat is not None and int(stat[19]) == born and stat[0] not in ENDED


def is_stopped(pid: int) -> bool:
    """By a signal, or by a debugger."""
    stat = _stat(pid)
    return stat is not None and stat[0] in ("T", "t")


def is_asleep(pid: int) -> bool:
    """Whether its main thread waits for an event: neither on a CPU, nor ready to run, nor in a read of the disk.

    One of a few looks is enough: what waits for a lock wakes up now and then to try again, and may wait for a CPU."""
    for _ in range(_LOOKS):
        stat = _stat(pid)
        if stat is None or stat[0] == "S":
            return stat is not None
        time.sleep(_LOOK_PAUSE_S)
    return False


def began_at(pid: int) -> float | None:
    """Start of a process, in seconds since 1970."""
    ticks = born_at(pid)
    boot = next((line.split()[1] for line in _lines("/proc/stat") if line.startswith("btime ")), None)
    return None if ticks is None or boot is None else int(boot) + ticks / os.sysconf("SC_CLK_TCK")


def memory(pid: int) -> int | None:
    """Bytes of memory that a process uses, its part of what it shares with others; None without the right to see it."""
    lines = _lines(f"/proc/{pid}/smaps_rollup")
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:")), None)


def _stat(pid: int) -> list[str] | None:
    """Fields of /proc/PID/stat from the state on, or None if the process is gone. The name before them may hold spaces
    and brackets."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return None


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
    """Arguments of a process; none if it has ended.

    While a process executes a program the kernel shows no arguments, for some microseconds: then it is asked again.
    """
    raw = b""
    for _ in range(_TRIES):
        try:
            raw = Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            return []
        # A zombie and a thread of the kernel have no arguments and no program.
        if raw or executable(pid) is None:
            break
        time.sleep(_PAUSE_S)
    return [part.decode(errors="replace") for part in raw.rstrip(b"\0").split(b"\0")]


def with_argument(argument: str) -> list[int]:
    """Processes that have this argument on their command line."""
    return [pid for pid in processes() if argument in command_line(pid)]


def executable(pid: int) -> Path | None:
    """The running binary; None without the right to see it."""
    try:
        return Path(os.readlink(f"/proc/{pid}/exe").removesuffix(" (deleted)"))  # noqa: PTH115
    except OSError:
        return None


def twins_beneath(pid: int) -> list[int]:
    """Descendants of a process that run the same file: workers that it forked."""
    parents = {pid: parent_of(pid) for pid in processes()}
    beneath, own = {pid}, _file(pid)
    while new := {one for one, parent in parents.items() if parent in beneath} - beneath:
        beneath |= new
    return sorted(one for one in beneath - {pid} if own is not None and _file(one) == own)


def _file(pid: int) -> tuple[int, int] | None:
    try:
        found = Path(f"/proc/{pid}/exe").stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def processes() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208


def listeners(port: int | None, path: str | None) -> list[int]:
    """Processes that listen on a port of this machine, or on a Unix socket."""
    if path:
        rows = [line.split() for line in _lines("/proc/net/unix")]
        inodes = {row[6] for row in rows if len(row) > 7 and row[7] == path and row[3] == _ACCEPTING}
    else:
        rows = [line.split() for table in ("tcp", "tcp6") for line in _lines(f"/proc/net/{table}")]
        local_end = f":{port or 0:04X}"
        inodes = {row[9] for row in rows if len(row) > 9 and row[1].endswith(local_end) and row[3] == _LISTEN}
    return _holders(inodes)


def peer(descriptor: int) -> int | None:
    """The process at the other end of a connected socket of ours; None if it is not on this machine, or not visible."""
    with socket.socket(fileno=os.dup(descriptor)) as line:
        if line.family == socket.AF_UNIX:
            size = struct.calcsize("3i")
            pid, _, _ = struct.unpack("3i", line.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size))
            return pid or None  # 0: in another PID namespace
        here, there = line.getsockname()[1], line.getpeername()[1]
    ends = (f":{there:04X}", f":{here:04X}")
    rows = [line.split() for table in ("tcp", "tcp6") for line in _lines(f"/proc/net/{table}")]
    # A machine uses a pair of ports for several connections only if they go to different addresses.
    inodes = {
        row[9] for row in rows if len(row) > 9 and row[1].endswith(ends[0]) and row[2].endswith(ends[1])
    }
    holders = _holders(inodes)
    return holders[0] if len(inodes) == len(holders) == 1 else None


def clients(port: int | None, path: str) -> int:
    """Connections to a server on this machine, through its socket or to its port."""
    rows = [line.split() for line in _lines("/proc/net/unix")]
    count = sum(1 for row in rows if len(row) > 7 and row[7] == path and row[5] == _CONNECTED)
    if port:
        rows = [line.split() for table in ("tcp", "tcp6") for line in _lines(f"/proc/net/{table}")]
        ours = f":{port:04X}"
        count += sum(1 for row in rows if len(row) > 3 and row[1].endswith(ours) and row[3] == _ESTABLISHED)
    return count


def run_ns(pid: int) -> dict[int, int]:
    """CPU time of each thread of a process, in ns. A running thread's is some milliseconds old."""
    found = {}
    with suppress(OSError):
        for name in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208
            with suppress(OSError, ValueError, IndexError):
                found[int(name)] = int(Path(f"/proc/{pid}/task/{name}/schedstat").read_text().split()[0])
    return found


def catches(pid: int, number: int) -> bool:
    """True if the process has a handler for this signal."""
    masks = [line.split()[1] for line in _lines(f"/proc/{pid}/status") if line.startswith("SigCgt:")]
    return any(int(mask, 16) >> (number - 1) & 1 for mask in masks)


def threads_in(pid: int, call: str) -> list[int]:
    """Threads of a process that sleep in a function of the kernel with `call` in its name."""
    found = []
    with suppress(OSError):
        for name in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208
            with suppress(OSError):
                if call in Path(f"/proc/{pid}/task/{name}/wchan").read_text():
                    found.append(int(name))
    return found


def _holders(inodes: set[str]) -> list[int]:
    """Processes that have one of these sockets open."""
    links = {f"socket:[{inode}]" for inode in inodes}
    return [pid for pid in processes() if links and not links.isdisjoint(_descriptors(pid))]


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text(errors="replace").splitlines()[1:]
    except OSError:
        return []


def _descriptors(pid: int) -> list[str]:
    folder = f"/proc/{pid}/fd"
    found = []
    with suppress(OSError):
        for name in os.listdir(folder):  # noqa: PTH208
            with suppress(OSError):
                found.append(os.readlink(f"{folder}/{name}"))  # noqa: PTH115
    return found


def is_loopback(host: str | None) -> bool:
    """True for no host, a socket directory, `localhost` and the loopback addresses."""
    if not host or host.startswith(("/", "@")) or host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
