"""An analysis in a process of its own, for `benchmarks.scale` and `benchmarks.spark`: its cost and its findings, as
JSON.

    python -m benchmarks.analysis [--spark MASTER] SOURCE WHAT…

SOURCE is a lab's file or a folder of an export; WHAT is ttp1, ttp2, exact, model:ttp1 or model:ttp2.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tare.lab.frames import Frames

BEGIN = time.perf_counter()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--spark", metavar="MASTER")
    parser.add_argument("source")
    parser.add_argument("what", nargs="+")
    asked = parser.parse_args()
    if asked.spark:
        from benchmarks.spark_frames import spark_frames

        frames = spark_frames(Path(asked.source), asked.spark)
    else:
        from tare.lab.frames import open_frames

        frames = open_frames(asked.source)
    opened_s = time.perf_counter() - BEGIN
    found = {}
    took_s = {}
    for what in asked.what:
        begin = time.perf_counter()
        found[what] = _model(frames, what) if what.startswith("model:") else _protocol(frames, what)
        took_s[what] = time.perf_counter() - begin
    used = resource.getrusage(resource.RUSAGE_SELF)
    json.dump(
        {
            "wall_s": time.perf_counter() - BEGIN,
            "opened_s": opened_s,
            "took_s": took_s,
            "cpu_s": used.ru_utime + used.ru_stime,
            "peak_rss_bytes": _peak_rss_bytes(),
            "found": found,
        },
        sys.stdout,
    )


def _protocol(frames: Frames, name: str) -> dict[str, Any]:
    """Findings of a protocol as a report has them, with every Q@C's time computed."""
    from tare.lab.answers import row
    from tare.protocol import run_protocol

    outcome = run_protocol(frames, name)
    if outcome.stopped or outcome.times is None:
        raise SystemExit(f"{name} was stopped: {outcome.stopped}")
    times = outcome.times
    summed = times.aggregate(
        qatcs=times.count(), retained=times.retained.cast("int64").sum(), ms=times.time_ms.sum()
    )
    return {
        "remaining": [[left.step, left.qes, left.qatcs] for left in outcome.remaining],
        "checks": [[one.level, one.number, one.judged, one.violations] for one in outcome.checks],
        "times": row(summed),
    }


def _model(frames: Frames, what: str) -> dict[str, Any]:
    from tare.protocol.model.holding import hold

    result = hold(frames, what.removeprefix("model:"))
    return {
        "qes": result.qes,
        "r": [[one.relationship.name, one.dbms or "", one.n, one.r] for one in result.observed],
    }


def _peak_rss_bytes() -> int:
    """Peak memory of this program alone; that of getrusage may be its parent's."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError("/proc/self/status has no VmHWM")


if __name__ == "__main__":
    main()
