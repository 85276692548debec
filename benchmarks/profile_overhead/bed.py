"""Two servers, what is watched on them, and a window of the load."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.profile_overhead.loads import Load, Sender, TpcB, TpcC
from benchmarks.profile_overhead.pgbench import Pgbench
from benchmarks.profile_overhead.upkeep import by_hand
from benchmarks.profile_ways import Target, Way, owner_of, recording, settle
from tare._probe import ProfileRecorder
from tare.dbms.servers import RunningServer, record, restart, start_postgresql
from tare.profile.functions import Functions
from tare.profile.images import functions_of
from tare.profile.server import of_process
from tare.profile.starting import targets_of
from tare.profile.transactions import Transactions, transactions

VERSION = "18"
BARE = "as it comes"
COUNTS = (1, 10, 50, 100)
"""How many functions are watched; the bar is about the most."""


@dataclass(frozen=True)
class Case:
    way: str  # BARE, or the backend's name
    watch: tuple[int, ...] = ()
    on: bool = (
        True  # the markers of transactions at least; else the agent is in the server, and no probe is on
    )
    near: bool = False  # the functions are the preset's and what these call

    @property
    def at_bar(self) -> bool:
        return self.way == "agent" and len(self.watch) == max(COUNTS) and not self.near

    def __str__(self) -> str:
        if self.way == BARE:
            return self.way
        number = len(self.watch)
        what = (
            f"{number} function{'s' * (number > 1)}"
            if number
            else "markers alone"
            if self.on
            else "nothing on"
        )
        return f"{self.way}, {what}{' near the preset' * self.near}"


UNTOUCHED = Case(BARE, on=False)


@dataclass(frozen=True)
class Bed:
    """Both servers, loaded alike. They run one binary, so that a function has one number in both."""

    sender: Sender
    urls: Mapping[str, str]  # by way
    recorders: Mapping[str, ProfileRecorder]
    programs: Mapping[str, str]  # by way: files of their own
    functions: Functions
    of: Transactions

    def load(self, way: str, seconds: int, rate: float | None = None) -> Load:
        return self.sender.window(self.urls[way], seconds, rate)

    def window(self, case: Case, seconds: int, rate: float | None) -> Load:
        if case.on:
            self._on(self.recorders[case.way], case.watch)
        try:
            return self.load(case.way, seconds, rate)
        finally:
            if case.on:
                self.recorders[case.way].set([], [], "timing", "resting", 1)
                settle()

    def target(self, way: str, number: int) -> Target:
        number, name, _, address, size = self.functions[number].target()
        return number, name, self.programs[way], address, size

    def _on(self, recorder: ProfileRecorder, watch: Sequence[int]) -> None:
        targets = [self.target(recorder.name, number) for number in (*sorted(self.of.marking), *watch)]
        probes = [*self.of.markers, *((number, "site", False, False) for number in watch)]
        refused = recorder.set(targets, probes, "timing", "probed", 1)
        if refused:
            raise SystemExit(f"{recorder.name} refused {refused}")
        settle()


@contextmanager
def bed(load: str, scale: int, folder: Path, data: Path) -> Iterator[Bed]:
    with ExitStack() as stack:
        bare = stack.enter_context(start_postgresql(data / "bare", version=VERSION))
        other = stack.enter_context(start_postgresql(data / "other", version=VERSION))
        sender = TpcC(scale) if load == "tpcc" else TpcB(Pgbench(bare.record.binaries), scale)
        for server, name in ((bare, "bare"), (other, "other")):
            sender.prepare(server)
            by_hand(server.url)
            own_copy(server, folder / name)
        restart(bare.record)
        functions = functions_of(of_process(bare.pid))
        of = transactions("commit", "postgresql", int(VERSION), functions)
        agent = stack.enter_context(Way("agent", folder))
        program = folder / "other/bin/postgres"
        # those of `tare profile run`, not only the ones that will be watched
        targets = [
            (number, name, str(program), address, size)
            for number, name, _, address, size in targets_of(functions, "agent")
        ]
        agent.prepare(program, targets, of.triggers, owner_of(other.directory))
        with agent.in_children():
            restart(other.record)
        recorders = {"agent": stack.enter_context(recording(agent, other.pid, folder / "agent.tare"))}
        if os.geteuid() == 0:
            attach = stack.enter_context(Way("attach", folder))
            recorders["attach"] = stack.enter_context(recording(attach, bare.pid, folder / "attach.tare"))
        else:
            print("NOT MEASURED: attach: it needs root", flush=True)
        urls = {BARE: bare.url, "attach": bare.url, "agent": other.url}
        programs = {"agent": str(program), "attach": functions.program.path}
        yield Bed(sender, urls, recorders, programs, functions, of)


def own_copy(server: RunningServer, place: Path) -> None:
    """Lets a server run copied programs from its next start on. A uprobe is put on every process of a file, and what it
    puts back in the end is the file's first byte: not what the agent has made of it."""
    shutil.copytree(server.record.binaries.parent, place, symlinks=True)
    record.write(replace(server.record, binaries=place / "bin"))
