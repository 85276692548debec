"""Exits of every command: none by an abort, with a traceback, or with a code that its request does not explain.

A library's thread that still works when the interpreter ends can abort the process, and does so in few exits. Commands
that load such libraries exit `--exits` times for each of their invocations that do work, the others a tenth as often.
Two processes run at a time. A command that has no invocation here ends the benchmark. `--only "os,bench oltp"` asks for
these commands and groups alone. The small form makes one trial of each group of commands.
"""

from __future__ import annotations

import shutil
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

import duckdb
import psycopg

from benchmarks.common import ONE_PROCESS, Figure, arguments, report, tare
from benchmarks.ends.commands import HERE, Place, Trial, command_of, commands, trials
from benchmarks.ends.exits import Exit, exit_of
from benchmarks.interrupted.__main__ import load
from tare.dbms.servers import start_postgresql
from tare.errors import MissingProgram
from tare.profile.backends import tried
from tare.workload.tpch.data import generator

RARE = ("isolate", "tune", "experiment")
"""Groups whose commands exit a tenth as often: they cost seconds, move processes, or load no such library."""

EACH = 100
"""Exits of a command after which a line says how they ended."""

TABLE = (
    "CREATE TABLE numbers (g integer, v double precision)",
    "INSERT INTO numbers VALUES " + ", ".join(f"({i % 7}, {i / 8})" for i in range(1000)),
)
SPECIFICATION = """\
name = "ends"
scenario = "exhaustive"
qes = 6
[[dbms]]
name = "lite"
start = "sqlite"
[[tables]]
name = "ft_HT1"
cardinality = 1000
step = 500
primary_key = "id1"
[[tables]]
name = "ft_HT2"
cardinality = 500
[generate]
count = 2
"""


@contextmanager
def made(folder: Path) -> Iterator[Place]:
    """Databases, a lab and a profile that the invocations read."""
    lab, profiles = folder / "lab.db", folder / "profiles"
    specification = folder / "e.toml"
    specification.write_text(SPECIFICATION)
    with closing(sqlite3.connect(folder / "numbers.db")) as lite, lite:
        for sql in TABLE:
            lite.execute(sql)
    with duckdb.connect(folder / "numbers.duckdb") as duck:
        for sql in TABLE:
            duck.execute(sql)
    with start_postgresql(None, settings=ONE_PROCESS, own_programs=True) as server:  # probes slow no other
        url = server.url
        with psycopg.connect(url) as connection:
            for sql in TABLE:
                connection.execute(sql)
        tare("experiment", "run", specification, "--lab", lab, "--dir", folder / "data")
        tatp = ("tatp", "--db", url, "--lab", lab)
        tare("bench", "oltp", "load", *tatp, "--scale", "0.001")
        for _ in range(2):
            tare("bench", "oltp", "run", *tatp, "--rate", "50", "--duration", "1s", "--warmup", "0s")
        yield Place(
            postgresql=url,
            embedded=(f"sqlite:///{folder}/numbers.db", f"duckdb:///{folder}/numbers.duckdb"),
            lab=str(lab),
            profiles=str(profiles),
            tunings=str(folder / "tunings"),
            specification=str(specification),
            profile=_profile(url, profiles),
            has_rows=_has_rows(url),
        )


def _profile(url: str, profiles: Path) -> str | None:
    """Make a profile of the server under a load, and return its name; None if nothing can be watched here."""
    attach = next(one for one in tried() if one.name == "attach")
    if not attach.works:
        print(f"profile show, diff and export: requests at fault only, since {attach.says}")
        return None
    watch = ("profile", "attach", "--db", url, "--txn", "statement", "--duration", "3s")
    words = [sys.executable, "-m", "tare", *watch, "--name", "seen", "--profiles", str(profiles)]
    with load(url):
        end = exit_of("profile attach", words, (0,), {})
    if not end.is_expected:
        raise SystemExit(f"no profile could be made\n{end.stderr}")
    return "seen"


def _has_rows(url: str) -> bool:
    """Load TPC-H's tables, if the program that makes their rows is here."""
    try:
        generator()
    except MissingProgram as error:
        print(f"bench tpch and data tpch: requests at fault only\n{error}")
        return False
    tare("bench", "tpch", "--db", url, "--scale", "0.01", "--queries", "6", "--runs", "1", "--warmup", "0")
    return True


def exits_of(number: int, trial: Trial, folder: Path, known: list[str]) -> list[Exit]:
    """Run the steps of a trial in a folder of its own. After a step that ends unexpectedly the others run, too: one of
    them may end a server that an earlier one started."""
    here = folder / f"trial-{number}"
    here.mkdir(mode=0o755)
    environment = {"XDG_STATE_HOME": str(folder / "state")}  # no journal of another run is put back
    ends = []
    for step in trial:
        words = [word.replace(HERE, str(here)) for word in step.words]
        command = [sys.executable, "-m", "tare", *words]
        ends.append(exit_of(command_of(step.words, known), command, step.codes, environment))
    shutil.rmtree(here, ignore_errors=True)
    return ends


def numbers_of(name: str, own: Sequence[Trial], exits: int) -> int:
    """Return how many trials of a command are made: for each one that does work, or for one."""
    at_work = sum(0 in trial[0].codes and "--help" not in trial[0].words for trial in own)
    each = max(1, exits // 10) if name.split()[0] in RARE else exits
    return each * max(1, at_work)


def repeated(found: Mapping[str, Sequence[Trial]], exits: int) -> list[Trial]:
    """Return the trials of each command, in turns."""
    return [
        own[number % len(own)]
        for name, own in found.items()
        for number in range(numbers_of(name, own, exits))
    ]


def one_of_each_group(found: Mapping[str, Sequence[Trial]]) -> list[Trial]:
    """Return the first trial of "bench", of "profile", …"""
    groups: dict[str, Trial] = {}
    for name, own in found.items():
        groups.setdefault(name.split()[0], own[0])
    return list(groups.values())


def asked_for(found: Mapping[str, Sequence[Trial]], only: str) -> Mapping[str, Sequence[Trial]]:
    """Return the trials of the commands and groups that `only` names between commas; "": all."""
    groups = [group.split() for group in only.split(",") if group.strip()]
    if unknown := [group for group in groups if not any(_is_of(name, group) for name in found)]:
        raise SystemExit(
            f"no command is {', '.join(map(' '.join, unknown))}: name commands as tare --help does"
        )
    return {
        name: own for name, own in found.items() if not groups or any(_is_of(name, one) for one in groups)
    }


def _is_of(name: str, group: Sequence[str]) -> bool:
    return name.split()[: len(group)] == list(group)


def run(exits: int | None, only: str, folder: Path) -> Iterator[Exit]:
    """Exits of all trials of the commands in `only`, two at a time. `exits`: None: of one trial of each group."""
    known = commands()
    with made(folder) as place:
        found = trials(place)
        if missing := [name for name in known if name not in found]:
            raise SystemExit(f"no invocation of tare {', tare '.join(missing)}: add one to commands.py")
        found = asked_for(found, only)
        chosen = one_of_each_group(found) if exits is None else repeated(found, exits)
        with ThreadPoolExecutor(2) as pool:
            try:
                for ends in pool.map(lambda at: exits_of(at, chosen[at], folder, known), range(len(chosen))):
                    yield from ends
            except BaseException:
                pool.shutdown(cancel_futures=True)  # the trials that run stop their servers
                raise


def line(name: str, ends: Sequence[Exit]) -> str:
    codes = ", ".join(
        f"{code} × {count}" for code, count in sorted(Counter(one.code for one in ends).items())
    )
    aborts = sum(one.is_abort for one in ends)
    longest = max(one.seconds for one in ends)
    return f"{name:20} {len(ends)} exits; codes {codes}; {aborts} aborts; longest {longest:.1f} s"


def main() -> None:
    asked = arguments(__doc__ or "", exits=200, only="")
    began = time.monotonic()
    by_command: dict[str, list[Exit]] = {}
    with tempfile.TemporaryDirectory(prefix="tare-ends-") as folder:
        Path(folder).chmod(0o755)  # root's servers run as an ordinary user
        for end in run(None if asked.small else asked.exits, asked.only, Path(folder)):
            own = by_command.setdefault(end.command, [])
            own.append(end)
            if len(own) % EACH == 0:  # a series takes two hours: what ends early has told what it found
                print(line(end.command, own), file=sys.stderr, flush=True)
            if end.is_abort or not end.is_expected:
                print(f"tare {end.command} ended with {end.code}\n{end.stderr}", file=sys.stderr)
    for name, own in by_command.items():
        print(line(name, own))
    ends = [end for own in by_command.values() for end in own]
    took = time.monotonic() - began
    of = f"of {len(ends)} exits of {len(by_command)} commands"
    aborts = sum(end.is_abort for end in ends)
    others = sum(not (end.is_expected or end.is_abort) for end in ends)
    report(
        [
            Figure(f"{of}, by an abort or with a traceback", aborts, "exits", 0),
            Figure(
                f"{of}, with another code than their request explains, or not within the limit",
                others,
                "exits",
                0,
            ),
            Figure("the whole series", took, "s", float("inf")),
        ],
        asked.json,
    )


if __name__ == "__main__":
    main()
