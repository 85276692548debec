"""Recordings of a profile, written by hand: the format of `crates/tare-profile/src/recording`, said again."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable
from pathlib import Path
from typing import Any

ENTER, EXIT, BEGIN, SUSPEND, RESUME, END, LABEL, CPU = 1, 2, 4, 5, 6, 7, 8, 9

_MASK = (1 << 64) - 1


def _mix(hashed: int, word: int) -> int:
    product = ((hashed ^ word) * 0x9E37_79B9_7F4A_7C15) & _MASK
    return product ^ product >> 29


def _check(kind: int, body: bytes) -> int:
    hashed = _mix(kind, len(body))
    padded = body + bytes(-len(body) % 8)
    for (word,) in struct.iter_unpack("<Q", padded):
        hashed = _mix(hashed, word)
    return hashed


def _frame(kind: int, body: bytes) -> bytes:
    return struct.pack("<IIQ", kind, len(body), _check(kind, body)) + body


def _json(kind: int, value: Any) -> bytes:
    return _frame(kind, json.dumps(value).encode())


def record(time: int, kind: int, subject: int, detail: int = 0) -> bytes:
    return struct.pack("<QII", time, kind << 28 | subject, detail)


def mark(time: int, kind: int, number: int) -> bytes:
    return record(time, kind, number >> 32, number & 0xFFFF_FFFF)


def _records(tid: int, records: Iterable[bytes]) -> bytes:
    """Every difference of times and every detail at its full length (`coding.rs`)."""
    every = [struct.unpack("<QII", one) for one in records]
    body = struct.pack("<iiI", 10, tid, len(every))
    before = 0
    for time, word, detail in every:
        subject = word & 0x0FFF_FFFF
        parts = [subject >> shift & 0x7F for shift in (0, 7, 14, 21) if shift == 0 or subject >> shift]
        named = bytes([*(part | 0x80 for part in parts[:-1]), parts[-1]])
        body += bytes([word >> 28 | 3 << 4 | 2 << 6]) + named
        body += struct.pack("<QI", time - before & _MASK, detail)
        before = time
    return body


def written(
    path: Path,
    threads: dict[int, Iterable[bytes]],
    *,
    texts: Iterable[tuple[int, str]] = (),
    details: Iterable[tuple[int, str]] = (),
    counted: int = 0,
    ended: bool = True,
) -> Path:
    """A recording of one window from tick 0 to 10,000 of a clock that ticks twice in a ns; all records are in it.

    `counted`: the tick up to which there is another window before it, which counts entries of function 2."""
    begin = {
        "number": 1 if counted else 0,
        "ticks": counted,
        "mode": "timing",
        "purpose": "probed",
        "round": 2,
        "functions": [1, 2],
        "entry_only": [],
        "details": list(details),
    }
    end = {"number": begin["number"], "ticks": 10_000, "calls": [], "own_cpu_ns": 5}
    before = {**begin, "number": 0, "ticks": 0, "mode": "counting", "purpose": "counting", "entry_only": [2]}
    counts = [_json(1, before), _json(2, {**end, "number": 0, "ticks": counted})] if counted else []
    frames = [
        _frame(6, struct.pack("<QQ", 0, 1_000)),
        *counts,
        _json(1, begin),
        _json(4, list(texts)),
        *(_frame(3, _records(tid, records)) for tid, records in threads.items()),
        _frame(6, struct.pack("<QQ", 10_000, 6_000)),
    ]
    if ended:
        frames += [_json(2, end), _json(7, {"own_cpu_ns": 5, "records": 0})]
    path.write_bytes(b"TAREPROF" + struct.pack("<II", 2, 0) + b"".join(frames))
    return path
