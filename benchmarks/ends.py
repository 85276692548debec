"""Does every command end cleanly, 200 times over?

A thread of a library that outlives the interpreter aborts the process at its exit, once in a while, after the command
has done its work. Each command runs as a process of its own on small inputs; one that a signal ends is counted, and its
last words are printed.
"""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.common import Figure, arguments, report, tare

AT_ONCE = 2
USAGE = 2  # exit code of a request at fault


def prepare(directory: Path) -> dict[str, Sequence[str]]:
    """Words of each command, over files in `directory`; "{n}" becomes the number of the run."""
    database = directory / "numbers.db"
    with sqlite3.connect(database) as connection:
        connection.execute("CREATE TABLE numbers (id integer)")
        connection.executemany("INSERT INTO numbers VALUES (?)", ((number,) for number in range(1_000)))
    connection.close()
    url, lab, export = f"sqlite:///{database}", str(directory / "lab.db"), str(directory / "export")
    make_lab(lab)
    tare("lab", "export", "e1", "--parquet", export, "--lab", lab)
    count = "SELECT count(*) FROM numbers"
    weighed = ("--runs", "2", "--warmup", "0", "--json", "-", "--db")
    return {
        "time": ("time", count, *weighed, url),
        "compare": ("compare", count, count, "--runs", "2", "--db", url),
        "doctor": ("doctor", "--json"),
        "lab list": ("lab", "list", "--lab", lab),
        "lab verify": ("lab", "verify", "e1", "--lab", lab),
        "lab export": ("lab", "export", "e1", "--parquet", f"{directory}/export-{{n}}", "--lab", lab),
        "lab import": ("lab", "import", export, "--lab", f"{directory}/import-{{n}}.db"),
        "protocol": ("protocol", "e1", "--lab", lab),
        "report": ("report", "e1", "--lab", lab, "--html", f"{directory}/report-{{n}}.html"),
        "server list": ("server", "list"),
        "bench oltp load": (
            *["bench", "oltp", "load", "ycsb", "--scale", "0.01", "--db"],
            f"sqlite:///{directory}/load-{{n}}.db",
        ),
    }


def make_lab(where: str) -> None:
    """A lab of one small run."""
    from tests.unit.lab.filling import whole_run

    from tare.lab.store import open_lab

    with open_lab(where, create=True) as opened:
        whole_run(opened)


def end_of(words: Sequence[str], number: int) -> tuple[int, str]:
    command = [sys.executable, "-m", "tare", *(word.replace("{n}", str(number)) for word in words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    return done.returncode, done.stderr


def main() -> None:
    asked = arguments("Commands that a signal ends", runs=200, only="")
    runs = 1 if asked.small else asked.runs
    figures = []
    with tempfile.TemporaryDirectory(prefix="tare-ends-") as directory, ThreadPoolExecutor(AT_ONCE) as pool:
        for name, words in prepare(Path(directory)).items():
            if asked.only and asked.only != name:
                continue
            ends = list(pool.map(lambda number, words=words: end_of(words, number), range(runs)))
            refused = [said for code, said in ends if code == USAGE]
            if refused:
                raise SystemExit(f"{name} was not run as it should be: {refused[0]}")
            aborted = [said for code, said in ends if code < 0]
            codes = ", ".join(
                f"{code}: {sum(c == code for c, _ in ends)}" for code in sorted({c for c, _ in ends})
            )
            figures.append(
                Figure(f"{name}, ended by a signal", len(aborted), "runs", 0, spread=f"exit codes {codes}")
            )
            for said in dict.fromkeys(aborted):
                print(f"{name}: {said.strip()[-500:]}", file=sys.stderr)
    report(figures, asked.json)


if __name__ == "__main__":
    main()
