"""Traces that a cluster leaves on the machine, by its name."""

from __future__ import annotations

import subprocess
from pathlib import Path


def leftovers(name: str) -> list[str]:
    """Processes, namespaces, cgroups, mounts, loop devices, folders and journals of the cluster."""
    word = f"tare-{name}-"
    folder = f"tare-cluster-{name}-"
    found = [str(path) for path in Path("/run/netns").glob(f"{word}*")]
    found += [str(path) for path in Path("/sys/fs/cgroup").glob(f"**/{word}*")]
    found += [line for line in Path("/proc/self/mountinfo").read_text().splitlines() if folder in line]
    found += [line for line in _losetup().splitlines() if folder in line]
    found += [str(path) for path in Path("/tmp").glob(f"{folder}*")]
    journal = Path("/run/tare/clusters", name)
    found += [str(journal)] if journal.exists() else []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes()
        except OSError:
            continue
        if folder.encode() in command:
            found.append(f"process {process.name}")
    return found


def _losetup() -> str:
    return subprocess.run(["losetup", "-a"], capture_output=True, text=True, check=False).stdout
