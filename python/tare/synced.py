"""What must last: a file's bytes, or a folder's names, on the disk."""

from __future__ import annotations

import os
from pathlib import Path


def synced(path: Path) -> None:
    """They are on the disk afterwards. Raises OSError; some file systems cannot sync a folder."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
