"""A histogram as the lab keeps it: JSON, compressed with zlib.

`{"version": 1, "upper": [...], "count": [...]}`: buckets that hold something, rising; `upper` is the highest value
that counts into a bucket, ns.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable

from tare.errors import LabError, LabTooNew

VERSION = 1

_MOST_BYTES = 64 << 20
"""Unpacked: a damaged or hostile one may claim any size."""


def encode(buckets: Iterable[tuple[int, int]]) -> bytes:
    pairs = list(buckets)
    document = {"version": VERSION, "upper": [up for up, _ in pairs], "count": [count for _, count in pairs]}
    return zlib.compress(json.dumps(document, separators=(",", ":")).encode("ascii"))


def decode(data: bytes) -> tuple[tuple[int, int], ...]:
    """Raises LabError for what is damaged, LabTooNew for a later version."""
    try:
        unpacker = zlib.decompressobj()
        text = unpacker.decompress(data, _MOST_BYTES)
        if not unpacker.eof or unpacker.unused_data:
            raise ValueError("cut short, or more than one histogram can have")
        document = json.loads(text)
        version = document["version"]
        if version == VERSION:
            return tuple(zip(map(int, document["upper"]), map(int, document["count"]), strict=True))
    except (zlib.error, ValueError, KeyError, TypeError) as error:
        raise LabError(
            f"a histogram is damaged ({type(error).__name__}: {error})",
            "take another copy of the lab, or of the export it came from",
        ) from error
    raise LabTooNew(
        f"a histogram is of version {version}; this Tare knows {VERSION}",
        "update Tare (pip install --upgrade tare-db)",
    )
