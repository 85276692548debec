"""Runs the command as a user would, and reads what it said."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Said:
    code: int
    out: str
    err: str

    @property
    def result(self) -> Any:
        return json.loads(self.out)


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "COLUMNS": "100", "NO_COLOR": "1", **more}


def tare(*words: str, timeout: float = 120, **more: str) -> Said:
    done = subprocess.run(
        [sys.executable, "-m", "tare", *words],
        capture_output=True,
        text=True,
        timeout=timeout,
        env=environment(**more),
        check=False,
    )
    return Said(done.returncode, done.stdout, done.stderr)


def start(*words: str, **more: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tare", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(**more),
    )
