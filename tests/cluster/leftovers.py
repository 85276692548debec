"""Everything on this machine that carries the name of a cluster, and what it may not touch."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from tare.cluster import record


def leftovers(name: str) -> list[str]:
    """Namespaces, cgroups, mounts, loop devices, processes, directories and records of a cluster of this name."""
    sign = re.compile(rf"tare-(cluster-)?{re.escape(name)}-")
    found = [f"namespace {path}" for path in Path("/run/netns").glob("*") if sign.match(path.name)]
    found += [f"cgroup {path}" for path in _groups() if sign.match(path.name)]
    found += [f"mount {line}" for line in _lines("/proc/self/mounts") if sign.search(line)]
    for file in Path("/sys/block").glob("loop*/loop/backing_file"):
        with suppress(OSError):
            if sign.search(file.read_text()):
                found.append(f"loop device {file}")
    found += [f"process {pid}" for pid in _processes(sign)]
    found += [f"directory {path}" for path in Path(tempfile.gettempdir()).iterdir() if sign.match(path.name)]
    if record.folder(name).exists():
        found.append(f"record {record.folder(name)}")
    return found


def links() -> str:
    """Network devices and queues of this machine's own namespace."""
    devices = subprocess.run(["ip", "-o", "link"], capture_output=True, text=True, check=True).stdout
    queues = subprocess.run(["tc", "qdisc", "show"], capture_output=True, text=True, check=True).stdout
    return devices + queues


def _groups() -> Iterator[Path]:
    for line in _lines("/proc/self/mountinfo"):
        before, _, after = line.partition(" - ")
        if after.startswith(("cgroup ", "cgroup2 ")):
            yield from Path(before.split()[4]).glob("tare-*")


def _processes(sign: re.Pattern[str]) -> Iterator[int]:
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit() or int(folder.name) == os.getpid():
            continue
        with suppress(OSError):
            texts = [(folder / name).read_text(errors="replace") for name in ("cmdline", "cgroup")]
            if any(sign.search(text) for text in texts):
                yield int(folder.name)


def _lines(path: str) -> list[str]:
    return Path(path).read_text().splitlines()
