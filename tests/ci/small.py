"""Each benchmark once, small: it must run, check its answers and print its figures with their bars.

The figures are not judged here: they depend on the machine. A benchmark that needs the machine's CPUs, or changes what
others use of it, runs by itself; those of `PAIRED` run two at a time.

Each runs in a session of its own. The scheduler shares CPUs between sessions (autogroups), and Linux 6.18 has been seen
to owe one CPU time for minutes: noise in it then kept a server of another session, ready to run, off its CPU.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from benchmarks.run_all import NAMES

from tests.ci.journal import write
from tests.ci.stages import RESULTS, ROOT
from tests.ci.verdict import Line

LIMIT_S = 300
ELSEWHERE = {
    "spark": "tests/spark compares the same answers, and planning them once takes a minute",
    "profile_table1": "it downloads two servers; test_interleaved_orders.py checks its comparison",
    "profile_culprits": "tests/profile/test_survivors.py profiles the same programs",
    "profile_servers": "tests/profile watches such servers",
    "oltp_curve": "tests/cli/test_bench_oltp_curve.py takes the same steps",
    "tune_search": "tests/cli/test_tune.py searches in the same way",
    "tuning": "tests/tune and tests/cli/test_tune.py compare settings in the same way",
    "interrupted": "it takes an hour; tests/crash interrupts the same commands",
    "ci_planted": "it runs the test run itself, thirteen times; tests/unit/ci judges the parts",
}
PAIRED = (
    *("experiment", "oltp_driver", "wisconsin", "oltp_variance", "scale", "oltp_age", "wisconsin_data"),
    *("oltp_load", "oltp_checks", "tune_kills", "durability", "answers"),
    *("client_wall", "query_processes", "parts", "aa", "aa_real", "comparison_simulation"),
    *("attach_random", "profile_overhead", "profile_factors", "profile_planted", "oltp_verdicts"),
    *("truth", "noise"),
)
"""Benchmarks that have servers, programs or files of their own: one that computes beside one that waits."""


def run() -> Iterator[Line]:
    """Run the benchmarks and return a journal line for each: first those that run two at a time."""
    with ThreadPoolExecutor(2) as two_at_a_time:
        yield from two_at_a_time.map(_line_of, PAIRED)
    yield from map(_line_of, (name for name in NAMES if name not in PAIRED and name not in ELSEWHERE))


def _line_of(name: str) -> Line:
    began = time.monotonic()
    error = _error_of(name)
    seconds = round(time.monotonic() - began, 1)
    print(f"benchmarks.{name}: {error or 'done'} ({seconds:.0f} s)", flush=True)
    outcome = "failed" if error else "passed"
    test = {"id": f"benchmarks.{name}", "when": "call", "class": "small", "outcome": outcome}
    return {**test, "error": error, "seconds": seconds}


def _error_of(name: str) -> str | None:
    command = (sys.executable, "-m", f"benchmarks.{name}", "--small")
    log = RESULTS / f"small-{name}.log"
    with log.open("w") as output:
        try:
            done = subprocess.run(
                command,
                cwd=ROOT,
                stdout=output,
                stderr=subprocess.STDOUT,
                timeout=LIMIT_S,
                check=False,
                start_new_session=True,
            )
        except subprocess.TimeoutExpired:
            return f"it did not end within {LIMIT_S} s"
    text = log.read_text(errors="replace")
    if done.returncode != 0:
        last = [line for line in text.splitlines() if line.strip()][-1:] or ["no message"]
        return f"exit code {done.returncode}: {last[0].strip()[:150]}"
    return None if "bar" in text else "it printed no figure with its bar"


def main() -> int:
    RESULTS.mkdir(parents=True, exist_ok=True)
    code = 0
    for line in run():
        write(line)
        code |= line["outcome"] == "failed"
    return code


if __name__ == "__main__":
    sys.exit(main())
