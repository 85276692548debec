"""The last windows of a recording as a recording of their own, so that they are read without the rest.

After each pair of windows a look at what they cost must itself cost little. A recording is one file of frames
(`crates/tare-profile/src/recording/frame.rs`); frames are skipped by their length, and those from a window's beginning
on are copied behind the file's head. A file whose frames this module does not know is given whole.
"""

from __future__ import annotations

import struct
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import copyfileobj
from typing import IO

_HEAD = struct.Struct("<8sII")
_FRAME = struct.Struct("<IIQ")
_KNOWN = (b"TAREPROF", 2)
_BEGIN = 1  # of a window


class Windows:
    """Offsets of a recording's windows. Reads each frame's head once, as the file grows."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._begins: list[int] = []
        self._next = _HEAD.size

    def offset(self, window: int) -> int | None:
        """Offset of a window's first frame; None: not known."""
        try:
            with self._path.open("rb") as stream:
                self._walk(stream)
        except OSError:
            return None
        return self._begins[window] if 0 <= window < len(self._begins) else None

    def _walk(self, stream: IO[bytes]) -> None:
        head = stream.read(_HEAD.size)
        if len(head) < _HEAD.size or _HEAD.unpack(head)[:2] != _KNOWN:
            return
        end = stream.seek(0, 2)
        while self._next + _FRAME.size <= end:
            stream.seek(self._next)
            kind, length, _ = _FRAME.unpack(stream.read(_FRAME.size))
            if self._next + _FRAME.size + length > end:
                return
            if kind == _BEGIN:
                self._begins.append(self._next)
            self._next += _FRAME.size + length


@contextmanager
def excerpt(path: Path, windows: Windows, since: int) -> Iterator[Path]:
    """A file with the windows from `since` on, within the block; the recording itself where they are not known."""
    offset = windows.offset(since)
    if offset is None or offset == _HEAD.size:
        yield path
        return
    with tempfile.NamedTemporaryFile(prefix=".excerpt.", dir=path.parent) as copy, path.open("rb") as stream:
        copy.write(stream.read(_HEAD.size))
        stream.seek(offset)
        copyfileobj(stream, copy, 1 << 20)
        copy.flush()
        yield Path(copy.name)
