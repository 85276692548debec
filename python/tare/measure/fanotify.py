"""Every file that any process of the machine opens, as the kernel reports it (fanotify(7)). Needs CAP_SYS_ADMIN."""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_CLOEXEC, _NONBLOCK, _UNLIMITED_QUEUE = 0x1, 0x2, 0x10
_ADD, _WHOLE_FILESYSTEM = 0x1, 0x100
_OPEN = 0x20
_AT_FDCWD = -100
_EVENT = struct.Struct("=IBBHQii")
_READ_BYTES = _EVENT.size * 128  # each event opens a descriptor here: no more at once

# File systems that hold no files of data. An open of a device may act on it.
_NO_DATA = frozenset({
    "autofs", "binfmt_misc", "bpf", "cgroup", "cgroup2", "configfs", "debugfs", "devpts", "devtmpfs", "efivarfs",
    "fusectl", "hugetlbfs", "mqueue", "nsfs", "proc", "pstore", "rpc_pipefs", "securityfs", "selinuxfs", "sysfs",
    "tracefs",
})  # fmt: skip


class OpenEvents:
    """Opens since its creation, on each file system that holds data.

    Raises OSError without the right, or where the kernel refuses a file system."""

    def __init__(self) -> None:
        self.has_lost = False
        """Whether an open could not be read: the kernel opens each file here, which may fail."""
        self._library = ctypes.CDLL(None, use_errno=True)
        flags = _CLOEXEC | _NONBLOCK | _UNLIMITED_QUEUE
        opened_as = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK  # a FIFO must not wait
        self._descriptor = self._library.fanotify_init(flags, opened_as)
        if self._descriptor < 0:
            raise _error("fanotify_init")
        try:
            for place in _places():
                self._mark(place)
        except OSError:
            self.close()
            raise

    def read(self) -> Iterator[tuple[int, Path]]:
        """Yield the process and the file of each open since the last call."""
        while True:
            try:
                block = os.read(self._descriptor, _READ_BYTES)
            except BlockingIOError:
                return
            except OSError:  # of the one event that was to come
                self.has_lost = True
                continue
            opens = [_EVENT.unpack_from(block, at) for at in range(0, len(block), _EVENT.size)]
            for *_, descriptor, pid in opens:
                if descriptor < 0:
                    self.has_lost = True
                    continue
                try:
                    path = Path(f"/proc/self/fd/{descriptor}").readlink()
                finally:
                    os.close(descriptor)
                yield pid, path

    def close(self) -> None:
        """Ends the events. May be called again."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _mark(self, place: str) -> None:
        done = self._library.fanotify_mark(
            self._descriptor,
            _ADD | _WHOLE_FILESYSTEM,
            ctypes.c_uint64(_OPEN),
            _AT_FDCWD,
            os.fsencode(place),
        )
        if done < 0:
            raise _error(f"fanotify_mark of {place}")


def _places() -> list[str]:
    """Return a mount point of each file system."""
    places: dict[int, str] = {}
    with open("/proc/self/mounts", encoding="utf-8", errors="surrogateescape") as mounts:  # noqa: PTH123
        for line in mounts:
            _, place, kind, *_ = line.split(" ")
            if kind not in _NO_DATA:
                place = place.encode(errors="surrogateescape").decode("unicode_escape")  # `\040` is a space
                with suppress(OSError):  # a mount point that another mount hides
                    places.setdefault(os.stat(place).st_dev, place)  # noqa: PTH116
    return list(places.values())


def _error(call: str) -> OSError:
    number = ctypes.get_errno()
    return OSError(number, f"{call}: {os.strerror(number)}")
