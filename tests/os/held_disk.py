"""A disk whose reads are done when a test allows it: a loop device over a file that this process serves (FUSE)."""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import struct
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

BYTES = 16 << 20
LIMIT_S = 60.0

_REQUEST = struct.Struct("<IIQQIIIHH")  # length, operation, number, node, user, group, process, extensions
_REPLY = struct.Struct("<IiQ")  # length, error, number
_READ = struct.Struct("<QQI")  # handle, offset, length
_INIT = struct.Struct("<IIIIHHIIHHI28x")
_ATTRIBUTES = struct.Struct("<QIIQQQQQQIIIIIIIIII")
_OPENED = struct.Struct("<QII")
_FORGET, _GETATTR, _OPEN, _READ_FILE, _RELEASE, _FLUSH = 2, 3, 14, 15, 18, 25
_START, _INTERRUPT, _FORGET_SOME = 26, 36, 42
_ASYNC_READ = _DIRECT_IO = 1
_DETACH = 2
_MODE = stat.S_IFREG | 0o600


class HeldDisk:
    """Zeros, which are read at once until `hold`, and from then on when `release` allows it."""

    def __init__(self, fuse: int) -> None:
        self.device = ""
        self._fuse = fuse
        self._changed = threading.Condition()
        self._is_held = False
        self._waiting: list[tuple[int, int]] = []  # number and length
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def hold(self) -> None:
        with self._changed:
            self._is_held = True

    def release(self) -> None:
        with self._changed:
            self._is_held = False
            waiting, self._waiting = self._waiting, []
        for number, length in waiting:
            self._answer(number, bytes(length))

    def wait_for_a_read(self) -> None:
        """Wait until a read is held back."""
        with self._changed:
            assert self._changed.wait_for(lambda: self._waiting, LIMIT_S)

    def join(self) -> None:
        """Wait for the end of the file system."""
        self._thread.join(LIMIT_S)

    def _serve(self) -> None:
        while True:
            try:
                request = os.read(self._fuse, 1 << 17)
            except OSError as error:
                if error.errno == errno.ENODEV:  # unmounted
                    return
                continue
            _, operation, number, *_ = _REQUEST.unpack_from(request)
            if operation == _READ_FILE:
                self._read(number, _READ.unpack_from(request, _REQUEST.size)[2])
            elif operation not in (_FORGET, _FORGET_SOME, _INTERRUPT):
                self._answer(number, _described(operation))

    def _read(self, number: int, length: int) -> None:
        with self._changed:
            if self._is_held:
                self._waiting.append((number, length))
                self._changed.notify_all()
                return
        self._answer(number, bytes(length))

    def _answer(self, number: int, answer: bytes | int) -> None:
        failed, data = (answer, b"") if isinstance(answer, int) else (0, answer)
        try:
            os.write(self._fuse, _REPLY.pack(_REPLY.size + len(data), failed, number) + data)
        except FileNotFoundError:
            return  # nobody waits for it any more


def _described(operation: int) -> bytes | int:
    """Answer to a request other than a read; an error number below 0 for what this file system lacks."""
    if operation == _START:
        return _INIT.pack(7, 31, 1 << 20, _ASYNC_READ, 64, 64, 4096, 1, 0, 0, 0)
    if operation == _GETATTR:
        times = (0,) * 6
        return _ATTRIBUTES.pack(1, 0, 0, 1, BYTES, BYTES // 512, *times, _MODE, 1, 0, 0, 0, 4096, 0)
    if operation == _OPEN:
        return _OPENED.pack(0, _DIRECT_IO, 0)
    return b"" if operation in (_RELEASE, _FLUSH) else -errno.ENOSYS


@contextmanager
def held_disk(folder: Path) -> Iterator[HeldDisk]:
    """Serve a disk of 16 MiB. Raises OSError or CalledProcessError where this machine or user may not have one."""
    file = folder / "served"
    file.touch()
    libc = ctypes.CDLL(None, use_errno=True)
    fuse = os.open("/dev/fuse", os.O_RDWR)
    try:
        options = f"fd={fuse},rootmode={_MODE:o},user_id=0,group_id=0".encode()
        if libc.mount(b"tare-test", os.fsencode(file), b"fuse", 0, options):
            raise OSError(ctypes.get_errno(), "no file system of a process can be mounted")
        disk = HeldDisk(fuse)
        try:
            disk.device = _losetup("--find", "--show", "--read-only", str(file))
            try:
                yield disk
            finally:
                disk.release()
                _losetup("--detach", disk.device)
        finally:
            libc.umount2(os.fsencode(file), _DETACH)
            disk.join()
    finally:
        os.close(fuse)


def _losetup(*words: str) -> str:
    done = subprocess.run(["losetup", *words], check=True, capture_output=True, text=True, timeout=LIMIT_S)
    return done.stdout.strip()
