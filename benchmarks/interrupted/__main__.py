"""Commands interrupted at random points: none hangs, none leaves a setting, a lock or a process."""

from __future__ import annotations

import itertools
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import psycopg

from benchmarks.common import Figure, arguments, postgresql, quartiles, report, tare
from benchmarks.interrupted import quiet
from benchmarks.interrupted.trial import (
    GONE_S,
    End,
    adopt_orphans,
    children,
    delay_accounting,
    interrupt,
    lock_is_free,
    signals,
)
from tare.measure.machine.putback.steps import sysctl_path
from tare.measure.machine.settings import DELAY_ACCOUNTING, journal_directory

SQL = "SELECT count(*) FROM generate_series(1, 200000)"


def commands(url: str, folder: Path) -> dict[str, list[str]]:
    """Commands of each kind, seconds long when nothing interrupts them."""
    lab, profiles = str(folder / "lab.db"), str(folder / "profiles")
    tatp = ["bench", "oltp", "run", "tatp", "--db", url, "--lab", lab]
    attach = ["profile", "attach", "--db", url, "--txn", "statement", "--profiles", profiles]
    return {
        "time": ["time", SQL, "--db", url, "--runs", "20"],
        "compare": ["compare", SQL, f"{SQL} AS s", "--db", url, "--runs", "10"],
        "bench oltp run": [*tatp, "--rate", "50", "--duration", "1s"],
        "profile attach": [*attach, "--duration", "3s"],
    }


@contextmanager
def load(url: str) -> Iterator[None]:
    """Statements on the server, for what is profiled."""
    over = threading.Event()

    def send() -> None:
        with psycopg.connect(url, autocommit=True) as connection:
            while not over.wait(0.005):
                connection.execute("SELECT count(*) FROM generate_series(1, 1000)")

    thread = threading.Thread(target=send)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def duration_s(words: Sequence[str]) -> float:
    begun = time.monotonic()
    done = subprocess.run([sys.executable, "-m", "tare", *words], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise SystemExit(f"tare {' '.join(words)} ended with {done.returncode}\n{done.stderr}")
    return time.monotonic() - begun


def trials(count: int, seed: int) -> Iterator[End]:
    draw = random.Random(seed)
    # What is read while a run holds it is not the machine's.
    if any(journal_directory().glob("run-*.journal")):
        raise SystemExit("a run holds settings of this machine\n  next: begin when it has ended")
    before = sysctl_path(DELAY_ACCOUNTING).read_text().strip()
    adopt_orphans()
    with tempfile.TemporaryDirectory() as folder, postgresql() as url, load(url):
        tare("bench", "oltp", "load", "tatp", "--scale", "0.001", "--db", url)
        words = commands(url, Path(folder))
        lasts = {name: duration_s(given) for name, given in words.items()}
        own = children()
        names, done = list(words), 0
        while done < count:
            name = names[done % len(names)]
            end = interrupt(
                name,
                words[name],
                draw.uniform(0.1, lasts[name]),
                signals(draw),
                lambda: delay_accounting(before) or lock_is_free(),
                own,
            )
            if end is not None:
                done += 1
                yield end


def main() -> None:
    asked = arguments(__doc__ or "", trials=500, seed=1)
    for number in (signal.SIGINT, signal.SIGHUP):  # ignored in the background, and so by the commands
        signal.signal(number, signal.default_int_handler)
    count = 10 if asked.small else asked.trials
    isolated = count // 5 if os.geteuid() == 0 else 0
    ends = []
    for end in itertools.chain(trials(count - isolated, asked.seed), quiet.ends(isolated, asked.seed)):
        ends.append(end)
        if not end.is_clean:
            print(f"{end}\n{end.said}", file=sys.stderr)
    gone = [end.gone_s for end in ends]
    kinds = ", ".join(f"{name} {number}" for name, number in Counter(end.command for end in ends).items())
    counts = {
        f"of {len(ends)} interrupted commands, still there after {GONE_S:g} s": sum(end.hung for end in ends),
        "that left a setting, a lock, a journal or a process": sum(bool(end.left) for end in ends),
        "that ended by an abort": sum(end.died for end in ends),
    }
    report(
        [
            *(Figure(what, number, "commands", 0, spread=kinds) for what, number in counts.items()),
            Figure("time to the end, longest", max(gone), "s", GONE_S, spread=quartiles(gone)),
        ],
        asked.json,
    )


if __name__ == "__main__":
    main()
